/** Loading: progress, cancel, what a header says, and every way in which a file or an option can be wrong. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { capabilitiesSchema } from '@/electron/contract/engine';
import { ConcertinaError } from '@/electron/contract/errors';
import { modelInfoSchema } from '@/electron/contract/models';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { writeGguf } from '../gguf';
import {
  contextOptions,
  engine,
  engineServer,
  loadTiny,
  noCalibration,
  refusal,
  request,
  temporaryFolder,
  tinyContext,
  tinyModel,
} from '../support';

describe('capabilities', () => {
  it('follows the contract and names the turbo types', () => {
    const capabilities = capabilitiesSchema.parse(engine().capabilities());
    expect(capabilities.cacheTypes).toEqual(
      expect.arrayContaining(['f16', 'q8_0', 'turbo4', 'turbo3', 'turbo4_tcq', 'turbo3_tcq']),
    );
    expect(capabilities.upstream).toMatch(/^v0\.5\.0 [0-9a-f]{40}$/);
    expect(capabilities.physicalCores).toBeGreaterThan(0);
    expect(capabilities.warnings).toEqual([]);
  });
});

describe('selfTest', () => {
  it('ends, and disables nothing where there is no GPU of ours', async () => {
    if (engine().capabilities().backend !== 'CPU') return;
    const folder = temporaryFolder();
    await engine().selfTest(folder);
    // Vulkan keeps that it started, also where it found no GPU
    expect(fs.readdirSync(folder).filter((name) => name !== 'vulkan-self-test.txt')).toEqual([]);
    expect(engine().capabilities().warnings).toEqual([]);
  });
});

describe('inspect', () => {
  it('reads the header of a real model', async () => {
    expect(modelInfoSchema.parse(await engine().inspect(tinyModel))).toMatchObject({
      architecture: 'qwen3',
      fileBytes: fs.statSync(tinyModel).size,
      quantization: 'Q8_0',
      ...{ layers: 8, headCount: 6, headCountKv: 2, headDimK: 128, headDimV: 128 },
      ...{ nCtxTrain: 8192, vocabSize: 8192, hasChatTemplate: true, hasKBias: false },
    });
  });

  it('sees a bias on K', async () => {
    const file = path.join(temporaryFolder(), 'bias.gguf');
    writeGguf(file, { 'general.architecture': 'qwen2' }, [{ name: 'blk.0.attn_k.bias', shape: [4] }], 16);
    expect(await engine().inspect(file)).toMatchObject({ hasKBias: true, name: 'bias', parameters: 4 });
  });
});

describe('loadModel', () => {
  it('reports progress up to 1', async () => {
    const seen: number[] = [];
    const model = await engine().loadModel(tinyModel, { gpuLayers: 0, onProgress: (fraction) => seen.push(fraction) });
    await model.dispose();
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.at(-1)).toBe(1);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  it('stops when the signal says so', async () => {
    const error = await refusal(engine().loadModel(tinyModel, { gpuLayers: 0, signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ code: 'cancelled' });
  });
});

describe('bad files', () => {
  const full = () => fs.readFileSync(tinyModel);
  const llama = { 'general.architecture': 'llama' };
  const removed = (type: number) => ({ name: 'token_embd.weight', shape: [128, 4], type });
  const cases: [what: string, code: string, write: (file: string) => void, said?: string][] = [
    ['a missing file', 'model-missing', () => {}],
    ['a folder', 'model-invalid', (file) => fs.mkdirSync(file)],
    ['an empty file', 'model-invalid', (file) => fs.writeFileSync(file, '')],
    ['a text file', 'model-invalid', (file) => fs.writeFileSync(file, 'Dear reader, this is no model.\n'.repeat(50))],
    ['a file cut in its header', 'model-invalid', (file) => fs.writeFileSync(file, full().subarray(0, 5000))],
    [
      'a file cut in its weights',
      'model-invalid',
      (file) => fs.writeFileSync(file, full().subarray(0, 20_000_000)),
      'truncated',
    ],
    ['a file cut by one byte', 'model-invalid', (file) => fs.writeFileSync(file, full().subarray(0, -1))],
    [
      'a header of noise',
      'model-invalid',
      (file) => fs.writeFileSync(file, Buffer.concat([Buffer.from('GGUF'), Buffer.alloc(4096, 0xa5)])),
    ],
    ['no architecture', 'model-invalid', (file) => writeGguf(file, { 'general.name': 'x' }, [], 0)],
    [
      'a quantisation that llama.cpp removed',
      'model-unsupported',
      (file) => writeGguf(file, llama, [removed(31)], 4096),
    ],
    ['one whose id is a cache type now', 'model-unsupported', (file) => writeGguf(file, llama, [removed(33)], 4096)],
  ];

  it.each(cases)('%s is refused with %s', async (_, code, write, said = '') => {
    const file = path.join(temporaryFolder(), 'model.gguf');
    write(file);
    const inspected = await refusal(engine().inspect(file));
    expect(inspected).toBeInstanceOf(ConcertinaError);
    const message = expect.stringContaining(file);
    expect(inspected).toMatchObject({ code, message, hint: expect.stringMatching(/\w/) });
    expect((inspected as Error).message).toContain(said);
    expect(await refusal(engine().loadModel(file, { gpuLayers: 0 }))).toMatchObject({ code });
    expect(await refusal(engine().estimate(file, { gpuLayers: 0 }, contextOptions()))).toMatchObject({ code });
  });

  it.each([
    ['abacus', 'model-unsupported', 'abacus'],
    ['llama', 'model-invalid', 'llama.'],
  ])('names an unknown architecture, or what a known one lacks: %s', async (architecture, code, said) => {
    const file = path.join(temporaryFolder(), 'model.gguf');
    writeGguf(file, { 'general.architecture': architecture }, [{ name: 'token_embd.weight', shape: [8, 4] }], 128);
    const error = await refusal(engine().loadModel(file, { gpuLayers: 0 }));
    expect(error).toMatchObject({ code, message: expect.stringContaining(said) });
  });
});

describe('createContext', () => {
  const cases: [string, string, Parameters<typeof contextOptions>[0]][] = [
    ['no tokens', 'context-invalid', { nCtx: 0 }],
    ['a negative size', 'context-invalid', { nCtx: -512 }],
    ['half a token', 'context-invalid', { nCtx: 512.5 }],
    ['no number', 'context-invalid', { nCtx: Number.NaN }],
    ['more than any model', 'context-invalid', { nCtx: 2 ** 40 }],
    ['an unknown K type', 'cache-type-unsupported', { typeK: 'turbo9' }],
    ['an unknown V type', 'cache-type-unsupported', { typeV: 'q6_K' }],
    ['quantised V without flash attention', 'cache-type-unsupported', { typeV: 'q8_0', flashAttention: 'off' }],
  ];

  it('refuses what is not possible, and works after that', async () => {
    const model = await loadTiny();
    for (const [name, code, changes] of cases) {
      const error = await refusal(model.createContext(contextOptions(changes)));
      expect(error, name).toMatchObject({ code, hint: expect.stringMatching(/\w/) });
    }
    const context = await model.createContext(contextOptions({ threads: 0 }));
    expect(context.effective).toMatchObject({ nCtx: 2048, gpuLayers: 0, layers: 9, batch: 512, notes: [] });
    expect(context.effective.threads).toBe(engine().capabilities().physicalCores);
  });

  it('names the kernels of attention and what chose them', async () => {
    const { simd, backend } = engine().capabilities();
    if (backend !== 'CPU') return; // metal.test.ts
    const model = await loadTiny();
    const kernels = async () => (await model.createContext(contextOptions())).effective.kernels;
    const use = { backend: 'CPU', from: 0, name: `cpu-${simd}` };
    const { CONCERTINA_SIMD: asked } = process.env;
    onTestFinished(() => {
      if (asked === undefined) delete process.env.CONCERTINA_SIMD;
      else process.env.CONCERTINA_SIMD = asked;
    });
    delete process.env.CONCERTINA_SIMD;
    expect(await kernels()).toEqual([{ ...use, why: 'the best of this processor' }]);
    // on Windows the addon's C library has the environment as it was when the process started
    if (process.platform === 'win32') return;
    process.env.CONCERTINA_SIMD = simd;
    expect(await kernels()).toEqual([{ ...use, why: `CONCERTINA_SIMD=${simd}` }]);
  });

  it('reports where layers lie and where attention runs, with flash attention and without', async () => {
    const { backend, device } = engine().capabilities();
    if (backend !== 'CPU') return;
    const model = await engine().loadModel(tinyModel, { gpuLayers: 5 });
    onTestFinished(() => model.dispose());
    const attention = [{ backend: 'CPU', device, layerBackend: 'CPU', window: false, layers: 8 }];
    for (const flashAttention of ['on', 'off'] as const) {
      const { effective } = await model.createContext(contextOptions({ flashAttention }));
      expect(effective).toMatchObject({ gpuLayersAsked: 5, gpuLayers: 0, layers: 9, attention });
      expect(effective).toMatchObject({ flashAttentionAsked: flashAttention, chatTemplate: '' });
    }
  });

  it('names the SIMD levels of the processor and of the build', () => {
    const { simd, simdBest, simdWeights, simdAsked, gpus, gpuBackends, backend } = engine().capabilities();
    const ranks = ['scalar', 'neon', 'avx2', 'avx512'];
    expect(ranks).toEqual(expect.arrayContaining([simd, simdBest, simdWeights]));
    expect(ranks.indexOf(simd)).toBeLessThanOrEqual(ranks.indexOf(simdBest));
    if (!simdAsked) expect(simd).toBe(simdBest);
    if (backend === 'CPU') {
      expect(gpus).toEqual([]);
      expect(['', 'Vulkan']).toContain(gpuBackends.join());
    } else expect(gpus).not.toEqual([]);
  });

  it('falls back visibly where turbo cannot work', async () => {
    const { context } = await tinyContext({ typeV: 'turbo4', flashAttention: 'off' });
    expect(context.effective.typeV).toMatchObject({
      asked: 'turbo4',
      effective: 'f16',
      reason: expect.stringMatching(/\w/),
    });
    expect(context.effective.flashAttention).toBe(false);
  });

  it('rounds up and cuts down, and reports what was requested', async () => {
    const model = await loadTiny();
    const small = await model.createContext(contextOptions({ nCtx: 1000 }));
    expect(small.effective).toMatchObject({ nCtx: 1024, nCtxAsked: 1000, nCtxTrained: 8192 });
    const large = await model.createContext(contextOptions({ nCtx: 100_000, typeK: 'turbo3', typeV: 'turbo3' }));
    expect(large.effective).toMatchObject({ nCtx: 8192, nCtxAsked: 100_000, nCtxTrained: 8192 });
    expect(large.effective).toMatchObject({ rope: { kind: 'model', factor: 1 }, notes: [] });
  });
});

describe('a load that is refused beforehand', () => {
  it('leaves the model in use as it is, with what its cache holds', async () => {
    const { handlers } = engineServer();
    const context = contextSettingsSchema.parse({ nCtx: 1024, threads: 1, gpuLayers: 0 });
    const ask = () => handlers.generate(request({ messages: [{ role: 'user', content: 'Name three colors.' }] }));
    await handlers.load({ path: tinyModel, context, calibration: noCalibration });
    const first = await ask();

    const cut = path.join(temporaryFolder(), 'cut.gguf');
    fs.writeFileSync(cut, fs.readFileSync(tinyModel).subarray(0, 20_000_000));
    const refused = await refusal(handlers.load({ path: cut, context, calibration: noCalibration }));
    expect(refused).toMatchObject({ code: 'model-invalid' });

    expect(await handlers.memory(undefined)).toMatchObject({
      memory: { weights: expect.any(Number) },
      contextUsed: first.stats.contextUsed,
    });
    const again = await ask();
    expect(again.stats.cachedTokens).toBeGreaterThan(0);
  });
});
