/**
 * The turbo types on Vulkan, on Mesa's software device (npm test -- vulkan; vitest.config.ts makes it visible). It has no matrix
 * units: `test/native/gpu` runs on GPUs that have.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  answer,
  contextOptions,
  engine,
  greedy,
  question,
  root,
  temporaryFolder,
  tinyModel,
  tool,
} from '../engine/support';
import { start, surviving, withoutLibrary } from './software';

it.each([
  [['turbo4', 'operations'], 14],
  [['turbo4', '1'], 1],
  [['turbo3', '3'], 1],
  [['turbo4', '40'], 1],
])('runs %s as the CPU does', (chosen, cases) => {
  const { status, stdout } = surviving(() => spawnSync(tool('gpu-tests'), chosen, { encoding: 'utf8' }));
  expect(stdout.match(/^FAIL.*/gm) ?? []).toEqual([]);
  expect(stdout.match(/^ok /gm)).toHaveLength(cases);
  expect(status).toBe(0);
});

it('has a model with its cache wholly on the device, and says so', async () => {
  const options = contextOptions({ typeK: 'turbo4', typeV: 'turbo3' });
  const model = await engine().loadModel(tinyModel, { gpuLayers: -1 });
  onTestFinished(() => model.dispose());
  const context = await model.createContext(options);
  const { gpuLayers, layers, attention, kernels, typeK, typeV } = context.effective;
  expect(gpuLayers).toBe(layers);
  expect(attention).toMatchObject([{ backend: 'Vulkan', layerBackend: 'Vulkan', layers: layers - 1 }]);
  expect(kernels).toMatchObject([{ backend: 'Vulkan', name: 'vulkan-decode-fp16' }]);
  expect([typeK.effective, typeV.effective]).toEqual(['turbo4', 'turbo3']);

  const { kvK, kvV, devices } = await engine().estimate(tinyModel, { gpuLayers: -1 }, options);
  const memory = context.memory();
  expect([kvK, kvV]).toEqual([memory.parts.kvK, memory.parts.kvV]);
  const onDevice = (list: typeof devices) => list.find(({ kind }) => kind === 'gpu');
  expect(onDevice(devices)?.context).toBe(onDevice(memory.devices)?.context);
  // K and V of a layer as f16, which no scheduler counts: 2,048 cells, 2 heads of 128, 2 bytes, both sides
  expect(onDevice(devices)?.compute).toBeGreaterThan(2048 * 2 * 128 * 2 * 2);
  // twice the cells: so much more than with a cache in f16, of which there is no copy
  const growth = async (type: 'turbo4' | 'f16') => {
    const [small, large] = await Promise.all(
      [2048, 4096].map((nCtx) =>
        engine().estimate(tinyModel, { gpuLayers: -1 }, { ...options, nCtx, typeK: type, typeV: type }),
      ),
    );
    return (onDevice(large?.devices ?? [])?.compute ?? 0) - (onDevice(small?.devices ?? [])?.compute ?? 0);
  };
  expect((await growth('turbo4')) - (await growth('f16'))).toBe(2048 * 2 * 128 * 2 * 2);

  const { result } = await answer(context, question(), greedy({ maxTokens: 24 }));
  expect(result.text).toContain('77763886');
});

describe('a driver', () => {
  it('that ends the process is left out from the next start on, with the reason', () => {
    const folder = temporaryFolder();
    const library = path.join(folder, 'libbroken.so');
    const source = path.join(root, 'test', 'vulkan', 'broken-driver.c');
    expect(spawnSync('cc', ['-shared', '-fPIC', '-o', library, source]).status).toBe(0);
    const manifest = path.join(folder, 'broken.json');
    const icd = { library_path: library, api_version: '1.3.0' };
    fs.writeFileSync(manifest, JSON.stringify({ file_format_version: '1.0.0', ICD: icd }));
    const broken = { VK_DRIVER_FILES: manifest, VK_ICD_FILENAMES: manifest };

    expect(start(folder, broken)).toMatchObject({ signal: 'SIGABRT', found: null });
    const again = start(folder, broken);
    expect(again.found.gpus).toEqual([]);
    expect(again.found.warnings).toEqual([
      expect.stringMatching(/^Vulkan is not used: the engine ended while it was tried/),
    ]);
  });

  it('that is not there leaves the CPU, and nothing to warn of', () => {
    const none = { VK_DRIVER_FILES: '/none.json', VK_ICD_FILENAMES: '/none.json' };
    expect(start(temporaryFolder(), none).found).toEqual({ gpus: [], warnings: [] });
  });

  it('is not asked for where the library is not there: the same build runs on the CPU', () => {
    const { found, stderr } = start(temporaryFolder(), withoutLibrary(temporaryFolder()));
    expect(found).toEqual({ gpus: [], warnings: [] });
    expect(stderr.split('\n').filter((line) => /vulkan/i.test(line))).toEqual([
      'There is no Vulkan library (libvulkan.so.1) here: no GPU is used through Vulkan.',
    ]);
  });

  it('is tested once', () => {
    const { folder, ...first } = surviving(() => {
      const fresh = temporaryFolder();
      return { folder: fresh, ...start(fresh) };
    });
    expect(first.found.warnings).toEqual([]);
    const file = path.join(folder, 'vulkan-self-test.txt');
    const kept = fs.readFileSync(file, 'utf8');
    expect(kept.match(/^passed\t/gm)).toHaveLength(5);
    expect(start(folder).found).toEqual(first.found);
    expect(fs.readFileSync(file, 'utf8').replace(kept, '')).toMatch(/^testing\tstart\t\d+\npassed\tstart\n$/);
  });
});
