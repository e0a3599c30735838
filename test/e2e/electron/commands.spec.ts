/** The palette, the sheet of shortcuts, About and the menu of the desktop: all of one list, and all by the keyboard alone. */
import { expect, type Page } from '@playwright/test';
import { commands } from '@/electron/contract/lib/commands';
import { resizeWindow, test } from '../app';
import { questions, ready } from '../chat';
import { writeChat } from '../chatFiles';
import { axe } from '../moments';

async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await axe(page);
  expect(violations.map(({ id, nodes }) => ({ id, html: nodes[0]?.html }))).toEqual([]);
}

test('commands and chats by the keyboard alone', async ({ launch, dataDir }) => {
  await writeChat(dataDir, 'Where the keys are', [{ id: 'q1', parentId: null, text: 'Where are the keys?' }]);
  await writeChat(dataDir, 'Something else', [{ id: 'q2', parentId: null, text: 'What else?' }]);
  const { app, page } = await launch({ settings: { theme: 'dark' } });
  await ready(page);
  const palette = page.getByTestId('palette');
  const field = page.getByTestId('palette-field');
  const entries = page.getByTestId('palette-entry');
  const current = page.locator('[data-testid="palette-entry"][aria-selected="true"]');

  await test.step('the palette opens a chat', async () => {
    await page.getByTestId('composer').focus();
    await page.keyboard.press('Control+Shift+P');
    await expect(field).toBeFocused();
    await expect(entries).toHaveCount(commands.length - 1 + 2);
    await expectAccessible(page);
    await field.fill('KEYS where');
    await expect(entries).toHaveText(['Where the keys are']);
    await field.press('Enter');
    await expect(palette).toBeHidden();
    await expect(questions(page)).toContainText('Where are the keys?');
    await expect(page.getByTestId('composer')).toBeFocused();
  });

  await test.step('and runs a command that is chosen with the arrow keys', async () => {
    await page.keyboard.press('Control+Shift+P');
    await field.fill('chat');
    await expect(current).toContainText('New chat');
    await field.press('ArrowUp');
    await field.press('ArrowDown');
    await field.press('ArrowDown');
    await expect(current).toContainText('Search chats');
    await expect(field).toHaveAttribute('aria-activedescendant', (await current.getAttribute('id')) ?? '');
    await field.press('Enter');
    await expect(page.getByTestId('chat-search')).toBeFocused();
    await page.keyboard.press('Control+Shift+P');
    await field.fill('no such thing');
    await expect(palette.getByRole('status')).toHaveText('Nothing has this name.');
    await field.press('Enter');
    await field.press('Escape');
    await expect(palette).toBeHidden();
    await expect(page.getByTestId('chat-search')).toBeFocused();
  });

  await test.step('the sheet of shortcuts has all keys; in a text field ? is a letter', async () => {
    const sheet = page.getByTestId('shortcuts');
    await page.getByTestId('composer').focus();
    await page.keyboard.press('Shift+?');
    await expect(page.getByTestId('composer')).toHaveValue('?');
    await page.keyboard.press('Control+/');
    for (const { label, keys } of commands) if (keys) await expect(sheet).toContainText(label);
    await expectAccessible(page);
    await resizeWindow({ app, page }, 900, 600);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    await page.keyboard.press('Escape');
    await expect(sheet).toBeHidden();
    // which gets the focus back a moment later
    await expect(page.getByTestId('composer')).toBeFocused();
    await page.getByTestId('settings-open').focus();
    await page.keyboard.press('Shift+?');
    await expect(sheet).toBeVisible();
    await page.keyboard.press('Escape');
  });

  await test.step('About has the versions, and leads to the licenses', async () => {
    await page.keyboard.press('Control+Shift+P');
    await field.fill('about');
    await field.press('Enter');
    const versions = page.getByTestId('versions');
    const { electron, node } = await app.evaluate(() => process.versions);
    for (const version of [electron ?? '-', node, await app.evaluate(({ app: main }) => main.getVersion())]) {
      await expect(versions).toContainText(version);
    }
    await expect(versions).toContainText(/llama\.cpp\s*\S+ [0-9a-f]{7,}/);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Third-party notices…' }).press('Enter');
    await expect(page.getByTestId('about')).toBeHidden();
    await expect(page.getByTestId('third-party-text')).toContainText('MIT');
    await page.keyboard.press('Escape');
  });

  await test.step('the menu of the desktop has every command, with its keys', async () => {
    const items = await app.evaluate(({ Menu }) => {
      const all = (menu: Electron.Menu | null): Electron.MenuItem[] =>
        (menu?.items ?? []).flatMap((item) => [item, ...all(item.submenu ?? null)]);
      return all(Menu.getApplicationMenu()).map(({ label, accelerator }) => `${label} ${accelerator ?? ''}`.trim());
    });
    for (const { label, keys = '' } of commands) {
      expect(items).toContain(`${label} ${keys.replace('Mod', 'CmdOrCtrl')}`.trim());
    }
  });

  await test.step('the settings of the window', async () => {
    await page.keyboard.press('Control+,');
    await expect(page.getByTestId('memory-need')).toBeVisible();
    await expect(page.locator('[data-stale="true"]')).toHaveCount(0);
    await expectAccessible(page);
    // the arrow keys go from part to part
    await page.getByTestId('settings-tab-memory').focus();
    await page.keyboard.press('ArrowLeft');
    await expect(page.getByTestId('settings-notifications')).toBeVisible();
    await expectAccessible(page);
  });
});
