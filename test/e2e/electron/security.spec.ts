/** The window stays the app: no way out of it, no Node in it, nothing loaded from elsewhere. */
import { expect, type Page } from '@playwright/test';
import { shareApp, test } from '../app';
import { answers, ready } from '../chat';
import { writeChat } from '../chatFiles';

const address = 'https://collect.example/in?notes=the%20blue%20key#more';
const shared = shareApp({}, (dataDir) =>
  writeChat(dataDir, 'Links', [
    { id: 'q1', parentId: null, text: 'Where is it?' },
    { id: 'a1', parentId: 'q1', text: `See [example.com](${address}) and [again](https://collect.example/b).` },
  ]),
);

test('the page has no Node and no Electron', async () => {
  const { page } = await shared.window();
  const reachable = await page.evaluate(() =>
    ['require', 'process', 'module', 'Buffer', 'electron', 'ipcRenderer'].filter((name) => name in globalThis),
  );
  expect(reachable).toEqual([]);
  const api = await page.evaluate(() => Object.keys((window as unknown as { concertina: object }).concertina).sort());
  expect(api).toEqual(['addDroppedFiles', 'attachDroppedFiles', 'call', 'on']);
});

// on its own: Playwright waits for the end of a navigation that was refused
test('it neither navigates away nor opens windows', async ({ launch }) => {
  const { app, page } = await launch();
  await ready(page);
  const home = page.url();
  expect(home).toMatch(/^app:\/\//);
  // emitted past the listeners of the app
  await app.evaluate(({ BrowserWindow }) => {
    const asked: unknown[] = [];
    Object.assign(globalThis, { asked });
    BrowserWindow.getAllWindows()[0]?.webContents.on('will-navigate', ({ url, defaultPrevented }) => {
      asked.push({ url, defaultPrevented });
    });
  });
  await page.evaluate(() => {
    location.href = 'https://example.com/';
  });
  await expect
    .poll(() => app.evaluate(() => (globalThis as unknown as { asked: unknown[] }).asked))
    .toEqual([{ url: 'https://example.com/', defaultPrevented: true }]);
  // Chromium itself refuses this one
  const refused = page.waitForEvent('console', (message) => message.text().includes('file:///etc/passwd'));
  await page.evaluate(() => {
    location.href = 'file:///etc/passwd';
  });
  expect((await refused).text()).toContain('Not allowed to load local resource');
  const opened = await page.evaluate(() => window.open('https://example.com/') !== null);
  expect(opened).toBe(false);
  expect(page.url()).toBe(home);
  expect(app.windows()).toHaveLength(1);
});

test('the content policy refuses foreign code, connections and pictures', async () => {
  const { page } = await shared.window();
  const inline = await violation(page, () => {
    const script = document.createElement('script');
    script.textContent = 'window.injected = true';
    document.body.append(script);
  });
  expect(inline).toMatch(/^script-src/);
  expect(await page.evaluate(() => 'injected' in window)).toBe(false);
  const connection = await violation(page, () => {
    fetch('https://example.com/').catch(() => {});
  });
  expect(connection).toBe('connect-src');
  const picture = await violation(page, () => {
    new Image().src = 'https://example.com/a.png';
  });
  expect(picture).toBe('img-src');
});

test('calls from outside the contract are refused', async () => {
  const { page } = await shared.window();
  const answersOf = (name: string, input: unknown) =>
    page.evaluate(
      ([operation, value]) =>
        (
          window as unknown as { concertina: { call(name: unknown, input: unknown): Promise<unknown> } }
        ).concertina.call(operation, value),
      [name, input],
    );
  expect(await answersOf('files.read', { path: '/etc/passwd' })).toMatchObject({ ok: false });
  expect(await answersOf('chats.open', { chatId: '../../settings' })).toMatchObject({ ok: false });
  expect(await answersOf('settings.update', { context: { nCtx: -1 } })).toMatchObject({ ok: false });
  expect(await answersOf('app.openExternal', { url: 'file:///etc/passwd' })).toMatchObject({ ok: false });
});

test('only files that the system knows have a path, whatever an object says of itself', async () => {
  const { page } = await shared.window();
  const answers = await page.evaluate(async () => {
    const path = '/etc/passwd';
    const forged: Record<string, unknown> = {
      object: [{ path }],
      'object of the right class': [Object.assign(Object.create(File.prototype), { path })],
      text: [path],
      'file made here': [Object.assign(new File(['x'], path), { path })],
      'one of them': [new File(['x'], path), { path }],
      'no list': { path },
      nothing: null,
    };
    type Drop = (files: unknown) => Promise<unknown>;
    const { attachDroppedFiles, addDroppedFiles } = (window as unknown as { concertina: Record<string, Drop> })
      .concertina;
    const said: Record<string, unknown[]> = {};
    for (const [name, files] of Object.entries(forged)) {
      said[name] = [await attachDroppedFiles?.(files), await addDroppedFiles?.(files)];
    }
    return said;
  });
  const refused = { ok: false, error: { code: 'bad-request', message: expect.stringContaining('not a file') } };
  expect(Object.keys(answers)).toHaveLength(7);
  for (const both of Object.values(answers)) expect(both).toMatchObject([refused, refused]);
});

test('a link of an answer shows where it leads, and is opened after a question, once for each host', async () => {
  const { app, page } = await shared.window();
  // the system's browser is not started: the test reads what it would open
  await app.evaluate(({ shell }) => {
    const opened: string[] = [];
    Object.assign(globalThis, { opened });
    shell.openExternal = async (url: string) => void opened.push(url);
  });
  const opened = () => app.evaluate(() => (globalThis as unknown as { opened: string[] }).opened);
  await page.getByTestId('chat-item').getByRole('button').first().click();
  const links = answers(page).last().getByRole('link');
  const question = page.getByTestId('link-question');
  await links.first().click();
  await expect(page.getByTestId('link-host')).toHaveText('collect.example');
  await expect(page.getByTestId('link-query')).toContainText('notes = the blue key');
  await expect(question.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(question).toBeHidden();
  await links.first().click();
  await page.getByTestId('link-open').click();
  await expect.poll(opened).toEqual([address]);
  await links.last().click();
  await expect.poll(opened).toEqual([address, 'https://collect.example/b']);
  await expect(question).toBeHidden();
});

/** The directive that the browser names when it refuses what `act` does; when it refuses nothing, this never returns. */
async function violation(page: Page, act: () => void): Promise<string> {
  const seen = await page.evaluateHandle(() => ({
    directive: new Promise<string>((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), {
        once: true,
      });
    }),
  }));
  await page.evaluate(act);
  return seen.evaluate(({ directive }) => directive);
}
