/** The disk is full while an answer is written: a banner says so until it is on disk, and quitting asks. */
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect } from '@playwright/test';
import { canMount, fillDisk, smallDisk, unmountDisk } from '../../fixtures/smallDisk';
import { test } from '../app';
import { answerText, ask, greedy, ready } from '../chat';

test.skip(!canMount, 'a full disk takes one that may be filled');

test('an answer is not lost, and is written when there is room', async ({ launch, dataDir }) => {
  const disk = smallDisk(2 ** 20);
  if (!disk) throw new Error('a disk could be mounted before');
  // the chats alone: Chromium has no use for a full disk
  symlinkSync(disk, path.join(dataDir, 'chats'));
  try {
    const { app, page } = await launch({ settings: { sampling: greedy } });
    await ready(page);
    await ask(page, 'What is a compiler?');
    const free = fillDisk(disk);
    await ask(page, `What is a lamp? ${'It is bright. '.repeat(400)}`);
    const banner = page.getByTestId('unsaved-banner');
    await expect(banner).toContainText('The disk is full. Not saved yet: this answer.');
    await expect(banner).toContainText('Free some space: it is saved then.');
    const answer = await answerText(page);

    const asked = await app.evaluate(
      ({ app: main, dialog }) =>
        new Promise<string>((resolve) => {
          dialog.showMessageBox = (async (options: Electron.MessageBoxOptions) => {
            resolve(`${options.message} ${options.buttons?.join(', ')}`);
            return { response: 2, checkboxChecked: false };
          }) as typeof dialog.showMessageBox;
          main.quit();
        }),
    );
    expect(asked).toContain('The disk is full. Not saved yet: this answer. Try again, Quit without saving, Go back');
    await expect(banner).toBeVisible();

    free();
    await expect(banner).toBeHidden();
    const log = readdirSync(disk).find((name) => name.endsWith('.jsonl')) ?? '';
    const text = readFileSync(path.join(disk, log), 'utf8');
    expect(text).toContain(JSON.stringify(answer.trim()).slice(1, -1));
    expect(readdirSync(disk).filter((name) => name.includes('damaged'))).toEqual([]);
  } finally {
    unmountDisk(disk);
  }
});
