/** Nothing silent: what is not as asked turns the badge amber, with the reason and what to do. */
import { expect, type Page } from '@playwright/test';
import { shareApp, test } from '../app';
import { ask, call, greedy, ready } from '../chat';
import { moment } from '../moments';

/** Nothing to measure at the first load, and threads that need not wait for each other on a busy machine. */
const plain = { typeK: 'f16', typeV: 'f16', threads: 1 } as const;

async function openBadge(page: Page): Promise<void> {
  await page.getByTestId('meter-engine').click();
}

async function expectFallback(page: Page, id: string, texts: RegExp[]): Promise<void> {
  const fallback = page.locator(`[data-testid="fallback"][data-id="${id}"]`);
  for (const text of texts) await expect(fallback).toContainText(text);
}

test.describe('as asked', () => {
  const shared = shareApp({
    settings: { context: plain, sampling: greedy, systemPrompt: 'Answer briefly, lagoon.' },
  });

  test('without fallbacks the badge is quiet and names what runs where', async () => {
    const { page } = await shared.window();
    const { context, capabilities } = await ready(page);
    await expect(page.getByTestId('meter-engine')).toHaveAttribute('data-fallbacks', '0');
    await openBadge(page);
    await expect(page.getByTestId('fallbacks')).toBeHidden();
    await expect(page.getByTestId('details-layers')).toHaveText('0/9');
    const device = capabilities?.device ?? '?';
    expect(context?.attention).toEqual([{ backend: 'CPU', device, layerBackend: 'CPU', window: false, layers: 8 }]);
    await page.keyboard.press('Escape');
  });

  test('without the GPU that the settings ask for the badge turns amber', async () => {
    const { page } = await shared.window();
    const { context } = await call(page, 'settings.get', undefined);
    await call(page, 'settings.update', { context: { gpuLayers: 9 }, apply: {} });
    const { capabilities } = await ready(page);
    test.skip(capabilities?.backend !== 'CPU', 'this machine has a GPU');
    await expect(page.getByTestId('meter-engine')).toHaveAttribute('data-fallbacks', '1');
    await expect(page.getByTestId('meter-engine')).toHaveClass(/text-warn/);
    await openBadge(page);
    await expectFallback(page, 'gpu-missing', [/0 of 9 layers/, /ask for 9 layers on the GPU/, /Empty the field/]);
    await page.keyboard.press('Escape');
    await call(page, 'settings.update', { context: { gpuLayers: context.gpuLayers }, apply: {} });
  });

  test('the diagnostics open from the badge and by key, can be copied, and hold no chat', async () => {
    const { app, page } = await shared.window();
    const { capabilities } = await ready(page);
    await ask(page, 'What is a lagoon?');
    await openBadge(page);
    await page.getByTestId('diagnostics-open').click();
    const text = page.getByTestId('diagnostics-text');
    await expect(text).toContainText(capabilities?.upstream ?? '?');
    await expect(text).toContainText(/answer \d+ at [\d.]+ tok\/s/);
    const said = await moment(page, '[data-testid="diagnostics-copy"]', 'Copied');
    await page.getByTestId('diagnostics-copy').click();
    await said();
    const copied = await app.evaluate(({ clipboard }) => clipboard.readText());
    expect(copied).toBe(await text.textContent());
    expect(copied).not.toMatch(/lagoon/i);
    expect(copied).not.toContain(shared.dataDir());
    await page.keyboard.press('Escape');
    await expect(page.getByTestId('diagnostics')).toBeHidden();
    await page.keyboard.press('Control+d');
    await expect(text).toContainText('## Computer');

    // they lead to the third-party notices, and so does the Help menu
    await page.getByTestId('third-party-open').click();
    const notices = page.getByTestId('third-party-text');
    await expect(notices).toContainText('Permission is hereby granted');
    await expect(page.getByTestId('diagnostics')).toBeHidden();
    await page.keyboard.press('Escape');
    await expect(notices).toBeHidden();
    await app.evaluate(({ Menu, BrowserWindow }) => {
      const help = Menu.getApplicationMenu()?.items.find(({ role }) => role === 'help');
      const item = help?.submenu?.items.find(({ label }) => label.startsWith('Third-party notices'));
      item?.click(undefined, BrowserWindow.getAllWindows()[0], undefined);
    });
    await expect(notices).toContainText('llama.cpp and ggml');
    await expect(notices).toContainText('SIL OPEN FONT LICENSE');
  });
});

test('with kernels held down to plain C the badge turns amber', async ({ launch }) => {
  const { page } = await launch({ settings: { context: plain }, env: { CONCERTINA_SIMD: 'scalar' } });
  const { capabilities } = await ready(page);
  expect(capabilities?.simd).toBe('scalar');
  test.skip(capabilities?.simdBest === 'scalar', 'this processor has nothing better');
  await expect(page.getByTestId('meter-engine')).not.toHaveAttribute('data-fallbacks', '0');
  await expect(page.getByTestId('meter-engine')).toHaveClass(/text-warn/);
  await openBadge(page);
  await expectFallback(page, 'simd', [/scalar code/, /CONCERTINA_SIMD=scalar is set/, /Start Concertina without/]);
});
