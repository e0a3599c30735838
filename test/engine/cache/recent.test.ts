/** The window of recent tokens at 8 bits beside a turbo cache: what it takes and brings, and where there is none. */
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ContextOptions } from '@/electron/engine/native/types';
import {
  answer,
  contextOptions,
  engine,
  heldOut,
  loadTiny,
  question,
  refusal,
  temporaryFolder,
  tinyModel,
} from '../support';

const turbo = (changes: Partial<ContextOptions> = {}): ContextOptions =>
  contextOptions({ typeK: 'turbo3', typeV: 'turbo3', batch: 128, recentTokens: 128, ...changes });

/** Of the tiny model: 8 layers, 2 KV heads of 128 values. */
const valuesOfCell = 8 * 2 * 128;
/** The first tile of 32 cells, those of the tokens and of a micro-batch, and a tile that is begun. */
const windowCells = 32 + 128 + 128 + 32;
const bytesAt8Bits = (cells: number) => (cells * valuesOfCell * 34) / 32;

it('takes the bytes of its rows, which the estimate knows, and brings predictions much nearer to f16', async () => {
  const model = await loadTiny();
  const plain = await model.createContext(turbo({ recentTokens: 0 }));
  const recent = await model.createContext(turbo());
  expect(plain.effective.recent).toEqual({ asked: 0, tokens: 0, reason: '' });
  expect(recent.effective.recent).toEqual({ asked: 128, tokens: 128, reason: '' });
  const [without, parts] = [plain.memory().parts, recent.memory().parts];
  expect(parts.kvK - without.kvK).toBe(bytesAt8Bits(windowCells));
  expect(parts.kvV - without.kvV).toBe(bytesAt8Bits(windowCells));
  expect(parts.kvF16).toBe(without.kvF16);
  const estimate = await engine().estimate(tinyModel, { gpuLayers: 0 }, turbo());
  expect([estimate.kvK, estimate.kvV, estimate.compute]).toEqual([parts.kvK, parts.kvV, parts.compute]);
  expect(estimate.devices).toEqual(
    recent.memory().devices.map((device) => expect.objectContaining({ name: device.name, context: device.context })),
  );

  const reference = await model.createContext(contextOptions());
  const tokens = model.tokenize(heldOut(), { addSpecial: true }).slice(0, 2048);
  const { results } = await reference.compare([plain, recent], tokens);
  const [far, near] = results.map(({ meanKld }) => meanKld ?? Number.NaN);
  expect(near).toBeLessThan((far ?? 0) / 5);
});

it('keeps what it says while an answer is written, a session is saved and read again, and a chat goes back', async () => {
  const model = await loadTiny();
  const context = await model.createContext(turbo());
  const first = await answer(context, question());
  const again = await answer(context, question());
  expect(again.result.text).toBe(first.result.text);
  const file = path.join(temporaryFolder(), 'session');
  await context.saveSession(file);
  const other = await model.createContext(turbo({ recentTokens: 0 }));
  // the cells are those of a cache without a window
  expect(await other.loadSession(file)).toBe(again.result.contextUsed);
  expect(await context.loadSession(file)).toBe(again.result.contextUsed);
  expect((await answer(context, question())).result.answerTokens).toBeGreaterThan(0);
});

it.each([
  [
    'V is not quantized',
    turbo({ typeV: 'f16' }),
    'it would be coarser than the side of the cache that is not quantized',
  ],
  ['flash attention is off', turbo({ typeV: 'f16', flashAttention: 'off' }), 'flash attention is off'],
  [
    'the context is short',
    turbo({ nCtx: 256 }),
    'with it a cache of so few cells would be no smaller than one in q8_0',
  ],
  ['no type is turbo, and nothing is lost', turbo({ typeK: 'q8_0', typeV: 'q8_0' }), ''],
])('is not there where %s', async (_, options, reason) => {
  const model = await loadTiny();
  const context = await model.createContext(options);
  expect(context.effective.recent).toEqual({ asked: 128, tokens: 0, reason });
});

it.each([-1, 4097])('of %s tokens is refused', async (recentTokens) => {
  const model = await loadTiny();
  expect(await refusal(model.createContext(turbo({ recentTokens })))).toMatchObject({
    code: 'context-invalid',
    hint: 'Choose 0 to 4096.',
  });
});
