/** Steps over the access token of the hub: saved, used, removed, and nowhere to be read. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { TestHub } from '../fixtures/hub/server';
import type { AppWindow } from './app';
import { call } from './chat';

const token = 'hf_SecretOfTheTest123';

/** A machine of the tests has no keyring: this one writes the text backwards. */
async function giveKeyring({ app }: AppWindow): Promise<void> {
  await app.evaluate(({ safeStorage }) => {
    const reversed = (text: string) => [...text].reverse().join('');
    safeStorage.isEncryptionAvailable = () => true;
    safeStorage.getSelectedStorageBackend = () => 'gnome_libsecret';
    safeStorage.encryptString = (text) => Buffer.from(reversed(text));
    safeStorage.decryptString = (data) => reversed(data.toString());
  });
}

async function textOfPage(page: Page): Promise<string> {
  return page.evaluate(() => {
    const values = [...document.querySelectorAll('input')].map(({ value }) => value);
    return [document.documentElement.outerHTML, ...values, JSON.stringify(localStorage)].join('\n');
  });
}

/** Names of the files below a folder that hold the token in the clear. */
async function filesWithToken(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile() && !/\.(gguf|part)$/.test(one.name))) {
    const file = path.join(entry.parentPath ?? entry.path, entry.name);
    const content = await readFile(file).catch(() => Buffer.alloc(0));
    if (content.includes(token)) found.push(file);
  }
  return found;
}

export async function tokenComesAndGoes(window: AppWindow, hub: TestHub, dataDir: string): Promise<void> {
  const { page, output } = window;
  await giveKeyring(window);
  hub.tokens.set(token, []);
  const state = page.getByTestId('hub-token-state');
  await page.getByTestId('settings-open').click();
  await expect(state).toHaveAttribute('data-token', 'none');
  await page.getByTestId('hub-token').fill(token);
  await page.getByTestId('hub-token-save').click();
  await expect(state).toHaveAttribute('data-token', 'saved');

  const asked = async () => {
    await call(page, 'hub.search', { query: 'tiny' });
    return hub.seen.at(-1)?.headers.authorization;
  };
  expect(await asked()).toBe(`Bearer ${token}`);
  expect(await textOfPage(page)).not.toContain(token);
  expect(JSON.stringify(await call(page, 'settings.get', undefined))).not.toContain(token);
  expect((await call(page, 'app.diagnostics', undefined)).text).not.toContain(token);
  expect(output.join('')).not.toContain(token);
  expect(await filesWithToken(dataDir)).toEqual([]);

  await page.getByTestId('hub-token-remove').click();
  await expect(state).toHaveAttribute('data-token', 'none');
  expect(await asked()).toBeUndefined();
  await page.getByTestId('settings-open').click();
}
