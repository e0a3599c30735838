/** The context control: marks of what fits, a context that cannot fit, and a change of the length on a running chat. */
import os from 'node:os';
import { expect, type Page } from '@playwright/test';
import type { SettingsPatch } from '@/electron/contract/settings';
import { addModel, test, tinyModel } from '../app';
import { ask, call, greedy, ready, status } from '../chat';
import { trainedContext, writeLargeModel } from '../hubModels';

async function openSettings(page: Page): Promise<void> {
  await page.getByTestId('settings-open').click();
  await expect(page.getByTestId('memory-need')).toBeVisible();
}

/** Far too little for the model of `writeLargeModel`: the longest contexts follow from it, whatever else runs here. */
const held = { free: 16 * 1024 ** 3 };

/** Of the memory alone: without a model nothing can count the tokens of the draft. */
async function settled(page: Page): Promise<void> {
  for (const id of ['memory-need', 'kv-estimate']) {
    await expect(page.locator(`[data-testid="${id}"][data-stale="true"]`)).toHaveCount(0);
  }
}

async function markedTokens(page: Page, id: string): Promise<number> {
  await settled(page);
  return Number(await page.locator(`[data-marks~="${id}"][data-tokens]`).getAttribute('data-tokens'));
}

test('a model that does not fit: marks, offers and loading anyway', async ({ launch, dataDir }) => {
  const settings: SettingsPatch = { context: { nCtx: trainedContext, typeK: 'f16', typeV: 'f16' } };
  const first = await launch({ settings, held });
  await ready(first.page);
  await addModel(first.app, first.page, writeLargeModel(dataDir));
  const row = first.page.getByTestId('model-item').filter({ hasText: 'Wide 70B' });
  await expect(row.getByTestId('model-fit')).toHaveAttribute('data-fits', 'false');
  await row.getByRole('button').first().click();
  await expect.poll(async () => (await status(first.page)).refused?.error.code).toBe('out-of-memory');
  const { refused, state } = await status(first.page);
  expect(state).toBe('ready');
  await first.page.keyboard.press('Escape');
  const refusal = first.page.getByTestId('engine-banner');
  await expect(refusal).toContainText('is still in use');
  await expect(refusal.getByTestId('banner-offer').first()).toContainText('fits');
  await expect(refusal.getByTestId('banner-force')).toHaveText('Load anyway');
  await refusal.getByRole('button', { name: 'Dismiss' }).click();
  await expect(refusal).toHaveCount(0);
  await first.app.close();

  // one that is remembered, and no longer fits when the app starts
  const { page } = await launch({ settings: { ...settings, modelId: refused?.modelId ?? null }, held });
  await expect.poll(async () => (await status(page)).error?.code).toBe('out-of-memory');
  const banner = page.getByTestId('engine-banner');
  await expect(banner.getByTestId('banner-offer').first()).toContainText('fits');
  await expect(banner.getByTestId('banner-force')).toHaveText('Load anyway');

  await openSettings(page);
  await page.getByTestId('memory-saving-apart').click();
  const tokens: Record<string, number> = {};
  for (const id of ['f16', 'q8_0', 'turbo4', 'turbo3']) tokens[id] = await markedTokens(page, id);
  expect(tokens.q8_0).toBeGreaterThan(tokens.f16 ?? 0);
  expect(tokens.turbo3).toBeGreaterThan(tokens.q8_0 ?? 0);
  expect(await markedTokens(page, 'trained')).toBe(trainedContext);
  const chosen = async (typeK: string, typeV: string) => {
    await page.getByTestId('settings-type-k').selectOption(typeK);
    await page.getByTestId('settings-type-v').selectOption(typeV);
    await expect(page.locator('[data-marks~="chosen"][data-tokens]')).toContainText(`${typeK} / ${typeV}`);
    const at = await page.locator('[data-marks~="chosen"][data-share]').getAttribute('data-share');
    return { tokens: await markedTokens(page, 'chosen'), share: Number(at) };
  };
  const folded = await chosen('q8_0', 'turbo3');
  const wide = await chosen('f16', 'q8_0');
  expect(folded.tokens).toBeGreaterThan(wide.tokens);
  expect(folded.share).toBeGreaterThan(wide.share);

  await expect(page.getByTestId('memory-need')).toHaveAttribute('data-fits', 'false');
  await expect(page.getByTestId('settings-refusal')).toContainText('does not fit');
  await expect(page.getByTestId('settings-force')).toHaveText('Load anyway');
  await expect(page.getByTestId('settings-apply')).toHaveCount(0);
  await page.getByTestId('context-largest').click();
  await expect(page.getByTestId('settings-context')).toHaveValue(String(wide.tokens));
  await expect(page.getByTestId('settings-apply')).toBeVisible();
  await page.getByTestId('context-set-trained').click();
  await page.getByTestId('settings-offer').first().click();
  await expect(page.getByTestId('memory-need')).toHaveAttribute('data-fits', 'true');
  await expect(page.getByTestId('settings-refusal')).toHaveCount(0);
});

test('longer than trained only by a choice', async ({ launch }) => {
  const { page } = await launch({ model: tinyModel });
  await ready(page);
  await openSettings(page);
  await page.getByTestId('settings-context').fill('10240');
  await expect(page.getByTestId('settings-context')).toHaveAttribute('aria-invalid', 'true');
  await page.getByTestId('settings-tab-advanced').click();
  await page.getByTestId('settings-rope').getByText('YaRN').click();
  await page.getByTestId('settings-tab-memory').click();
  await page.getByTestId('settings-context').fill('10240');
  await expect(page.getByTestId('rope-warning')).toContainText('1.3 times the 8,192 tokens');
  await page.getByTestId('settings-apply').click();
  await expect.poll(async () => (await status(page)).context?.nCtx, { timeout: 60_000 }).toBe(10_240);
  expect((await ready(page)).context?.rope).toEqual({ kind: 'yarn', factor: 1.25 });
});

test('another length keeps the conversation and what has been read of it', async ({ launch }) => {
  const { page } = await launch({ settings: { sampling: { ...greedy, maxTokens: 60 } } });
  await ready(page);
  const text = 'The old clock in the hall strikes once an hour. Rain fell on the roofs all day. '.repeat(60);
  await ask(page, `${text}\n\nWhat strikes once an hour?`);
  const before = await status(page);
  expect(before.contextUsed).toBeGreaterThan(1000);

  await openSettings(page);
  await expect(page.locator('[data-marks~="chat"][data-tokens]')).toBeVisible();
  await page.getByTestId('context-for-chat').click();
  const shorter = Number(await page.getByTestId('settings-context').inputValue());
  expect(shorter).toBeGreaterThan(before.contextUsed);
  expect(shorter).toBeLessThan(8192);
  await expect(page.getByTestId('apply-cost')).toHaveAttribute('data-kind', 'kept');
  await page.getByTestId('memory-saving-turbo3').click();
  await expect(page.getByTestId('apply-cost')).toHaveAttribute('data-kind', 'again');
  await expect(page.getByTestId('apply-cost')).toContainText('tok/s');
  await page.getByTestId('memory-saving-turbo4').click();
  await page.getByTestId('settings-apply').click();
  await expect.poll(async () => (await status(page)).context?.nCtx, { timeout: 60_000 }).toBe(shorter);
  const after = await ready(page);
  expect([after.contextUsed, after.contextChat]).toEqual([before.contextUsed, before.contextChat]);
  await expect(page.getByTestId('meter-context')).toHaveAttribute('data-used', String(before.contextUsed));

  await page.keyboard.press('Escape');
  await expect(page.getByTestId('message-user')).toHaveCount(1);
  await ask(page, 'And where did rain fall?');
  const [chat] = await call(page, 'chats.list', undefined);
  const { messages } = await call(page, 'chats.open', { chatId: chat?.id ?? '' });
  const stats = messages.at(-1)?.stats;
  expect(stats?.cachedTokens).toBe(before.contextUsed);
  expect((stats?.cachedTokens ?? 0) / (stats?.promptTokens ?? 1)).toBeGreaterThan(0.95);
});

test('Auto leaves memory to other programs, and grows by a button when a document needs more', async ({ launch }) => {
  // a gigabyte beside the reserve of every load, of which Auto would leave a quarter of all memory free: the least is left
  const free = 256 * 1024 ** 2 + os.totalmem() / 32 + 1024 ** 3;
  const { app, page } = await launch({ settings: { sampling: { ...greedy, maxTokens: 40 } }, held: { free } });
  expect((await ready(page)).context).toMatchObject({ nCtx: 8192, auto: { end: 'tight' } });
  const sentence = 'The keeper walked to the tower, lit the lamp, and wrote the hour down in his book. ';
  await ask(page, `${sentence.repeat(60)}\n\nWho lit the lamp?`);
  const { contextUsed } = await status(page);
  expect(contextUsed).toBeGreaterThan(1000);

  await app.evaluate(({ clipboard }, words) => clipboard.writeText(words), sentence.repeat(400));
  await page.getByTestId('composer').focus();
  await page.keyboard.press('Control+V');
  await page.getByTestId('composer').fill('What did he write down?');
  const grow = page.getByTestId('room-offer').first();
  await expect(grow).toHaveText(/^Grow the context to 16,384: [\d.]+ MiB more$/);
  await expect(page.getByTestId('grow-cost')).toHaveText(/tokens that were read are kept\.$/);
  await expect(page.getByTestId('send')).toBeDisabled();
  await grow.click();
  await expect.poll(async () => (await status(page)).context?.nCtx, { timeout: 60_000 }).toBe(16_384);
  const grown = await ready(page);
  expect([grown.context?.auto?.end, grown.contextUsed]).toEqual(['grown', contextUsed]);
  await expect(page.getByTestId('no-fit')).toBeHidden();
  await expect(page.getByTestId('send')).toBeEnabled();

  await openSettings(page);
  await expect(page.getByTestId('settings-context')).toHaveValue('');
  await expect(page.locator('#settings-context-help')).toContainText('Auto: 16,384 now');
  expect((await call(page, 'settings.get', undefined)).context.nCtx).toBe(0);
});
