/** The window with the model on the software device: what it does, and what it says of device and memory. */
import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import { enginePid, test, tinyModel } from '../e2e/app';
import { ask, call, kvBytesShown, ready } from '../e2e/chat';
import { answered, keepSelfTest, question, shape, software } from './software';

/** A software device compiles each pipeline for seconds. */
const patience = 240_000;
test.setTimeout(2 * patience);

test('a chat runs wholly on the device, and the window says so', async ({ launch, dataDir }) => {
  keepSelfTest(dataDir);
  const { app, page } = await launch({
    model: tinyModel,
    settings: { context: shape, sampling: { temperature: 0, maxTokens: 24 } },
    env: software,
  });
  const { context, memory, capabilities } = await ready(page);
  expect(capabilities?.warnings).toEqual([]);
  expect(context?.attention).toMatchObject([{ backend: 'Vulkan', layerBackend: 'Vulkan' }]);
  // the system's loader, and not Chromium's beside the program
  const maps = readFileSync(`/proc/${await enginePid(app)}/maps`, 'utf8');
  expect(maps.match(/\S*libvulkan\.so\S*/g)?.every((file) => file.startsWith('/usr/lib/'))).toBe(true);
  expect(await ask(page, question, patience)).toContain(answered);

  await expect(page.getByTestId('meter-backend')).toContainText(/^Vulkan (\d+)\/\1/);
  await expect(page.getByTestId('meter-engine')).toHaveAttribute('data-fallbacks', '0');
  const { estimate, devices = [] } = await call(page, 'engine.plan', {});
  const [gpu] = devices.filter(({ kind }) => kind === 'gpu');
  expect(await kvBytesShown(page)).toBe(estimate.kvK + estimate.kvV);
  expect(memory?.gpus).toEqual([
    { name: gpu?.name, weights: gpu?.weights, context: gpu?.context, compute: gpu?.compute },
  ]);
  await page.getByTestId('meter-memory').click();
  await expect(page.getByTestId('meter-gpu')).toHaveAttribute('data-cache', String(gpu?.context));
  await expect(page.getByTestId('meter-gpu')).toContainText(`in ${gpu?.name}`);
  await page.keyboard.press('Escape');
  await page.getByTestId('meter-engine').click();
  await page.getByTestId('diagnostics-open').click();
  const text = page.getByTestId('diagnostics-text');
  await expect(text).toContainText('Backend: Vulkan, ');
  await expect(text).toContainText(`KV cache ${gpu?.context} bytes`);
});
