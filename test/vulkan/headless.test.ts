/** The command line and headless mode, as processes of their own, with the model on the software device. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { modelIdOf } from '@/electron/services/models/modelFiles';
import { root, temporaryFolder, tinyModel } from '../engine/support';
import { startHeadlessApp } from '../fixtures/headlessApp';
import { answered, keepSelfTest, question, shape } from './software';

const sampling = { temperature: 0, maxTokens: 24 };

function run(data: string) {
  const program = path.join(root, 'build', 'app', 'serve.cjs');
  const asked = ['--model', tinyModel, '--context', String(shape.nCtx), '--cache', shape.typeK, '--temperature', '0'];
  const options = ['run', question, '--json', '--max-tokens', '24', '--data', data, ...asked];
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...options], {
    encoding: 'utf8',
    env: { ...process.env, CONCERTINA_FIRST_PROBE: 'off' },
  });
  if (status !== 0) throw new Error(`code ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

it('`run` answers on the device', () => {
  const data = temporaryFolder();
  keepSelfTest(data);
  const there = run(data);
  expect(there.context).toMatchObject({
    attention: [{ backend: 'Vulkan', layerBackend: 'Vulkan' }],
    typeK: { effective: shape.typeK },
  });
  expect(there.context.gpuLayers).toBe(there.context.layers);
  expect(there.text).toContain(answered);
});

it('`serve` holds a chat on the device, in the bytes that were planned', async () => {
  const data = temporaryFolder();
  keepSelfTest(data);
  const modelId = modelIdOf(tinyModel);
  fs.writeFileSync(path.join(data, 'models.json'), JSON.stringify({ version: 1, files: [tinyModel] }));
  fs.writeFileSync(path.join(data, 'settings.json'), JSON.stringify({ modelId, context: shape, sampling }));
  const { client, kill } = await startHeadlessApp(data);
  onTestFinished(() => kill());
  const status = await vi.waitFor(
    async () => {
      const now = await client.call('engine.status', undefined);
      expect(now).toMatchObject({ state: 'ready', modelId });
      return now;
    },
    { timeout: 120_000 },
  );
  expect(status.context?.gpuLayers).toBe(status.context?.layers);
  const { estimate, devices = [] } = await client.call('engine.plan', {});
  expect(status.memory).toMatchObject({ kvK: estimate.kvK, kvV: estimate.kvV });
  const onDevice = devices.filter(({ kind }) => kind === 'gpu');
  expect(onDevice).toHaveLength(1);
  expect(status.memory?.gpus).toMatchObject(
    onDevice.map(({ name, weights, context, compute }) => ({ name, weights, context, compute })),
  );

  const ended = new Promise((resolve) =>
    client.on('onMessage', ({ message }) => message.role === 'assistant' && message.stopReason && resolve(message)),
  );
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('turns.send', { chatId, parentId: null, text: question, attachments: [] });
  await expect(ended).resolves.toMatchObject({ text: expect.stringContaining(answered) });
});
