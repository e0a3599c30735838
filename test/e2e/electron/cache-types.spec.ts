/** The promise of the app: a cache 4-5 times smaller, to the byte, in which a needle is still found. */
import { expect } from '@playwright/test';
import type { CacheType, SettingsPatch } from '@/electron/contract/settings';
import { type AppWindow, shareApp, test } from '../app';
import { ask, call, ended, greedy, kvBytesShown, ready, send } from '../chat';
import needle from '../fixtures/needle.json' with { type: 'json' };

/** The built-in model, and the bytes of 128 values of each type (block layouts of turbo.md, f16: two bytes a value). */
const layers = 8;
const headsKv = 2;
const blockBytes = { f16: 256, q8_0: 136, turbo4: 68, turbo3: 52 } as const;
const nCtx = 8192;

const sideBytes = (type: keyof typeof blockBytes): number => layers * headsKv * nCtx * blockBytes[type];

type ContextPatch = NonNullable<SettingsPatch['context']>;

const plain: ContextPatch = { nCtx, typeK: 'turbo4', typeV: 'turbo4', recentTokens: 0 };
const shared = shareApp({ settings: { sampling: greedy, context: plain } });

/** The window, with a context as asked. */
async function windowWith(context: ContextPatch): Promise<AppWindow> {
  const window = await shared.window();
  await call(window.page, 'settings.update', { context, apply: {} });
  await ready(window.page);
  return window;
}

test('KV memory is the allocation to the byte, and as small as promised', async () => {
  const { page } = await windowWith({ ...plain, typeK: 'f16', typeV: 'f16' });
  const measure = async (typeK: CacheType, typeV: CacheType, recentTokens = 0): Promise<number> => {
    await call(page, 'settings.update', { context: { typeK, typeV, recentTokens }, apply: {} });
    const { memory, context } = await ready(page);
    expect([context?.typeK.effective, context?.typeV.effective]).toEqual([typeK, typeV]);
    expect(context?.recent.tokens).toBe(recentTokens);
    const allocated = (memory?.kvK ?? 0) + (memory?.kvV ?? 0);
    await expect.poll(() => kvBytesShown(page)).toBe(allocated);
    return allocated;
  };
  const f16 = await measure('f16', 'f16');
  const turbo4 = await measure('turbo4', 'turbo4');
  const turbo3 = await measure('turbo3', 'turbo3');
  const mixed = await measure('turbo4', 'turbo3');
  const recent = await measure('turbo4', 'turbo3', 128);

  // the first 32 cells, those of the tokens and of a micro-batch, and 32 that are begun
  const window = 2 * layers * headsKv * (32 + 128 + 512 + 32) * blockBytes.q8_0;
  expect({ f16, turbo4, turbo3, mixed, recent }).toEqual({
    f16: 2 * sideBytes('f16'),
    turbo4: 2 * sideBytes('turbo4'),
    turbo3: 2 * sideBytes('turbo3'),
    mixed: sideBytes('turbo4') + sideBytes('turbo3'),
    recent: sideBytes('turbo4') + sideBytes('turbo3') + window,
  });
  expect(f16 / turbo4).toBeGreaterThanOrEqual(3.7);
  expect(f16 / turbo3).toBeGreaterThanOrEqual(4.9);
});

test('a needle in a pasted text is found under turbo3 at 8K', async () => {
  const { app, page } = await windowWith({ ...plain, typeK: 'turbo3', typeV: 'turbo3' });
  const end = needle.prompt.lastIndexOf('\n\n');
  await app.evaluate(({ clipboard }, text) => clipboard.writeText(text), needle.prompt.slice(0, end));
  await page.getByTestId('composer').focus();
  await page.keyboard.press('Control+V');
  await expect(page.getByTestId('document-card')).toHaveAttribute('data-state', 'ready');
  await send(page, needle.prompt.slice(end).trim());
  await expect(page.getByTestId('message-assistant')).toContainText(needle.answer, { timeout: 120_000 });
  await ended(page);
  await expect(page.getByTestId('meter-types')).toContainText('turbo3');
});

test('another context length and cache type keep the chat', async () => {
  const { page } = await windowWith(plain);
  await ask(page, 'What is a compiler?');

  await page.getByTestId('settings-open').click();
  await page.getByTestId('settings-context').fill('4096');
  await page.getByTestId('memory-saving-apart').click();
  await page.getByTestId('settings-type-k').selectOption('turbo4');
  await page.getByTestId('settings-type-v').selectOption('turbo3');
  await page.getByTestId('settings-apply').click();
  await expect
    .poll(
      async () => {
        const { state, context } = await call(page, 'engine.status', undefined);
        return [state, context?.nCtx, context?.typeK.effective, context?.typeV.effective];
      },
      { timeout: 60_000 },
    )
    .toEqual(['ready', 4096, 'turbo4', 'turbo3']);
  await page.keyboard.press('Escape');

  await expect(page.getByTestId('message-user')).toHaveCount(1);
  await send(page, 'And a linker?');
  await expect(page.getByTestId('message-assistant')).toHaveCount(2);
  await ended(page);
});
