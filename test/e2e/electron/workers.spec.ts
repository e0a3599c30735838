/** A worker as a person starts it, connects to it, and has a model loaded to it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from '@playwright/test';
import { root, test, tinyModel } from '../app';
import { ready } from '../chat';
import { axe } from '../moments';

test('a worker is connected to in the settings, and holds a part of the model', async ({ launch }) => {
  const program = path.join(root, 'build', 'app', 'serve.cjs');
  const worker = spawn(process.execPath, [program, 'worker', '--port', '0', '--threads', '1']);
  try {
    const [said] = await once(createInterface(worker.stdout), 'line');
    const address = /listens at (\S+)$/.exec(said)?.[1] ?? '';
    const { page } = await launch({ model: tinyModel, settings: { context: { nCtx: 1024, gpuLayers: 99 } } });
    await ready(page);
    await page.getByTestId('settings-open').click();
    await page.getByTestId('settings-tab-advanced').click();
    await page.getByTestId('worker-address').fill('http://somewhere/');
    await page.getByTestId('worker-add').click();
    await expect(page.getByTestId('worker-refusal')).toContainText('no address of a worker');
    await page.getByTestId('worker-address').fill(address);
    await page.getByTestId('worker-add').click();
    await expect(page.getByTestId('worker-state')).toContainText('Ready. Ping');
    await page.getByTestId('workers-reload').click();
    await expect(page.getByTestId('worker-state')).toContainText('Holds a part of the model');
    await expect(page.getByTestId('worker-device')).toContainText(/weights .* cache/);
    expect((await axe(page)).violations).toEqual([]);
    await page.getByTestId('meter-memory').click();
    await expect(page.getByTestId('meter-worker')).toContainText(`at ${address}`);
  } finally {
    worker.kill();
  }
});
