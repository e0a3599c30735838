/** Headless mode: the same page in a browser, over a WebSocket, behind a token, on loopback only. */
import { get } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, type Page } from '@playwright/test';
import { WebSocket } from 'ws';
import { answers, ask, questions, send } from '../chat';
import { test } from '../serve';

const ready = (page: Page): Promise<void> =>
  expect(page.getByTestId('meter-types')).toContainText('turbo', { timeout: 60_000 });

test('the printed URL opens a page that chats', async ({ browserPage: page }) => {
  await ready(page);
  expect((await ask(page, 'What is a compiler?')).trim()).not.toBe('');
  await page.reload();
  await page.getByTestId('chat-item').first().click();
  await expect(questions(page)).toHaveText([/What is a compiler\?/]);
  await expect(answers(page)).toHaveCount(1);

  // there is no dialog of the system here: the page sends what the person chooses
  const file = {
    name: 'letter.txt',
    mimeType: 'text/plain',
    buffer: Buffer.from('The train leaves from platform 18.'),
  };
  await page.getByTestId('attach-input').setInputFiles(file);
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
  await ask(page, 'From which platform does the train leave?');
  await expect(page.getByTestId('sent-document')).toContainText('letter.txt');
});

test('without the token the page says so and gets nothing', async ({ browserOfDebian, server }) => {
  const page = await browserOfDebian.newPage();
  await page.goto(`${new URL(server.url).origin}/?token=wrong`);
  await expect(page.getByTestId('connection-banner')).toContainText('does not answer this page');
  await expect(page.getByTestId('chat-item')).toHaveCount(0);
  await page.context().close();
});

test('the socket opens only with the token, and only for pages of this server', async ({ server }) => {
  const { origin, host, searchParams } = new URL(server.url);
  const right = `ws://${host}/ws?token=${searchParams.get('token')}`;
  expect({
    right: await socketOpens(right, origin),
    wrongToken: await socketOpens(`ws://${host}/ws?token=wrong`, origin),
    noToken: await socketOpens(`ws://${host}/ws`, origin),
    foreignPage: await socketOpens(right, 'https://example.com'),
  }).toEqual({ right: true, wrongToken: false, noToken: false, foreignPage: false });
});

test('a foreign host name is not served', async ({ server }) => {
  const { hostname, port } = new URL(server.url);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const options = { hostname, port, headers: { Host: `concertina.example:${port}` } };
    get(options, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
  expect(status).toBe(403);
});

test('it listens on loopback only', async ({ server }) => {
  const { port } = new URL(server.url);
  const outside = Object.values(networkInterfaces())
    .flat()
    .filter((address) => address && !address.internal && address.family === 'IPv4');
  for (const address of outside) {
    await expect(fetch(`http://${address?.address}:${port}/`)).rejects.toThrow();
  }
});

test('a dropped connection comes back by itself', async ({ browserOfDebian, server }) => {
  const page = await browserOfDebian.newPage();
  await page.addInitScript(() => {
    const sockets: globalThis.WebSocket[] = [];
    Object.assign(window, { sockets });
    window.WebSocket = class extends window.WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        sockets.push(this);
      }
    };
  });
  await page.goto(server.url);
  await ready(page);
  const sockets = () =>
    page.evaluate(() =>
      (window as unknown as { sockets: globalThis.WebSocket[] }).sockets.map((one) => one.readyState),
    );
  await page.evaluate(() => (window as unknown as { sockets: globalThis.WebSocket[] }).sockets.at(-1)?.close());
  await expect.poll(sockets).toEqual([WebSocket.CLOSED, WebSocket.OPEN]);
  await send(page, 'What is a compiler?');
  await expect(answers(page)).toHaveCount(1);
  await page.context().close();
});

/** `ws` is what the server itself uses; Node 20 has no WebSocket of its own. */
function socketOpens(url: string, origin: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { origin });
    socket.once('open', () => {
      socket.close();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
