/** A budget in place of cache types, on a real model: what it becomes, what it takes, what belongs to it, and what is refused. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LoadRequest } from '@/electron/contract/engineContract';
import type { ConcertinaError } from '@/electron/contract/errors';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { createInspectorHandlers } from '@/electron/engine/server';
import {
  answer,
  calibrationText,
  contextOptions,
  engine,
  engineServer,
  loadTiny,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';

const refused = async (work: Promise<unknown>) => (await refusal(work)) as ConcertinaError;
const layers = 8;
/** of both sides, in bytes */
const bytesOf = (of: { cacheLayers: { bytesK: number; bytesV: number }[] }) =>
  of.cacheLayers.reduce((sum, { bytesK, bytesV }) => sum + bytesK + bytesV, 0);

/** K of layers 0 to 3 and V of the others one step finer. */
const half = (first: string, rest: string) => Array.from({ length: layers }, (_, i) => (i < layers / 2 ? first : rest));
const listed = {
  typeK: `auto:3.75=${half('turbo4', 'turbo3').join()}`,
  typeV: `auto:3.75=${half('turbo3', 'turbo4').join()}`,
};

describe('a list of types', () => {
  it('is what the layers get, takes what a dry run says, and answers', async () => {
    const model = await loadTiny();
    const options = contextOptions(listed);
    const context = await model.createContext(options);
    const { cacheLayers, typeK, typeV, centring } = context.effective;
    expect(cacheLayers.map((layer) => layer.typeK)).toEqual(half('turbo4', 'turbo3'));
    expect(cacheLayers.map((layer) => layer.typeV)).toEqual(half('turbo3', 'turbo4'));
    expect(typeK).toEqual({ asked: 'auto:3.75', effective: 'auto:3.75', reason: '' });
    expect(typeV).toEqual(typeK);
    expect(centring.reasonK).toContain('calibrated');
    const estimate = await engine().estimate(tinyModel, { gpuLayers: 0 }, options);
    expect(estimate.cacheLayers).toEqual(cacheLayers);
    const { kvK, kvV, kvF16 } = context.memory().parts;
    expect(bytesOf(estimate)).toBe(kvK + kvV);
    expect(estimate.kvK).toBe(kvK);
    expect((16 * (kvK + kvV)) / kvF16).toBeCloseTo(3.75);
    const { result } = await answer(context, question());
    expect(result.text).toContain('77763886');
  });

  it.each([
    ['flash attention', { flashAttention: 'off' as const }, /flash attention is off/],
    ['a number of types', { typeV: 'auto:3.75=turbo3,turbo4' }, /2 types were named, and 8 layers have a cache/],
    ['an unknown type', { typeK: 'auto:3.75=turbo9' }, /no cache type "turbo9"/],
  ])('is refused for %s', async (_, changes, message) => {
    const model = await loadTiny();
    const error = await refused(model.createContext(contextOptions({ ...listed, ...changes })));
    expect(error.code).toBe('cache-type-unsupported');
    expect(error.message).toMatch(message);
  });

  it('goes with a saved session, and another list is refused with the layer that differs', async () => {
    const model = await loadTiny();
    const file = path.join(temporaryFolder(), 'session');
    const first = await model.createContext(contextOptions(listed));
    const { result } = await answer(first, question());
    await first.saveSession(file);
    await first.dispose();

    const again = await model.createContext(contextOptions({ ...listed, typeK: listed.typeK.replace('3.75', '4') }));
    expect(await again.loadSession(file)).toBe(result.contextUsed);
    await again.dispose();

    const typeV = `auto:3.75=${half('turbo4', 'turbo3').join()}`;
    const other = await model.createContext(contextOptions({ ...listed, typeV }));
    const error = await refused(other.loadSession(file));
    expect(error.code).toBe('data-corrupt');
    expect(error.message).toContain('layers');
    await other.dispose();
    const plain = await model.createContext(contextOptions({ typeK: 'turbo4', typeV: 'turbo4' }));
    expect((await refused(plain.loadSession(file))).message).toContain('"K auto", here is "K turbo4"');
  });
});

describe('a budget', () => {
  /** a short text: this is about where the measurements go, not about how good they are */
  const places = () => {
    const textFile = path.join(temporaryFolder(), 'text.txt');
    fs.writeFileSync(textFile, fs.readFileSync(calibrationText, 'utf8').slice(0, 4000));
    return { folder: temporaryFolder(), textFile };
  };
  const request = (budget: `auto:${string}`, calibration = places()): LoadRequest => ({
    path: tinyModel,
    calibration,
    context: contextSettingsSchema.parse({
      ...{ nCtx: 1024, typeK: budget, typeV: budget, threads: 2, gpuLayers: 0, recentTokens: 0 },
    }),
  });

  it('is measured once, spent by price, holds, and is kept beside the calibration', async () => {
    const steps: string[] = [];
    const { handlers } = engineServer({ loadProgress: (step) => void steps.push(step) });
    const asked = request('auto:3.5');
    const { context, memory } = await handlers.load(asked);
    expect(context.typeK).toEqual({ asked: 'auto:3.5', effective: 'auto:3.5', reason: '' });
    expect(context.centring).toMatchObject({ k: true, v: true, blocks: true });
    expect(context.notes).toEqual([]);
    const types = context.cacheLayers.flatMap(({ typeK, typeV }) => [typeK, typeV]);
    // 3.5 bits: of sixteen sides four are a bit larger than turbo3
    expect(types.filter((type) => type === 'turbo4')).toHaveLength(4);
    expect(types.filter((type) => type === 'turbo3')).toHaveLength(12);
    expect((16 * (memory.kvK + memory.kvV)) / memory.kvF16).toBeLessThanOrEqual(3.5);
    const [prices] = fs.readdirSync(asked.calibration.folder).filter((name) => name.endsWith('.prices'));
    expect(prices).toBeDefined();
    // from now on a dry run says it to the byte
    const fit = await createInspectorHandlers(engine).fit({
      ...{ path: tinyModel, context: asked.context, measurements: asked.calibration.folder },
    });
    expect(fit.estimate.cacheLayers).toEqual(context.cacheLayers);

    const measured = steps.filter((step) => step === 'calibration').length;
    const again = await handlers.load(request('auto:3.5', asked.calibration));
    expect(again.context.cacheLayers).toEqual(context.cacheLayers);
    expect(steps.filter((step) => step === 'calibration')).toHaveLength(measured);
  });

  it('that is too small is refused before anything is measured, with the least that is possible', async () => {
    const { handlers } = engineServer();
    const small = request('auto:3');
    const error = await refused(handlers.load(small));
    expect(error.code).toBe('context-invalid');
    expect(error.message).toMatch(/auto:3\b.*3\.25 bits/);
    expect(fs.readdirSync(small.calibration.folder)).toEqual([]);
  });
});
