/** Measurements of a model: taken once, kept, taken again when they are damaged, and never in the way of a load. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { ensureCalibrated, positionsFor, tokensFor } from '@/electron/engine/calibration';
import type { CalibrateOptions, Model } from '@/electron/engine/native/types';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { temporaryFolder } from '@/test/fixtures/temporary';

const good = [1, 2, 3];
const done = { calibration: '', notes: [] };

/** refuses all bytes but `good`, as the addon refuses damaged ones */
function attach(bytes: Uint8Array | null): void {
  if (bytes && bytes.join() !== good.join()) throw new ConcertinaError('data-corrupt', 'damaged');
}

async function setUp(changes: Partial<Model> = {}) {
  const root = await temporaryFolder();
  const folder = join(root, 'data', 'calibrations');
  const textFile = join(root, 'text.txt');
  await writeFile(textFile, 'A text.');
  const fake = await createFakeEngine().loadModel('/m.gguf', { gpuLayers: 0 });
  const calibrate = vi.fn(async (_options: CalibrateOptions) => Uint8Array.from(good));
  const attachCalibration = vi.fn(attach);
  const model: Model = { ...fake, wantsCalibration: () => true, calibrate, attachCalibration, ...changes };
  const skip = new AbortController();
  const run = () =>
    ensureCalibrated(model, {
      places: { folder, textFile },
      options: contextSettingsSchema.parse({}),
      onProgress: () => undefined,
      skip: skip.signal,
    });
  return { folder, textFile, calibrate, attachCalibration, skip, run };
}

test('a model is measured once; later loads read the file', async () => {
  const { folder, calibrate, attachCalibration, run } = await setUp();
  expect(await run()).toEqual(done);
  const [file, ...others] = readdirSync(folder);
  expect(others).toEqual([]);
  expect([...readFileSync(join(folder, file ?? ''))]).toEqual(good);
  expect(await run()).toEqual(done);
  expect(calibrate).toHaveBeenCalledTimes(1);
  expect(calibrate.mock.calls[0]?.[0]).toMatchObject({ text: 'A text.' });
  const attached = attachCalibration.mock.calls.map(([bytes]) => bytes?.join());
  expect(attached).toEqual([undefined, '1,2,3', undefined, '1,2,3']);
});

test('a damaged file is replaced; another text is another file', async () => {
  const { folder, textFile, calibrate, run } = await setUp();
  await run();
  const file = join(folder, readdirSync(folder)[0] ?? '');
  writeFileSync(file, 'x');
  expect(await run()).toEqual(done);
  expect(calibrate).toHaveBeenCalledTimes(2);
  expect([...readFileSync(file)]).toEqual(good);
  await writeFile(textFile, 'Another text.');
  await run();
  expect(calibrate).toHaveBeenCalledTimes(3);
  expect(readdirSync(folder)).toHaveLength(2);
});

test('a context that would not be centred costs nothing', async () => {
  const { calibrate, attachCalibration, run } = await setUp({ wantsCalibration: () => false });
  expect(await run()).toEqual(done);
  expect(calibrate).not.toHaveBeenCalled();
  expect(attachCalibration.mock.calls).toEqual([[null]]);
});

test('skipping and failing leave the cache as it is and are reported', async () => {
  const failing = await setUp({ calibrate: () => Promise.reject(new Error('no such layer')) });
  expect(await failing.run()).toEqual({ calibration: 'no such layer.', notes: [] });
  expect(() => readdirSync(failing.folder)).toThrow();
  const skipped = await setUp({
    calibrate: ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(new ConcertinaError('cancelled', 'Cancelled.')));
        skipped.skip.abort();
      }),
  });
  expect(await skipped.run()).toEqual({ calibration: 'Measuring the model was skipped.', notes: [] });
});

test('a folder that cannot be written is reported, and the measurements are used', async () => {
  const { folder, attachCalibration, run } = await setUp();
  await mkdir(join(folder, '..'), { recursive: true });
  writeFileSync(folder, 'a file in the place of the folder');
  expect(await run()).toEqual({ calibration: '', notes: [expect.stringContaining('could not be kept')] });
  expect(attachCalibration.mock.lastCall?.[0]?.join()).toBe('1,2,3');
});

test('large models read less text; contexts of about one length share a measurement', () => {
  expect([28e6, 2e9, 70e9].map(tokensFor)).toEqual([1024, 500, 192]);
  expect([1, 512, 8000, 8192, 8193].map(positionsFor)).toEqual([512, 512, 8192, 8192, 16384]);
});
