/** The icon in the tray, with which the app goes on without a window, and its start at login; both are off at first. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ElectronApplication, Locator, Page } from '@playwright/test';
import { expect } from '@playwright/test';
import { test } from '../app';
import { ready } from '../chat';

const windows = (app: ElectronApplication) => app.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length);

/** The icon is there a moment after the window shows that it is wanted. */
async function catchTray(app: ElectronApplication): Promise<void> {
  await app.evaluate(({ Tray }) => {
    const { setToolTip } = Tray.prototype;
    Tray.prototype.setToolTip = function kept(text) {
      Object.assign(globalThis, { tray: this });
      setToolTip.call(this, text);
    };
  });
}

const hasTray = (app: ElectronApplication) =>
  app.evaluate(() => {
    const { tray } = globalThis as unknown as { tray?: { isDestroyed(): boolean } };
    return tray !== undefined && !tray.isDestroyed();
  });

async function openSettings(page: Page): Promise<void> {
  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-tab-chat').click();
}

const choice = (setting: Locator, name: 'On' | 'Off') => setting.getByRole('radio', { name, exact: true });
const set = (setting: Locator, name: 'On' | 'Off') => setting.getByText(name, { exact: true }).click();

test('with the tray the app goes on when its window is closed; it starts at login once that is wanted', async ({
  launch,
  dataDir,
}) => {
  const { app, page } = await launch({});
  await ready(page);
  const config = path.join(dataDir, 'config');
  await app.evaluate((_electron, folder) => void Object.assign(process.env, { XDG_CONFIG_HOME: folder }), config);
  await openSettings(page);
  const login = page.getByTestId('settings-start-at-login');
  for (const one of [page.getByTestId('settings-tray'), login]) await expect(choice(one, 'Off')).toBeChecked();

  const entry = path.join(config, 'autostart', 'concertina.desktop');
  await set(login, 'On');
  await expect
    .poll(() => existsSync(entry) && readFileSync(entry, 'utf8'))
    .toMatch(/^Exec=".*electron" ".*" "--hidden"$/m);
  await set(login, 'Off');
  await expect.poll(() => existsSync(entry)).toBe(false);
  // where it cannot be written it is off, and that is said
  await app.evaluate(({ dialog }) => {
    dialog.showMessageBox = async (asked: unknown) => {
      Object.assign(globalThis, { asked });
      return { response: 0, checkboxChecked: false };
    };
  });
  mkdirSync(path.dirname(entry), { recursive: true });
  mkdirSync(entry);
  writeFileSync(path.join(entry, 'in the way'), '');
  await set(login, 'On');
  await expect
    .poll(() => app.evaluate(() => (globalThis as { asked?: { message: string } }).asked?.message))
    .toContain('The start at login could not be set up');
  await expect(choice(login, 'Off')).toBeChecked();

  await catchTray(app);
  await set(page.getByTestId('settings-tray'), 'On');
  await expect.poll(() => hasTray(app)).toBe(true);
  await page.close();
  await expect.poll(() => windows(app)).toBe(0);
  const opened = app.waitForEvent('window');
  // as another start of the app does
  await app.evaluate(({ app: own }) => void own.emit('second-instance', {}, [], '/'));
  const again = await opened;
  await ready(again);
  expect(await windows(app)).toBe(1);
  // without it, the window takes the app along
  await openSettings(again);
  await set(again.getByTestId('settings-tray'), 'Off');
  await expect.poll(() => hasTray(app)).toBe(false);
  const gone = app.waitForEvent('close');
  await again.close();
  await gone;
});
