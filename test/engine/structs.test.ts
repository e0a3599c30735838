/** What the addon returns is what electron/engine/native/types.ts and the contract describe: no field is missing, and none is extra. */

import { expect, it } from 'vitest';
import { z } from 'zod';
import { qualitySchema } from '@/electron/contract/compare/figures';
import { capabilitiesSchema, effectiveContextSchema } from '@/electron/contract/engine';
import { deviceMemorySchema, deviceUseSchema } from '@/electron/contract/fit';
import { partMemorySchema } from '@/electron/contract/lib/memory';
import { bandwidthSchema } from '@/electron/contract/machine';
import { modelInfoSchema } from '@/electron/contract/models';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { contextOf, spreadOf } from '@/electron/engine/native/spread';
import {
  comparisonSchema,
  generateChunkSchema,
  generateResultSchema,
  memoryPlanSchema,
  type PrefillProgress,
  prefillProgressSchema,
} from '@/electron/engine/native/types';
import { answer, contextOptions, engine, filler, greedy, loadTiny, question, tinyModel } from './support';

/** parsing drops what the schema does not know, at every depth */
function expectDescribed(schema: z.ZodType, value: unknown): void {
  expect(schema.parse(value)).toStrictEqual(value);
}

/** some, each of them described */
function expectAll(schema: z.ZodType, values: unknown[]): void {
  expectDescribed(z.array(schema).min(1), values);
}

it('machine and model files', async () => {
  expectDescribed(capabilitiesSchema, engine().capabilities());
  expectAll(deviceMemorySchema, engine().memories());
  expectAll(bandwidthSchema, await engine().probeBandwidth(1 << 20, {}));
  expectDescribed(modelInfoSchema, await engine().inspect(tinyModel));
  expectDescribed(
    memoryPlanSchema,
    await engine().estimate(tinyModel, { gpuLayers: 0 }, contextOptions({ typeK: 'turbo4' })),
  );
});

it('every setting of a context is read', async () => {
  const all = contextSettingsSchema.parse({ nCtx: 2048 });
  const settings = contextOf(all);
  const read = new Set<string>();
  const watched = new Proxy(settings, {
    get(target, name) {
      read.add(String(name));
      return Reflect.get(target, name);
    },
  });
  await engine().estimate(tinyModel, spreadOf(all), watched);
  expect([...read].sort()).toEqual([...Object.keys(settings), 'slots', 'api', 'promptCache', 'core'].sort());
});

it('model, context and answer', async () => {
  const model = await loadTiny();
  expectDescribed(modelInfoSchema, model.info);
  const context = await model.createContext(contextOptions({ typeK: 'turbo4' }));
  expectDescribed(effectiveContextSchema, context.effective);
  expectDescribed(partMemorySchema, context.memory().parts);
  expectAll(deviceUseSchema, context.memory().devices);

  const prefill: PrefillProgress[] = [];
  const options = greedy({ candidates: 2, onPrefill: (progress) => prefill.push(progress) });
  const { chunks, result } = await answer(context, question(), options);
  expectAll(prefillProgressSchema, prefill);
  expectAll(generateChunkSchema, chunks);
  expect(chunks[0]?.candidates).toHaveLength(2);
  expectDescribed(generateResultSchema, result);
});

it('measurements', async () => {
  const model = await loadTiny();
  const [reference, other] = [await model.createContext(contextOptions()), await model.createContext(contextOptions())];
  const tokens = model.tokenize(filler(12));
  expectDescribed(qualitySchema, await reference.evaluate(tokens));
  expectDescribed(comparisonSchema, await reference.compare([other], tokens));
});
