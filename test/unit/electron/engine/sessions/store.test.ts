/** The small rules of saved sessions: prefixes, room, what is worth its time, files that tell when they were changed. */
import { describe, expect, it } from 'vitest';
import { commonPrefix } from '@/electron/engine/contextReuse';
import { differenceOf } from '@/electron/engine/native/sessionFile';
import { Rates, sparedBy } from '@/electron/engine/sessions/rates';
import {
  decodeMeta,
  decodeTokens,
  encodeMeta,
  encodeTokens,
  evictionsFor,
  hashOf,
  type SessionMeta,
} from '@/electron/engine/sessions/store';

function meta(lastUsed: number, bytes: number): SessionMeta {
  const id = `00000000-0000-4000-8000-${String(lastUsed).padStart(12, '0')}`;
  return {
    ...{ version: 1, id, chatIds: ['a'], modelName: 'Tiny', label: 'model 1', tokens: 3, tokensHash: '' },
    ...{ bytes, createdAt: 1, lastUsed, readingRate: 0 },
  };
}

it('the prefix is what begins alike; a cache that cannot forget its end is of use only as a whole', () => {
  const held = Int32Array.of(1, 2, 3, 4);
  expect(commonPrefix(held, Int32Array.of(1, 2, 9))).toBe(2);
  expect(commonPrefix(held, held)).toBe(4);
  expect(commonPrefix(held, Int32Array.of())).toBe(0);
  const other = Int32Array.of(1, 2, 9);
  expect([sparedBy(held, other, true), sparedBy(held, other, false)]).toEqual([2, 0]);
  expect(sparedBy(held, Int32Array.of(1, 2, 3, 4, 5), false)).toBe(4);
});

it('room is made by removing those that were used longest ago, no more than needed, unless even all are not enough', () => {
  const all = [meta(30, 300), meta(10, 100), meta(20, 200)];
  const used = (removed: SessionMeta[] | null) => removed?.map(({ lastUsed }) => lastUsed) ?? null;

  expect(used(evictionsFor(all, 100, 700, 1e9))).toEqual([]);
  expect(used(evictionsFor(all, 100, 650, 1e9))).toEqual([10]);
  expect(used(evictionsFor(all, 0, 400, 0))).toEqual([10, 20]);
  expect(used(evictionsFor(all, 400, 400, 1e9))).toEqual([10, 20, 30]);
  expect(used(evictionsFor(all, 500, 1e9, 450))).toEqual([10]);
  expect(used(evictionsFor(all, 500, 1e9, -400))).toBe(null);
  expect(used(evictionsFor(all, 500, 499, 1e9))).toBe(null);
});

it('what others go on from goes behind them, however long ago it was used itself', () => {
  const base = meta(5, 100);
  const child = { ...meta(20, 50), base: base.id };
  const all = [base, meta(10, 100), child];
  const used = (most: number) => evictionsFor(all, 0, most, 1e9)?.map(({ lastUsed }) => lastUsed);
  expect(used(200)).toEqual([10]);
  expect(used(120)).toEqual([10, 20]);
  expect(used(90)).toEqual([10, 20, 5]);
});

describe('what is worth it', () => {
  it('is measured: a fast model and a slow disk, and the other way', () => {
    const rates = new Rates();
    rates.read(1000, 20_000);
    rates.restored(100e6, 2000);
    rates.saved(100e6, 2000);
    expect(rates.worthRestoring(8000, 100e6, 0)).toBe(false);
    expect(rates.worthSaving(8000, 100e6)).toBe(false);
    rates.read(1000, 50);
    expect(rates.worthRestoring(8000, 100e6, 0)).toBe(true);
    expect(rates.worthSaving(8000, 100e6)).toBe(true);
  });

  it('is measured by a session that knows how slowly it was read; a handful of tokens or bytes measures nothing', () => {
    const rates = new Rates();
    expect(rates.worthRestoring(2000, 600e6, 0)).toBe(false);
    expect(rates.worthRestoring(2000, 600e6, 100)).toBe(true);
    rates.read(10, 5);
    expect(rates.readingRate).toBe(0);
  });
});

it('files come back as they were written, and tell every changed byte and every length', () => {
  const tokens = Int32Array.of(5, 6, 7);
  const bytes = encodeTokens(tokens);
  const whole = { ...meta(1, 10), tokensHash: hashOf(bytes) };

  expect(decodeMeta(encodeMeta(whole))).toEqual(whole);
  expect(decodeTokens(bytes, whole)).toEqual(tokens);
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(() => decodeTokens(changed, whole), String(at)).toThrow();
    expect(() => decodeTokens(bytes.subarray(0, at), whole), String(at)).toThrow();
  }
  expect(() => decodeMeta(encodeMeta(whole).replace('Tiny', 'Tinx'))).toThrow('checksum');
});

describe('why a session is not usable', () => {
  const label = (K: string, cells: string) => `model a\nK ${K}\nV f16\ncells ${cells}\n`;
  it.each([
    [label('f16', '1'), label('f16', '1'), null],
    [label('f16', '1'), label('turbo4', '2'), 'It was made with K in f16; K is in turbo4 now.'],
    [label('f16', '1'), label('f16', '2'), 'It was made by another version of the app.'],
    ['model b\n', label('f16', '1'), 'It was made with another model.'],
    [
      `${label('f16', '1')}llama.cpp 0123\n`,
      `${label('f16', '1')}llama.cpp 4567\n`,
      'It was made with llama.cpp 0123; this version of the app has 4567.',
    ],
  ])('%#', (saved, here, words) => expect(differenceOf(saved, here)).toBe(words));
});
