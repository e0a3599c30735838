/** Headless mode: the same page in a browser, over a WebSocket, behind a token, on loopback only. */
import { networkInterfaces } from 'node:os';
import { expect, type Page } from '@playwright/test';
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
});

test('a wrong token and a foreign origin are refused', async ({ server }) => {
  const { origin } = new URL(server.url);
  for (const url of [`${origin}/?token=wrong`, `${origin}/`]) {
    const { status } = await fetch(url);
    expect([401, 403]).toContain(status);
  }
  await expect(socketOpens(`${origin.replace('http', 'ws')}/ws?token=wrong`)).resolves.toBe(false);
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
    const sockets: WebSocket[] = [];
    Object.assign(window, { sockets });
    window.WebSocket = class extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        sockets.push(this);
      }
    };
  });
  await page.goto(server.url);
  await ready(page);
  await page.evaluate(() => (window as unknown as { sockets: WebSocket[] }).sockets.at(-1)?.close());
  await expect
    .poll(() => page.evaluate(() => (window as unknown as { sockets: WebSocket[] }).sockets.at(-1)?.readyState))
    .toBe(WebSocketOpen);
  await send(page, 'What is a compiler?');
  await expect(answers(page)).toHaveCount(1);
  await page.context().close();
});

const WebSocketOpen = 1;

/** Whether the server lets a socket in; ws is what the server itself uses, and Node 20 has no client of its own. */
async function socketOpens(url: string): Promise<boolean> {
  const { WebSocket } = await import('ws');
  return new Promise((resolve) => {
    const socket = new WebSocket(url);
    socket.once('open', () => {
      socket.close();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
