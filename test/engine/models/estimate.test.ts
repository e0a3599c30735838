/** The estimate against what is really allocated, over shapes of known models: KV to the byte, all together within 10 %. */
import fs from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ContextOptions, Model } from '@/electron/engine/native/types';
import { zeroCalibration } from '../calibrationBytes';
import { type Shape, writeShape } from '../shapeParts';
import { shapeOf, shapes } from '../shapes';
import {
  calibrationText,
  collectGarbage,
  contextOptions,
  engine,
  loadTiny,
  temporaryFolder,
  tinyModel,
} from '../support';

const pairs = [
  ['f16', 'f16'],
  ['q8_0', 'q8_0'],
  ['q4_0', 'q4_0'],
  ['turbo4', 'turbo4'],
  ['turbo3', 'turbo3'],
  ['q8_0', 'turbo3'],
] as const;
const lengths = [512, 4096];
/** once: every byte of a cache is written when it is made, and its size is in proportion to its length */
const longer: Partial<Record<string, number[]>> = { 'f16/f16': [32_768], 'q8_0/turbo3': [16_384] };

async function load(shape: Shape): Promise<{ file: string; model: Model }> {
  const file = writeShape(temporaryFolder(), shape);
  const model = await engine().loadModel(file, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  return { file, model };
}

async function allocated(model: Model, options: ContextOptions) {
  const context = await model.createContext(options);
  const { effective } = context;
  const { weights, kvK, kvV, kvF16, compute } = context.memory().parts;
  await context.dispose();
  return { kvK, kvV, kvF16, types: [effective.typeK, effective.typeV], nCtx: effective.nCtx, rest: weights + compute };
}

async function estimated(file: string, options: ContextOptions) {
  const { kvK, kvV, kvF16, typeK, typeV, nCtx, weights, compute } = await engine().estimate(
    file,
    { gpuLayers: 0 },
    options,
  );
  return { kvK, kvV, kvF16, types: [typeK, typeV], nCtx, rest: weights + compute };
}

const codeOf = (error: unknown) => ({ refused: (error as { code?: string }).code ?? String(error) });

describe('estimate and allocation agree', () => {
  it.each(shapes.map((shape) => [shape.name, shape] as const))('%s', async (_, shape) => {
    const { file, model } = await load(shape);
    // an estimate is of a model that will have been measured, without which keys with a bias are not turbo
    const { hasKBias, headCount, headDimK } = model.info;
    if (hasKBias) model.attachCalibration(zeroCalibration(model.info));
    // whose graph holds the queries of a batch once more, of which the estimate, without measurements, knows nothing
    const centring = hasKBias ? 4 * 512 * headCount * headDimK : 0;
    for (const [typeK, typeV] of pairs) {
      for (const nCtx of [...lengths, ...(longer[`${typeK}/${typeV}`] ?? [])]) {
        const options = contextOptions({ nCtx, typeK, typeV });
        const name = `${typeK}/${typeV} ${nCtx}`;
        const real = await allocated(model, options).catch(codeOf);
        const dry = await estimated(file, options).catch(codeOf);
        if ('refused' in real || 'refused' in dry) {
          expect(dry, name).toEqual(real);
          expect(real, name).toEqual({ refused: 'cache-type-unsupported' });
          continue;
        }
        const { rest, ...exact } = real;
        const { rest: estimatedRest, ...estimatedExact } = dry;
        expect(estimatedExact, name).toEqual(exact);
        const total = rest + exact.kvK + exact.kvV;
        expect(Math.abs(estimatedRest - rest), name).toBeLessThan(0.1 * total + centring);
      }
    }
  });
});

describe('beside the shapes', () => {
  it('a context whose caches are centred takes what is estimated without measurements', async () => {
    const model = await loadTiny();
    const text = fs.readFileSync(calibrationText, 'utf8');
    model.attachCalibration(await model.calibrate({ text, maxTokens: 256, positions: 512, threads: 1 }));
    const options = contextOptions({ nCtx: 8192, typeK: 'turbo4', typeV: 'turbo3' });
    const context = await model.createContext(options);
    expect(context.effective.centring).toMatchObject({ k: true, v: true });
    const real = context.memory().parts;
    const dry = await engine().estimate(tinyModel, { gpuLayers: 0 }, options);
    expect([dry.kvK, dry.kvV]).toEqual([real.kvK, real.kvV]);
    const total = real.weights + real.kvK + real.kvV + real.compute;
    expect(Math.abs(dry.weights + dry.compute - real.weights - real.compute) / total).toBeLessThan(0.1);
  });

  it.runIf(process.platform === 'linux')('the cache is what the system counts, too', async () => {
    const anonymous = () => {
      collectGarbage();
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
    };
    const { file, model } = await load(shapeOf('llama-3.1-8b'));
    // half a GiB, beside which what this process itself takes and gives back is little
    const options = contextOptions({ nCtx: 65_536 });
    const before = anonymous();
    const context = await model.createContext(options);
    const { kvK, kvV } = await engine().estimate(file, { gpuLayers: 0 }, options);
    const taken = anonymous() - before;
    await context.dispose();
    // buffers of the computation are not touched before the first token
    expect(taken / (kvK + kvV)).toBeGreaterThan(0.95);
    expect(taken / (kvK + kvV)).toBeLessThan(1.1);
    expect(anonymous() - before).toBeLessThan(0.1 * taken);
  });
});
