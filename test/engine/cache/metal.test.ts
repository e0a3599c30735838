/** The turbo caches on a Mac's GPU, beside the CPU's. Skipped elsewhere. */
import fs from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Context } from '@/electron/engine/native/types';
import { contextOptions, engine, filler, loadTiny, temporaryFolder, tinyModel } from '../support';

const { backend, chipFamily } = engine().capabilities();
/** The virtual GPU of hosted runners is of an older family: there the kernels are compiled only. */
const isMetal = backend === 'Metal' && Number(chipFamily?.replace('Apple', '')) >= 7;
if (backend === 'Metal' && !isMetal) console.log(`Metal kernels are not run: chip family ${chipFamily}`);

describe.skipIf(!isMetal)('Metal', () => {
  it('passes its self-test, and keeps the outcome', async () => {
    const folder = temporaryFolder();
    await engine().selfTest(folder);
    expect(engine().capabilities().warnings).toEqual([]);
    const lines = fs.readFileSync(`${folder}/metal-self-test.txt`, 'utf8');
    expect(lines).toMatch(/^passed\tkernel_turbo_attention_dk128_dv128_q1 /m);
    await engine().selfTest(folder);
    expect(fs.readFileSync(`${folder}/metal-self-test.txt`, 'utf8')).toBe(lines);
  });

  // few rows at once take our kernels, many take upstream's on expanded K and V
  it.each([
    ['turbo4', 'turbo4', 8],
    ['turbo4', 'turbo4', 512],
    ['turbo3', 'turbo3', 8],
    ['q8_0', 'turbo4', 8],
  ])('predicts with K %s, V %s in batches of %i what the CPU predicts with them', async (typeK, typeV, batch) => {
    const options = contextOptions({ nCtx: 512, typeK, typeV, batch });
    const onCpu = await (await loadTiny()).createContext(options);
    const model = await engine().loadModel(tinyModel, { gpuLayers: -1 });
    onTestFinished(() => model.dispose());
    const onGpu = await model.createContext(options);
    expect(onGpu.effective.gpuLayers).toBeGreaterThan(0);
    expect(onGpu.effective.notes).toEqual([]);
    expect(onGpu.effective.kernels[0]).toMatchObject({
      backend: 'Metal',
      from: 0,
      name: expect.stringMatching(/table/),
    });
    const tokens = model.tokenize(filler(400)).slice(0, 400);
    const perplexity = async (context: Context) => (await context.evaluate(tokens)).perplexity;
    expect((await perplexity(onGpu)) / (await perplexity(onCpu))).toBeCloseTo(1, 2);
  });
});
