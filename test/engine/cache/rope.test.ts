/** Contexts longer than the model was trained for (8192 tokens): only with a choice of how positions are stretched. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureCalibrated } from '@/electron/engine/calibration';
import {
  answer,
  calibrationText,
  contextOptions,
  engine,
  filler,
  loadTiny,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';

const twice = 16_384;
const done = { calibration: '', notes: [] };

describe('rope', () => {
  it.each(['linear', 'yarn'] as const)('%s scales nothing up to the trained length', async (rope) => {
    const model = await loadTiny();
    const plain = await answer(await model.createContext(contextOptions()), question());
    const context = await model.createContext(contextOptions({ rope }));
    expect(context.effective.rope).toEqual({ kind: 'model', factor: 1 });
    expect((await answer(context, question())).result.text).toBe(plain.result.text);
  });

  it('yarn at twice the trained length finds a fact, and holds more than the trained length', async () => {
    const model = await loadTiny();
    const yarn = contextOptions({ nCtx: twice, rope: 'yarn', typeK: 'turbo4', typeV: 'turbo4', threads: 0 });
    const context = await model.createContext(yarn);
    expect(context.effective).toMatchObject({ nCtx: twice, rope: { kind: 'yarn', factor: 2 }, notes: [] });
    expect((await answer(context, question())).result.text).toContain('77763886');

    const long = model.tokenize(filler(800)).slice(0, 8300);
    const beyond = await answer(context, long);
    expect(beyond.result.contextUsed).toBeGreaterThan(8192);
    expect(beyond.result.answerTokens).toBeGreaterThan(0);
  });

  it('a context with YaRN leaves what the model was trained for as it is', async () => {
    const model = await loadTiny();
    await model.createContext(contextOptions({ nCtx: twice, rope: 'yarn' }));
    expect((await model.createContext(contextOptions({ nCtx: twice }))).effective.nCtx).toBe(8192);
    const four = await model.createContext(contextOptions({ nCtx: 2 * twice, rope: 'yarn' }));
    expect(four.effective.rope).toEqual({ kind: 'yarn', factor: 4 });
  });

  it('the ways differ from each other and from the model itself', async () => {
    const model = await loadTiny();
    const tokens = model.tokenize(filler(30));
    const reference = await model.createContext(contextOptions({ nCtx: 8192 }));
    const linear = await model.createContext(contextOptions({ nCtx: twice, rope: 'linear' }));
    const yarn = await model.createContext(contextOptions({ nCtx: twice, rope: 'yarn' }));
    const { results } = await reference.compare([linear, yarn], tokens, { chunk: 256 });
    const [ofLinear, ofYarn] = results.map(({ meanKld }) => meanKld ?? 0);
    expect(ofYarn).toBeGreaterThan(1e-4);
    // what YaRN is for: near words stay where they are
    expect(ofLinear).toBeGreaterThan(2 * (ofYarn ?? 0));
  });

  it('a saved session of another scaling is refused', async () => {
    const model = await loadTiny();
    const file = path.join(temporaryFolder(), 'session');
    const yarn = await model.createContext(contextOptions({ nCtx: twice, rope: 'yarn' }));
    await answer(yarn, question());
    await yarn.saveSession(file);
    const plain = await model.createContext(contextOptions());
    expect(await refusal(plain.loadSession(file))).toMatchObject({
      code: 'data-corrupt',
      message: expect.stringContaining('RoPE yarn 2'),
    });
  });

  it('a model is measured apart for a stretched context, and centred in it', async () => {
    const model = await loadTiny();
    const places = { folder: path.join(temporaryFolder(), 'calibrations'), textFile: calibrationText };
    const options = contextOptions({ nCtx: twice, rope: 'yarn', typeK: 'turbo3', typeV: 'turbo3', threads: 0 });
    const measure = async (rope: 'model' | 'yarn') => {
      const run = { places, options: { ...options, rope }, onProgress: () => undefined };
      expect(await ensureCalibrated(model, { ...run, skip: new AbortController().signal })).toEqual(done);
      return model.createContext(options);
    };
    const tokens = model.tokenize(filler(60));
    const reference = await model.createContext({ ...options, typeK: 'f16', typeV: 'f16' });
    const ofOthers = await measure('model');
    const ofItsOwn = await measure('yarn');
    expect(ofItsOwn.effective.centring).toMatchObject({ k: true, v: true });
    const { results } = await reference.compare([ofOthers, ofItsOwn], tokens, { chunk: 512 });
    expect(results[1]?.meanKld).not.toBe(results[0]?.meanKld);
  });

  it('estimates follow the choice, and unknown ones are refused', async () => {
    const kvOf = async (rope: 'model' | 'yarn') => {
      const { kvK, kvV } = await engine().estimate(tinyModel, { gpuLayers: 0 }, contextOptions({ nCtx: twice, rope }));
      return kvK + kvV;
    };
    const cut = await kvOf('model');
    expect(await kvOf('yarn')).toBe(2 * cut);
    expect(await kvOf('model')).toBe(cut);
    const model = await loadTiny();
    const strange = model.createContext(contextOptions({ nCtx: twice, rope: 'ntk' as 'yarn' }));
    expect(await refusal(strange)).toMatchObject({ code: 'context-invalid' });
  });
});
