/**
 * Images beside questions, for a model with a projector beside it. The projector has random weights: what is shown is that images are
 * attached, counted, asked about, kept and refused, not that anything is seen in them.
 */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import type { SettingsPatch } from '@/electron/contract/settings';
import { imageTokens, png, writeProjector } from '@/test/engine/projector';
import { makePdf } from '@/test/fixtures/documents/pdf';
import { makePng, pageWith, scanned } from '@/test/fixtures/documents/scans';
import { attachFile, chooseFiles, shareApp, test, tinyModel } from '../app';
import { answers, ask, begin, call, ended, greedy, newestChat, questions, ready } from '../chat';
import { axe } from '../moments';

const settings: SettingsPatch = { sampling: { ...greedy, maxTokens: 12 } };

/** A model with a projector in its folder. */
async function seeingModel(dataDir: string): Promise<string> {
  const folder = path.join(dataDir, 'models');
  await mkdir(folder, { recursive: true });
  const model = path.join(folder, 'seeing-model.gguf');
  await copyFile(tinyModel, model);
  writeProjector(folder);
  return model;
}

async function file(dataDir: string, name: string, content: Buffer): Promise<string> {
  await writeFile(path.join(dataDir, name), content);
  return path.join(dataDir, name);
}

const lastStats = async (page: Page) => (await newestChat(page)).messages.at(-1)?.stats;

/** The small image is there, and has pixels. */
async function isShown(page: Page, testId: string): Promise<void> {
  const image = page.getByTestId(testId).last().locator('img');
  await expect(image).toBeVisible();
  expect(await image.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(40);
}

test('an image is attached, counted, asked about again, and still there after a restart', async ({
  launch,
  dataDir,
}) => {
  test.setTimeout(120_000);
  const photo = await file(dataDir, 'photo.png', png(1));
  const first = await launch({ settings, model: await seeingModel(dataDir) });
  const { page } = first;
  const { context } = await ready(page);
  expect(context?.projector).toMatchObject({ file: 'mmproj-tiny.gguf', vision: true });

  await attachFile(first, photo);
  const card = page.getByTestId('document-card');
  await isShown(page, 'card-image');
  await expect.poll(async () => Number(await card.getAttribute('data-tokens'))).toBeGreaterThan(imageTokens);
  await expect(card).toContainText(/image · \d+ tokens/);
  await expect(card.getByTestId('scan-choice')).toHaveCount(0);
  await expect(page.getByTestId('composer')).toHaveAttribute('placeholder', 'Ask about the image');
  expect((await axe(page)).violations).toEqual([]);

  expect(await ask(page, 'What is in it?')).not.toBe('');
  await isShown(page, 'sent-image');
  const chat = await newestChat(page);
  expect(chat.messages[0]?.attachments).toMatchObject([{ name: 'photo.png', part: { kind: 'image' } }]);
  const asked = chat.messages.at(-1)?.stats;
  expect(asked?.promptTokens).toBeGreaterThan(imageTokens);

  // the same prompt is not read again, image and all
  await begin(page, () => page.getByTestId('regenerate').click());
  await ended(page);
  expect(await lastStats(page)).toMatchObject({
    promptTokens: asked?.promptTokens,
    cachedTokens: (asked?.promptTokens ?? 0) - 1,
  });

  await page.getByRole('button', { name: 'Edit and send again' }).click();
  await page.getByTestId('edit-field').fill('Who drew it?');
  await begin(page, () => page.getByTestId('edit-field').press('Enter'));
  await ended(page);
  await isShown(page, 'sent-image');
  expect((await lastStats(page))?.cachedTokens).toBeGreaterThan(imageTokens);

  await page.getByTestId('sent-image').click();
  await expect(page.getByTestId('image-dialog').getByRole('img', { name: 'photo.png' })).toBeVisible();
  expect((await axe(page)).violations).toEqual([]);
  await page.keyboard.press('Escape');
  await first.app.close();

  const second = await launch();
  await second.page.getByTestId('chat-item').first().click();
  await isShown(second.page, 'sent-image');
  await expect(questions(second.page)).toHaveText([/Who drew it\?/]);
  await ready(second.page);
  expect(await ask(second.page, 'And now?')).not.toBe('');
});

test.describe('a model that sees', () => {
  const shared = shareApp({ settings, model: seeingModel });

  test('a model that does not see says so before the question leaves, and its text is a way out', async () => {
    test.setTimeout(120_000);
    const [words] = await scanned([{ lines: ['The keeper lit the lamp.'] }]);
    if (!words) throw new Error('no picture');
    const window = await shared.window();
    const { page } = window;
    const note = await file(shared.dataDir(), 'note.png', makePng(words));
    await attachFile(window, note);
    await ask(page, 'What is in it?');

    await attachFile(window, note);
    await page.getByTestId('composer').fill('And here?');
    await expect(page.getByTestId('send')).toBeEnabled();
    await call(page, 'settings.update', { context: { projector: '' } });
    await expect.poll(async () => (await ready(page)).context?.projector).toMatchObject({ vision: false, reason: '' });
    const status = page.getByTestId('composer-status');
    await expect(status).toContainText(/does not see note\.png\. Have it read as text, remove it, or choose a model/);
    await expect(page.getByTestId('send')).toBeDisabled();

    const card = page.getByTestId('document-card');
    await card.getByTestId('card-menu').click();
    await page.getByRole('menuitem', { name: 'Read as text (OCR)' }).click();
    await expect(card).toHaveAttribute('data-part', 'whole');
    await expect(card).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
    // the image of the question before is still there
    await expect(status).toContainText(/does not see note\.png, which this chat has\. Choose a model that does/);
    await expect(page.getByTestId('send')).toBeDisabled();
    await page.getByTestId('new-chat').click();
    await attachFile(window, note);
    await expect(card).toHaveAttribute('data-part', 'whole');
    expect(await ask(page, 'What does it say?')).not.toBe('');
    await call(page, 'settings.update', { context: { projector: 'auto' } });
    await expect.poll(async () => (await ready(page)).context?.projector).toMatchObject({ vision: true });
  });

  test('what the engine does not decode is converted, and what is damaged is refused with a sentence', async () => {
    const { app, page } = await shared.window();
    const cut = await file(shared.dataDir(), 'cut.png', png(1).subarray(0, 20));
    await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(40, 30);
      canvas.getContext('2d')?.fillRect(0, 0, 20, 30);
      const blob = await canvas.convertToBlob({ type: 'image/webp' });
      const transfer = new DataTransfer();
      transfer.items.add(new File([blob], 'drawn.webp', { type: 'image/webp' }));
      window.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    });
    const card = page.getByTestId('document-card');
    await expect(card).toContainText('drawn.png');
    await expect(card).toHaveAttribute('data-part', 'image');
    await isShown(page, 'card-image');
    await page.getByRole('button', { name: 'Remove drawn.png' }).click();

    await chooseFiles(app, cut);
    await page.getByTestId('attach').click();
    await expect(card).toContainText('An image or sound is of no known format.');
    await expect(answers(page)).toHaveCount(0);
    await page.getByRole('button', { name: 'Remove cut.png' }).click();
    await expect(card).toHaveCount(0);
  });

  test('scanned pages go as text or as images', async () => {
    test.setTimeout(180_000);
    const window = await shared.window();
    const { page } = window;
    const pages = await scanned([{ lines: ['The keeper lit the lamp.'] }, { lines: ['He wrote the hour down.'] }]);
    const scan = await file(shared.dataDir(), 'scan.pdf', makePdf(pages.map(pageWith)));
    await chooseFiles(window.app, scan);
    await page.getByTestId('attach').click();
    const card = page.getByTestId('document-card');
    await expect(card).toHaveAttribute('data-state', 'ready', { timeout: 60_000 });
    const choice = card.getByTestId('scan-choice');
    await expect(choice).toContainText(/Images of 2 pages would take about \d+ tokens\./);
    await choice.getByText('Images', { exact: true }).click();
    await expect(card).toHaveAttribute('data-part', 'image');
    await expect.poll(async () => Number(await card.getAttribute('data-tokens'))).toBeGreaterThan(2 * imageTokens);
    await expect(card).toContainText('pages 1-2 as images');
    expect(await ask(page, 'What does it say?')).not.toBe('');
    const [question] = (await newestChat(page)).messages;
    expect(question?.attachments).toMatchObject([{ part: { kind: 'image', pages: [1, 2] } }]);
    await expect(page.getByTestId('sent-document')).toContainText('pages 1-2 as images');
  });
});
