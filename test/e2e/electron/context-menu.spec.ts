/** Right click and the keyboard's menu key, spell check and its dictionaries. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ElectronApplication } from '@playwright/test';
import { expect } from '@playwright/test';
import { type AppWindow, shareApp, test } from '../app';
import { answers } from '../chat';
import { writeChat } from '../chatFiles';

/** From now on the system's menus are not drawn: the test reads and clicks them. */
async function catchMenus(app: ElectronApplication): Promise<void> {
  await app.evaluate(({ Menu }) => {
    Menu.prototype.popup = function popup() {
      (globalThis as { caught?: unknown }).caught = this;
    };
  });
}

/** What the menu that came up last offers; nothing before the first one. */
const offered = (app: ElectronApplication): Promise<string[]> =>
  app.evaluate(() => {
    const { caught } = globalThis as { caught?: Electron.Menu };
    return (caught?.items ?? []).map(({ role, label, type, enabled }) => {
      const name = type === 'separator' ? type : (role ?? label);
      return enabled ? name : `${name} off`;
    });
  });

async function choose({ app }: Pick<AppWindow, 'app'>, name: string): Promise<void> {
  await app.evaluate(({ BrowserWindow }, chosen) => {
    const { caught } = globalThis as { caught?: Electron.Menu };
    const item = caught?.items.find(({ role, label }) => (role ?? label) === chosen);
    const window = BrowserWindow.getAllWindows()[0];
    item?.click({} as never, window, window?.webContents);
    delete (globalThis as { caught?: unknown }).caught;
  }, name);
}

const shared = shareApp({}, (dataDir) =>
  writeChat(dataDir, 'The keys', [
    { id: 'q1', parentId: null, text: 'Where is the key?' },
    { id: 'a1', parentId: 'q1', text: 'The blue key is in the cupboard. See [the list](https://example.com/keys).' },
  ]),
);

test('menus of the text field, of what is selected, of a link and of a chat', async () => {
  const { app, page } = await shared.window();
  await catchMenus(app);
  const field = page.getByTestId('composer');

  await test.step('the text field', async () => {
    await app.evaluate(({ clipboard }) => clipboard.writeText('words'));
    await field.fill('A question');
    await field.click({ button: 'right' });
    await expect.poll(() => offered(app)).toEqual(['cut off', 'copy off', 'paste', 'selectall']);
    await choose({ app }, 'selectall');
    await field.press('ContextMenu');
    await expect.poll(() => offered(app)).toContain('cut');
    await choose({ app }, 'cut');
    await expect(field).toHaveValue('');
  });

  const item = page.getByTestId('chat-item');
  await item.getByRole('button').first().click();
  const words = answers(page).last().locator('.prose-c p');

  await test.step('what is selected goes into the question', async () => {
    // a chat has a draft of its own, and comes from the disk
    await expect(words).toBeVisible();
    await field.fill('Before.');
    await words.click({ clickCount: 3 });
    await words.click({ button: 'right', position: { x: 20, y: 8 } });
    await expect.poll(() => offered(app)).toEqual(['copy', 'Quote in question']);
    await choose({ app }, 'Quote in question');
    await expect(field).toHaveValue('Before.\n\n> The blue key is in the cupboard. See the list.\n\n');
    await expect(field).toBeFocused();
    await field.fill('');
  });

  await test.step('a link', async () => {
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await words.getByRole('link').click({ button: 'right' });
    await expect.poll(() => offered(app)).toContain('Copy link address');
    await choose({ app }, 'Copy link address');
    expect(await app.evaluate(({ clipboard }) => clipboard.readText())).toBe('https://example.com/keys');
    await words.getByRole('link').click({ button: 'right' });
    await expect.poll(() => offered(app)).toContain('Open link');
    await choose({ app }, 'Open link');
    await expect(page.getByTestId('link-host')).toHaveText('example.com');
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('link-question')).toBeHidden();
  });

  await test.step('a chat has its own, by mouse and by keyboard', async () => {
    const menu = page.getByRole('menu');
    await item.click({ button: 'right' });
    await expect(menu.getByRole('menuitem', { name: 'Rename' })).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(menu).toBeHidden();
    await item.getByRole('button').first().focus();
    await page.keyboard.press('ContextMenu');
    await expect(menu.getByRole('menuitem', { name: 'Pin' })).toBeFocused();
    await page.keyboard.press('Enter');
    await expect(page.getByRole('region', { name: 'Pinned' }).getByTestId('chat-item')).toHaveCount(1);
    expect(await offered(app)).toEqual([]);
  });
});

test('spelling is checked, and a dictionary fetched, only once a person wants it', async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { app, page } = await shared.window();
  const dictionaries = () =>
    app.evaluate(({ session: { defaultSession } }) => ({
      on: defaultSession.isSpellCheckerEnabled(),
      languages: defaultSession.getSpellCheckerLanguages(),
    }));
  expect(await dictionaries()).toEqual({ on: false, languages: [] });
  await app.evaluate(
    ({ session }, url) => session.defaultSession.setSpellCheckerDictionaryDownloadURL(url),
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
  );
  await page.getByTestId('composer').fill('Teh qestion');
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
  const setting = page.getByTestId('settings-spell-check');
  await expect(setting).toContainText('downloads the dictionaries of your languages');
  expect(asked).toEqual([]);
  await setting.getByText('On', { exact: true }).click();
  await expect.poll(() => asked.length).toBeGreaterThan(0);
  expect(asked[0]).toMatch(/\.bdic$/);
  expect((await dictionaries()).on).toBe(true);
  await setting.getByText('Off', { exact: true }).click();
  await expect.poll(dictionaries).toEqual({ on: false, languages: [] });
  server.close();
});
