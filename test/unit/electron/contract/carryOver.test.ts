import { expect, test } from 'vitest';
import { askedLength, isStretched, keepsCache } from '@/electron/contract/fit';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { effective } from '@/test/fixtures/samples';

const asked = contextSettingsSchema.parse({});
const trained = 8192;

test.each([
  ['the same settings', {}, 4000, true],
  ['a shorter context that holds it', { nCtx: 4096 }, 4000, true],
  ['one that does not', { nCtx: 4096 }, 4096, false],
  ['an empty cache', {}, 0, false],
  ['another type', { typeV: 'q8_0' as const }, 4000, false],
  ['attention off', { flashAttention: 'off' as const }, 4000, false],
  ['attention on, as it is', { flashAttention: 'on' as const }, 4000, true],
  ['threads and batch', { threads: 7, batch: 64 }, 4000, true],
  ['a way beyond the trained length, which is not used', { rope: 'yarn' as const }, 4000, true],
  ['positions that are stretched', { rope: 'yarn' as const, nCtx: 16_384 }, 4000, false],
  ['a length that is cut to the trained one', { nCtx: 100_000 }, 8192, false],
])('%s', (_, change, used, kept) => expect(keepsCache(effective, { ...asked, ...change }, used, trained)).toBe(kept));

test('a type that the model runs as another one is that one', () => {
  const typeK = { asked: 'turbo4', effective: 'q8_0', reason: 'no' };
  expect(keepsCache({ ...effective, typeK }, { ...asked, typeK: 'q8_0' }, 10, trained)).toBe(true);
});

test('a stretched context keeps its cache only at its own length', () => {
  const stretched = { ...effective, nCtx: 16_384, rope: { kind: 'yarn' as const, factor: 2 } };
  const keeps = (change: object) => keepsCache(stretched, { ...asked, rope: 'yarn', ...change }, 10, trained);
  expect(keeps({ nCtx: 16_300, batch: 64 })).toBe(true);
  expect(keeps({ nCtx: 32_768 })).toBe(false);
  expect(keeps({ nCtx: 16_384, rope: 'linear' })).toBe(false);
  expect(keeps({ nCtx: 8192 })).toBe(false);
});

test('only a choice goes beyond the trained length', () => {
  expect(askedLength({ nCtx: 9000, rope: 'model' }, trained)).toBe(8192);
  expect(askedLength({ nCtx: 9000, rope: 'yarn' }, trained)).toBe(9000);
  expect(askedLength({ nCtx: 9000, rope: 'model' }, 0)).toBe(9000);
  expect(isStretched({ nCtx: 8192, rope: 'yarn' }, trained)).toBe(false);
  expect(isStretched({ nCtx: 8193, rope: 'yarn' }, trained)).toBe(true);
});
