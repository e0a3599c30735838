/** What the author of a model recommends in its file, with the tiny model. */
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { readGguf, type Value, writeChanged } from '../gguf';
import { engine, engineServer, noCalibration, request, temporaryFolder, tinyModel } from '../support';

function writeWith(changes: Record<string, Value | null>): string {
  return writeChanged(readGguf(tinyModel), path.join(temporaryFolder(), 'model.gguf'), changes, true);
}

const story = [{ role: 'user' as const, content: 'Tell me a story about an old clock and the rain.' }];

describe('sampling that the file of a model recommends', () => {
  const recommended = {
    'general.sampling.temp': { float32: 0.6 },
    'general.sampling.top_k': { int32: 1 },
    'general.sampling.top_p': { float32: 7 },
    'general.sampling.penalty_repeat': { float32: Number.NaN },
    'general.sampling.mirostat': { int32: 2 },
  };
  const nothing = {
    ...{ temperature: null, topK: null, topP: null, minP: null, repeatPenalty: null, penaltyTokens: null },
    ...{ xtcProbability: null, xtcThreshold: null },
  };

  it('is read, without what is out of bounds', async () => {
    expect((await engine().inspect(writeWith(recommended))).sampling).toEqual({
      ...nothing,
      temperature: 0.6,
      topK: 1,
    });
    expect((await engine().inspect(tinyModel)).sampling).toEqual(nothing);
  });

  it('is used where the person has set nothing', async () => {
    const { handlers } = engineServer();
    const context = contextSettingsSchema.parse({ nCtx: 1024, typeK: 'f16', typeV: 'f16', threads: 1 });
    // upstream's server core would not start with a penalty that is no number
    const path = writeWith({ ...recommended, 'general.sampling.penalty_repeat': null });
    await handlers.load({ path, context, calibration: noCalibration });
    const write = async (sampling: object) =>
      (await handlers.generate(request({ messages: story, sampling: { maxTokens: 16, ...sampling } }))).text;
    const likeliest = await write({ temperature: 0 });
    // the one likeliest token, whatever the seed
    expect([await write({ seed: 1 }), await write({ seed: 2 })]).toEqual([likeliest, likeliest]);
    const wild = { topK: 0, temperature: 5, minP: 0, topP: 1 };
    expect(await write({ ...wild, seed: 1 })).not.toBe(await write({ ...wild, seed: 2 }));
  });
});
