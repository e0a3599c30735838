/** The strip and its plots say what the engine says. */
import { expect, type Page } from '@playwright/test';
import { resizeWindow, test } from '../app';
import { ask, greedy, newestChat, ready, status } from '../chat';

const shown = async (page: Page, testId: string, name: string): Promise<number> =>
  Number(await page.getByTestId(testId).getAttribute(`data-${name}`));

test('its figures are those of the engine, now and over time', async ({ launch }) => {
  // a cache of f16 needs no measuring of the model first
  const context = { typeK: 'f16', typeV: 'f16' } as const;
  const { app, page } = await launch({ settings: { sampling: greedy, context } });
  const refused: string[] = [];
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) refused.push(message.text());
  });
  await ready(page);
  await ask(page, 'What is a compiler?');
  const stats = (await newestChat(page)).messages.at(-1)?.stats;
  if (!stats) throw new Error('the answer has no figures');

  await expect.poll(() => shown(page, 'meter-toks', 'toks')).toBe(stats.tokensPerSecond);
  await expect.poll(() => shown(page, 'meter-ttft', 'ttft')).toBe(stats.ttftMs);
  await expect.poll(() => shown(page, 'meter-prompt', 'prompt-toks')).toBe(stats.promptTokensPerSecond);
  await expect.poll(() => shown(page, 'meter-sparkline', 'values')).toBeGreaterThan(0);
  const { memory, context: loaded, contextUsed } = await status(page);
  expect([contextUsed, loaded?.nCtx]).toEqual([stats.contextUsed, stats.contextSize]);
  await expect(page.getByTestId('meter-context')).toHaveAttribute('data-used', String(stats.contextUsed));
  await expect(page.getByTestId('meter-context')).toHaveAttribute('data-size', String(stats.contextSize));
  for (const part of ['weights', 'compute'] as const) {
    await expect.poll(() => shown(page, 'meter-memory', part)).toBe(memory?.[part]);
  }

  await test.step('the plots have the same figures, and fit a small window', async () => {
    await resizeWindow({ app, page }, 900, 600);
    await page.getByTestId('meter-history-open').focus();
    await page.keyboard.press('Enter');
    const panel = page.getByTestId('meter-history');
    await expect(panel.locator('canvas')).toHaveCount(4);
    const box = await panel.boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(600);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(900);
    const points = await shown(page, 'plot-context', 'points');
    await expect.poll(() => shown(page, 'plot-context', 'points')).toBeGreaterThan(points);
    expect(await shown(page, 'plot-context', 'latest')).toBe(stats.contextUsed);
  });

  await test.step('the parts of the memory are those of the machine', async () => {
    const stack = await page.getByTestId('plot-memory').getAttribute('data-latest');
    const parts = (stack ?? '').split(',').map(Number);
    const [weights = 0, cache, compute = 0, draft = 0, prompts = 0, engine = 0, window] = parts;
    const { memory: now } = await status(page);
    const kv = (now?.kvK ?? 0) + (now?.kvV ?? 0);
    expect(cache).toBe(kv);
    expect(parts.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(now?.total ?? 0);
    if (process.platform === 'linux') {
      expect(weights).toBeGreaterThan(1e6);
      expect(weights + kv + compute + draft + prompts + engine).toBeLessThan(now?.process ?? 0);
      expect(window).toBeGreaterThan(20e6);
    }
  });

  await page.keyboard.press('Escape');
  await expect(page.getByTestId('meter-history')).toHaveCount(0);
  await expect(page.getByTestId('meter-history-open')).toBeFocused();
  expect(refused).toEqual([]);
});
