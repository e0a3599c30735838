/** Calibration and centring on a real model: what it brings, and what belongs to it. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contextSettingsSchema } from '@/electron/contract/settings';
import type { CalibrateOptions } from '@/electron/engine/native/types';
import { f16Weights } from '../../bench/quality/weights.mjs';
import { withNaN } from '../calibrationBytes';
import { writeForRope, writeWithKBias } from '../rewritten';
import {
  answer,
  calibrationText,
  contextOptions,
  engine,
  engineServer,
  heldOut,
  loadTiny,
  needles,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';

const text = fs.readFileSync(calibrationText, 'utf8');
const options = (changes: Partial<CalibrateOptions> = {}): CalibrateOptions => ({
  text,
  maxTokens: 1024,
  positions: 512,
  threads: 1,
  ...changes,
});

describe('a K projection with a bias', () => {
  it('gets turbo K once the model is calibrated, hardly worse than what centring by single positions leaves', async () => {
    const folder = temporaryFolder();
    const exactWeights = await f16Weights(tinyModel, { folder, threads: 1 });
    const file = writeWithKBias(exactWeights, path.join(folder, 'model.gguf'), 1, 'all');
    const nCtx = 512;
    const turbo = contextOptions({ nCtx, typeK: 'turbo4' });
    const model = await engine().loadModel(file, { gpuLayers: 0 });
    onTestFinished(() => model.dispose());
    expect(model.info.hasKBias).toBe(true);

    const before = await model.createContext(turbo);
    const reason = expect.stringContaining('until the model is calibrated');
    expect(before.effective.typeK).toEqual({ asked: 'turbo4', effective: 'q8_0', reason });
    // an estimate is of a model that will have been
    const { kvK } = await engine().estimate(file, { gpuLayers: 0 }, turbo);
    expect(kvK).toBe((before.memory().parts.kvK * 4.25) / 8.5);
    expect(model.wantsCalibration(turbo)).toBe(true);
    expect(model.wantsCalibration({ ...turbo, typeK: 'q8_0' })).toBe(false);
    const flashless = { ...turbo, flashAttention: 'off' } as const;
    expect(model.wantsCalibration(flashless)).toBe(false);

    const calibrated = async (block?: number) => {
      model.attachCalibration(await model.calibrate(options({ maxTokens: 512, ...(block && { block }) })));
      const context = await model.createContext(turbo);
      expect(context.effective.typeK).toEqual({ asked: 'turbo4', effective: 'turbo4', reason: '' });
      expect(context.effective.centring).toMatchObject({ k: true, blocks: true, reasonK: '' });
      return context;
    };
    const contexts = [await calibrated(1), await calibrated()];
    expect(contexts[0]?.memory().parts.kvK).toBe(kvK);
    expect((await model.createContext(flashless)).effective.typeK).toMatchObject({ effective: 'q8_0' });
    const reference = await model.createContext(contextOptions({ nCtx }));
    const { results } = await reference.compare(contexts, model.tokenize(heldOut()).slice(0, 2 * nCtx), {
      chunk: nCtx,
    });
    const [exact, chosen] = results.map(({ meanKld }) => meanKld as number) as [number, number];
    expect(chosen).toBeLessThan(1.5 * exact);
  });
});

describe('centring', () => {
  it.each(['turbo4', 'turbo3'])('makes %s more exact at 512 tokens', async (type) => {
    const model = await loadTiny();
    const depth = 512;
    // other text than the calibration's
    const prompts = needles().map(({ prompt }) => prompt);
    const tokens = model.tokenize(prompts.slice(0, 4).join('\n\n')).slice(0, 2 * depth);
    const f16 = await model.createContext(contextOptions({ nCtx: depth }));
    const measure = async () => {
      const context = await model.createContext(contextOptions({ nCtx: depth, typeK: type, typeV: type }));
      const { meanKld } = await context.evaluate(tokens, f16);
      const { centring } = context.effective;
      await context.dispose();
      return { kld: meanKld as number, centring };
    };
    const plain = await measure();
    expect(plain.centring).toMatchObject({ k: false, v: false });
    expect(plain.centring.reasonK).toContain('calibrated');
    model.attachCalibration(await model.calibrate(options()));
    const centred = await measure();
    expect(centred.centring).toEqual({ k: true, v: true, reasonK: '', reasonV: '', blocks: true, reasonBlocks: '' });
    // with one constant for all positions instead of one that turns 0.8; without the constants in the right places it is above 1
    expect(centred.kld).toBeLessThan(0.75 * plain.kld);
  });

  it.each(['turbo4', 'turbo3'])('%s_tcq is more exact than %s, centred, in the same bytes', async (type) => {
    const model = await loadTiny();
    const nCtx = 512;
    const prompts = needles().map(({ prompt }) => prompt);
    const tokens = model.tokenize(prompts.slice(0, 4).join('\n\n')).slice(0, 2 * nCtx);
    const f16 = await model.createContext(contextOptions({ nCtx }));
    model.attachCalibration(await model.calibrate(options()));
    const measure = async (name: string) => {
      const context = await model.createContext(contextOptions({ nCtx, typeK: name, typeV: name }));
      const { meanKld } = await context.evaluate(tokens, f16);
      const { kvK, kvV } = context.memory().parts;
      await context.dispose();
      return { kld: meanKld as number, bytes: kvK + kvV };
    };
    const plain = await measure(type);
    const trellis = await measure(`${type}_tcq`);
    expect(trellis.bytes).toBe(plain.bytes);
    // the error of its values is 0.8 of that
    expect(trellis.kld).toBeLessThan(0.95 * plain.kld);
  });

  // 256 tokens: what the app reads of a model of 4 B parameters
  it.each([
    { kind: 'that turns by one position', mRope: false },
    { kind: 'with M-RoPE, whose cache cannot shift', mRope: true },
  ])('does no harm with the calibration of a large model $kind, for long contexts', async ({ mRope }) => {
    const file = writeForRope(tinyModel, path.join(temporaryFolder(), 'model.gguf'), 131072, mRope ? 'm-rope' : 'neox');
    const model = await engine().loadModel(file, { gpuLayers: 0 });
    onTestFinished(() => model.dispose());

    const nCtx = 2048;
    const turbo = contextOptions({ nCtx, typeK: 'turbo4', typeV: 'turbo4' });
    const reference = await model.createContext(contextOptions({ nCtx }));
    const contexts = [await model.createContext(turbo)];
    for (const positions of [32768, 131072]) {
      model.attachCalibration(await model.calibrate(options({ maxTokens: 256, positions })));
      const context = await model.createContext(turbo);
      expect(context.effective.centring).toMatchObject({ k: true, v: true });
      contexts.push(context);
    }
    const { klds } = await reference.compare(contexts, model.tokenize(heldOut()).slice(0, nCtx), { chunk: nCtx });
    const [plain, ...centred] = klds as [Float32Array, ...Float32Array[]];
    // measured: 0.57 to 0.66 of it; with the constants of four places among those positions more than all of it
    for (const of of centred) {
      const changes = Array.from(of, (kld, i) => kld - (plain[i] ?? Number.NaN));
      expect(changes.reduce((sum, change) => sum + change, 0)).toBeLessThan(0);
    }
  });

  it('is had by a model all of whose layers have windows, whose RoPE turns half of the channels', async () => {
    const file = writeForRope(tinyModel, path.join(temporaryFolder(), 'model.gguf'), 8192, 'partial');
    const model = await engine().loadModel(file, { gpuLayers: 0 });
    onTestFinished(() => model.dispose());
    const turbo = contextOptions({ nCtx: 512, typeK: 'turbo4', typeV: 'turbo4' });
    const reference = await model.createContext(contextOptions({ nCtx: 512 }));
    const plain = await model.createContext(turbo);
    model.attachCalibration(await model.calibrate(options({ maxTokens: 512 })));
    const centred = await model.createContext(turbo);
    expect(centred.effective.centring).toMatchObject({ k: true, v: true, blocks: true });
    const tokens = model.tokenize(heldOut()).slice(0, 1024);
    const { results } = await reference.compare([plain, centred], tokens, { chunk: 512 });
    const [without, withIt] = results.map(({ meanKld }) => meanKld as number) as [number, number];
    expect(withIt).toBeLessThan(without);
  });

  it('gives the same bytes for the same text, and reports its progress', async () => {
    const model = await loadTiny();
    const fractions: number[] = [];
    const bytes = await model.calibrate(
      options({ maxTokens: 300, onProgress: (fraction) => fractions.push(fraction) }),
    );
    expect(await model.calibrate(options({ maxTokens: 300 }))).toEqual(bytes);
    expect(await model.calibrate(options({ maxTokens: 200 }))).not.toEqual(bytes);
    expect(fractions.at(-1)).toBe(1);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
  });

  it('can be canceled, and by dispose', async () => {
    const model = await loadTiny();
    const abort = new AbortController();
    const stopped = model.calibrate(options({ signal: abort.signal, onProgress: () => abort.abort() }));
    expect(await refusal(stopped)).toMatchObject({ code: 'cancelled' });
    const closed = refusal(model.calibrate(options()));
    await model.dispose();
    expect(await closed).toMatchObject({ code: 'cancelled' });
  });

  it('refuses damaged measurements', async () => {
    const model = await loadTiny();
    const bytes = await model.calibrate(options({ maxTokens: 64 }));
    const damaged = Uint8Array.from(bytes);
    damaged[1000] = (damaged[1000] ?? 0) ^ 1;
    for (const bad of [damaged, bytes.slice(0, -4), new Uint8Array(100)]) {
      expect(() => model.attachCalibration(bad)).toThrowError(expect.objectContaining({ code: 'data-corrupt' }));
    }
  });

  it('refuses a saved session that was made with other constants', async () => {
    const model = await loadTiny();
    const file = path.join(temporaryFolder(), 'a.session');
    const turbo = contextOptions({ typeK: 'turbo4', typeV: 'turbo4' });
    model.attachCalibration(await model.calibrate(options()));
    const centred = await model.createContext(turbo);
    await answer(centred, question());
    await centred.saveSession(file);
    model.attachCalibration(null);
    const plain = await model.createContext(turbo);
    expect(await refusal(plain.loadSession(file))).toMatchObject({
      code: 'data-corrupt',
      message: expect.stringMatching(/saved with "centred [0-9a-f]+", here is "centred 0"/),
    });
  });

  it('is measured at the first load with a turbo type, kept, and measured again when the file is damaged', async () => {
    const folder = path.join(temporaryFolder(), 'calibrations');
    const calibration = { folder, textFile: calibrationText };
    const load = async (typeK: 'turbo4' | 'f16') => {
      const steps = new Set<string>();
      const server = engineServer({ loadProgress: (step) => steps.add(step) });
      const context = contextSettingsSchema.parse({ nCtx: 512, typeK, typeV: typeK, threads: 1 });
      const result = await server.handlers.load({ path: tinyModel, context, calibration });
      await server.close();
      return { steps: [...steps], context: result.context };
    };
    expect((await load('f16')).steps).toEqual(['weights']);
    expect(fs.existsSync(folder)).toBe(false);

    const first = await load('turbo4');
    expect(first.steps).toEqual(['weights', 'calibration']);
    expect(first.context.centring).toMatchObject({ k: true, v: true });
    expect(first.context).toMatchObject({ calibration: '', notes: [] });
    const file = path.join(folder, fs.readdirSync(folder)[0] ?? '');
    const bytes = fs.readFileSync(file);

    const second = await load('turbo4');
    expect(second.steps).toEqual(['weights']);
    expect(second.context.centring).toMatchObject({ k: true, v: true });

    fs.writeFileSync(file, bytes.subarray(0, bytes.length / 2));
    expect((await load('turbo4')).steps).toEqual(['weights', 'calibration']);
    expect(fs.readFileSync(file).equals(bytes)).toBe(true);

    // whole, and with a number that would make every answer nonsense
    fs.writeFileSync(file, withNaN(bytes));
    const anew = await load('turbo4');
    expect(anew.steps).toEqual(['weights', 'calibration']);
    expect(anew.context).toMatchObject({ calibration: '', centring: { k: true, v: true } });
    expect(fs.readFileSync(file).equals(bytes)).toBe(true);
  });
});
