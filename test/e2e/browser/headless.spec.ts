/** Headless mode: the same page in a browser, over a WebSocket, behind a token, on loopback only. */
import { once } from 'node:events';
import { createServer, get, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { expect, type Page, type Request } from '@playwright/test';
import { WebSocket } from 'ws';
import { socketProtocols } from '@/electron/contract/rpc';
import { root } from '../app';
import { answers, ask, questions, send } from '../chat';
import { test as own, sharing as test } from '../serve';

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

test('the third-party notices can be read', async ({ browserPage: page }) => {
  await ready(page);
  await page.getByTestId('meter-engine').click();
  await page.getByTestId('diagnostics-open').click();
  await page.getByTestId('third-party-open').click();
  await expect(page.getByTestId('third-party-text')).toContainText('llama.cpp and ggml');
});

for (const search of ['', '?token=wrong', '?token=no,token']) {
  test(`an address that ends in "/${search}" shows a page that says so and gets nothing`, async ({
    browserOfDebian,
    server,
  }) => {
    const page = await browserOfDebian.newPage();
    await page.goto(`${new URL(server.url).origin}/${search}`);
    await expect(page.getByTestId('connection-banner')).toContainText('This address has no key, or an old one.');
    await expect(page.getByTestId('connection-banner')).toContainText('Open the whole address');
    await expect(page.getByTestId('connection-banner')).not.toContainText('Next try');
    await expect(page.getByTestId('chat-item')).toHaveCount(0);
    await page.context().close();
  });
}

test('the printed address opens in as many tabs as one likes, each stays open over a reload, and none shows the key', async ({
  browserPage: page,
  server,
}) => {
  const second = await page.context().newPage();
  await second.goto(server.url);
  for (const tab of [page, second]) {
    await ready(tab);
    expect(tab.url()).toBe(`${new URL(server.url).origin}/`);
    await tab.reload();
    await ready(tab);
    await expect(tab.getByTestId('connection-banner')).toHaveCount(0);
  }
});

test('no cookie is set or sent, so that another server of this machine gets no key', async ({
  browserPage: page,
  server,
}) => {
  // only then has the page its first connection, which is not counted
  await ready(page);
  const token = new URL(server.url).searchParams.get('token') ?? 'none';
  const sockets: { headers: Record<string, string> }[] = [];
  const developerTools = await page.context().newCDPSession(page);
  await developerTools.send('Network.enable');
  developerTools.on('Network.webSocketWillSendHandshakeRequest', ({ request }) => sockets.push(request));
  const requests: Request[] = [];
  page.on('request', (request) => requests.push(request));
  await page.reload();
  await ready(page);

  expect(await page.context().cookies()).toEqual([]);
  expect(await page.evaluate(() => document.cookie)).toBe('');
  expect(requests.length).toBeGreaterThan(1);
  for (const request of requests) expect(Object.keys(await request.allHeaders())).not.toContain('cookie');
  expect(sockets).toHaveLength(1);
  expect(Object.keys(sockets[0]?.headers ?? {}).map((name) => name.toLowerCase())).not.toContain('cookie');
  expect(JSON.stringify(sockets)).toContain(token);

  const { origin, seen } = await startOtherServer();
  await page.goto(origin);
  expect(seen.length).toBeGreaterThan(0);
  expect(JSON.stringify(seen)).not.toContain(token);
  for (const headers of seen) expect(headers).not.toHaveProperty('cookie');
});

test('the socket opens only with the token, and only for pages of this server', async ({ server }) => {
  const { origin, host, searchParams } = new URL(server.url);
  const token = searchParams.get('token');
  const socket = `ws://${host}/ws`;
  expect({
    right: await socketOpens(socket, socketProtocols(token), origin),
    wrongToken: await socketOpens(socket, socketProtocols('wrong'), origin),
    noToken: await socketOpens(socket, socketProtocols(null), origin),
    tokenInAddress: await socketOpens(`${socket}?token=${token}`, socketProtocols(null), origin),
    foreignPage: await socketOpens(socket, socketProtocols(token), 'https://example.com'),
  }).toEqual({ right: true, wrongToken: false, noToken: false, tokenInAddress: false, foreignPage: false });
});

own.describe('errors that nothing handles', () => {
  own.use({ serverEnv: { NODE_OPTIONS: `--require=${path.join(root, 'test', 'e2e', 'fixtures', 'unhandled.cjs')}` } });

  own('are logged, and the server and its open pages live on', async ({ browserPage: page, server }) => {
    await ready(page);
    server.child.kill('SIGUSR2');
    for (const text of ['a rejection of the test', 'an exception of the test']) {
      await expect.poll(server.output).toContain(`An error was not handled: ${text}`);
    }
    await ask(page, 'What is a compiler?');
    await expect(answers(page)).toHaveCount(1);
    await expect(page.getByTestId('connection-banner')).toHaveCount(0);
  });
});

test('a picture in a foreign page, whose address no parser reads, does not end the server', async ({
  browserPage: page,
  server,
}) => {
  await ready(page);
  const { host } = new URL(server.url);
  const foreign = await startOtherServer(`<img src="http://${host}//x:99999/..%2findex.html">`);
  const tab = await page.context().newPage();
  const picture = tab.waitForRequest(/x:99999/);
  // the load of a page ends when its pictures have an answer or have failed
  await tab.goto(foreign.origin);
  await picture;
  await ask(page, 'What is a compiler?');
  await expect(answers(page)).toHaveCount(1);
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

/** A server of somebody else on this machine; `seen`: headers of what it was asked. Ends with the test's process. */
async function startOtherServer(body = ''): Promise<{ origin: string; seen: IncomingHttpHeaders[] }> {
  const seen: IncomingHttpHeaders[] = [];
  const other = createServer((request, response) => {
    seen.push(request.headers);
    response.setHeader('Content-Type', 'text/html').end(`<!doctype html>${body}`);
  });
  other.unref().listen(0, '127.0.0.1');
  await once(other, 'listening');
  return { origin: `http://127.0.0.1:${(other.address() as AddressInfo).port}`, seen };
}

/** With `ws`, which the server itself uses: Node's own sends no origin. */
function socketOpens(url: string, protocols: string[], origin: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, protocols, { origin });
    socket.once('open', () => {
      socket.close();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
