/** The context control: its scale, marks of the slider, their places, and what a change costs. */
import { describe, expect, it } from 'vitest';
import type { ContextFit, FitMark } from '@/electron/contract/fit';
import type { CacheType } from '@/electron/contract/settings';
import { placeMarks } from '@/renderer/features/settings/memory/ContextSlider';
import {
  clusterText,
  contextMarks,
  legendOf,
  longestOf,
  roomFor,
} from '@/renderer/features/settings/memory/contextMarks';
import { contextStops, longestOnSlider, nearestStop, shareOf } from '@/renderer/features/settings/memory/contextScale';
import { needParts, needText } from '@/renderer/features/settings/memory/KvEstimate';
import { offerText } from '@/renderer/ui/format';

function mark(typeK: CacheType, nCtx: number, typeV = typeK): FitMark {
  return { typeK, typeV, effectiveK: typeK, effectiveV: typeV, nCtx, bytes: nCtx };
}

function fitWith(...marks: FitMark[]): ContextFit {
  const type = { asked: 'f16', effective: 'f16', reason: '' };
  return {
    estimate: {
      weights: 100,
      kvK: 10,
      kvV: 20,
      kvF16: 60,
      compute: 5,
      promptCache: 0,
      promptCacheUsed: 0,
      draft: { weights: 0, kv: 0, compute: 0 },
      projector: { weights: 0, compute: 0 },
      cacheLayers: [],
      speculation: type,
      typeK: type,
      typeV: type,
    },
    fits: true,
    budgets: [{ kind: 'ram', name: 'RAM', needed: 135, available: 1000, total: 2000 }],
    trained: 131_072,
    marks,
  };
}

describe('marks', () => {
  const four = [mark('f16', 20_480), mark('q8_0', 38_400), mark('turbo4', 76_800), mark('turbo3', 100_352)];
  const facts = { trained: 131_072, chatTokens: 3000, maxTokens: 0 };

  it('are what fits with each type, the trained maximum and the chat', () => {
    const marks = contextMarks({ ...facts, fit: fitWith(mark('turbo4', 76_800), ...four) });
    expect(marks.map(({ id, tokens }) => [id, tokens])).toEqual([
      ['chat', 3000],
      ['f16', 20_480],
      ['q8_0', 38_400],
      ['turbo4', 76_800],
      ['turbo3', 100_352],
      ['trained', 131_072],
    ]);
    expect(marks[0]?.target).toBe(4096);
  });

  it('show a pair of types that is none of the four, and move with it', () => {
    const own = (nCtx: number) =>
      contextMarks({ ...facts, fit: fitWith(mark('turbo4', nCtx, 'turbo3'), ...four) }).find(
        ({ id }) => id === 'chosen',
      );
    expect(own(86_016)).toMatchObject({ tokens: 86_016, label: expect.stringContaining('turbo4 / turbo3') });
    expect(own(60_000)).toMatchObject({ tokens: 60_000, target: 59_904 });
    expect(longestOf(fitWith(mark('turbo4', 86_016, 'turbo3'), ...four))).toBe(86_016);
  });

  it('are few while little is known, and where nothing fits', () => {
    expect(contextMarks({ fit: null, trained: null, chatTokens: null, maxTokens: 0 })).toEqual([]);
    const none = contextMarks({ ...facts, chatTokens: 0, fit: fitWith(mark('f16', 0), mark('f16', 0)) });
    expect(none.map(({ id }) => id)).toEqual(['trained']);
  });

  it('share a row of the list where they are equal', () => {
    const same = ['f16', 'q8_0', 'turbo4', 'turbo3'].map((type) => mark(type as CacheType, 8192));
    const marks = contextMarks({ ...facts, trained: 8192, fit: fitWith(mark('turbo4', 8192), ...same) });
    expect(legendOf(marks).map(({ mark: { tokens } }) => tokens)).toEqual([3000, 8192, 8192]);
    expect(clusterText(marks.slice(1))).not.toContain('turbo4');
    expect(clusterText(marks.slice(2))).toMatch(/q8_0.*turbo4.*turbo3/);
  });

  it('leave room for the answer', () => {
    expect(roomFor(10, 0)).toBe(2048);
    expect(roomFor(3072, 0)).toBe(4096);
    expect(roomFor(3073, 0)).toBe(5120);
    expect(roomFor(3000, 4000)).toBe(7168);
  });
});

describe('places on the scale', () => {
  const stops = contextStops(131_072);
  const joined = (marks: { text: string }[]) => marks.map(({ text }) => text).join(' · ');

  it('are where the thumb would stand', () => {
    for (const [i, stop] of stops.entries()) expect(shareOf(stops, stop)).toBeCloseTo(i / (stops.length - 1), 10);
    expect(shareOf(stops, 8448)).toBeGreaterThan(shareOf(stops, 8192));
    expect(shareOf(stops, 10)).toBe(0);
    expect(shareOf(stops, 9_000_000)).toBe(1);
  });

  it('reach beyond the trained length only with a choice', () => {
    expect(longestOnSlider({ nCtx: 2048, rope: 'model' }, 8192)).toBe(8192);
    expect(longestOnSlider({ nCtx: 2048, rope: 'yarn' }, 8192)).toBe(65_536);
    expect(longestOnSlider({ nCtx: 1_000_000, rope: 'yarn' }, 8192)).toBe(1_000_000);
    expect(longestOnSlider({ nCtx: 2048, rope: 'yarn' }, 16_777_216)).toBe(16_777_216);
    expect(longestOnSlider({ nCtx: 2048, rope: 'model' }, null)).toBe(131_072);
  });

  it('never let two labels overlap, wherever the marks are', () => {
    const texts = ['this chat', 'trained', 'f16', 'q8_0', 'turbo4', 'turbo3', 'chosen'];
    const width = 306;
    for (let seed = 1; seed < 400; seed++) {
      const marks = texts.map((text, i) => ({ text, share: ((seed * 7919 * (i + 3)) % 1009) / 1009 }));
      const placed = placeMarks(marks, width, joined);
      expect(placed.flatMap((one) => one.marks)).toHaveLength(texts.length);
      for (const [i, one] of placed.entries()) {
        expect(one.start).toBeGreaterThanOrEqual(0);
        expect(one.start + one.width).toBeLessThanOrEqual(width);
        for (const other of placed.slice(i + 1)) {
          const apart =
            one.row !== other.row || one.start + one.width <= other.start || other.start + other.width <= one.start;
          expect(apart, `${one.text} and ${other.text} of ${seed}`).toBe(true);
        }
      }
    }
  });

  it('join marks that are as good as one', () => {
    const marks = ['f16', 'turbo4', 'trained'].map((text, i) => ({ text, share: i === 0 ? 0.2 : 1 }));
    expect(placeMarks(marks, 306, joined).map(({ text, row }) => [text, row])).toEqual([
      ['f16', 0],
      ['turbo4 · trained', 0],
    ]);
  });
});

describe('memory', () => {
  const budget = { kind: 'ram', name: 'RAM', needed: 2 ** 31, available: 2 ** 33, total: 2 ** 34 } as const;

  it('is computed from what is needed and what is free, which is never less than nothing', () => {
    const fits = needText(budget, true);
    expect(fits).toMatch(/2\.00 GiB.*8\.00 GiB/);
    const not = needText({ ...budget, available: 2 ** 30 }, true);
    expect(not).toMatch(/2\.00 GiB.*1\.00 GiB/);
    expect(not.slice(0, 8)).not.toBe(fits.slice(0, 8));
    expect(needText({ ...budget, available: -5 }, false)).toMatch(/2\.00 GiB.*RAM/);
  });

  it('has parts that sum to the whole', () => {
    const parts = needParts(fitWith().estimate);
    expect(parts.map(({ id, bytes }) => [id, bytes])).toEqual([
      ['weights', 100],
      ['kv', 30],
      ['compute', 5],
    ]);
  });

  it('is offered with what would change', () => {
    const offer = { typeK: 'turbo4', typeV: 'turbo4', nCtx: 12_288, bytes: 1.2 * 2 ** 30 };
    expect(offerText({ ...offer, gives: 'types' })).toMatch(/turbo4(?!.*12K).*1\.20 GiB/);
    expect(offerText({ ...offer, gives: 'length' })).toMatch(/12K(?!.*turbo4).*1\.20 GiB/);
    expect(offerText({ ...offer, typeV: 'turbo3', gives: 'both' })).toMatch(/turbo4.*turbo3.*12K.*1\.20 GiB/);
  });
});

describe('the context slider', () => {
  it.each([512, 600, 2048, 8192, 131_072, 1_000_000, 10_485_760])('rises from 512 to %d, both exact', (max) => {
    const stops = contextStops(max);
    expect(stops[0]).toBe(512);
    expect(stops.at(-1)).toBe(max);
    expect(stops.every((stop, i) => i === 0 || stop > (stops[i - 1] ?? 0))).toBe(true);
  });

  it('has eight stops in a doubling, powers of two among them', () => {
    const stops = contextStops(131_072);
    expect(stops).toHaveLength(8 * 8 + 1);
    for (const power of [1024, 4096, 32_768]) expect(stops).toContain(power);
  });

  it('finds the stop of a typed number by ratio, and of every stop itself', () => {
    const stops = contextStops(32_768);
    for (const [i, stop] of stops.entries()) expect(nearestStop(stops, stop)).toBe(i);
    expect(stops[nearestStop(stops, 5000)]).toBe(5120);
    expect(nearestStop(stops, 1)).toBe(0);
    expect(nearestStop(stops, 9_999_999)).toBe(stops.length - 1);
  });

  it('survives a model that was trained for less than the smallest context', () => {
    expect(contextStops(256)).toEqual([512]);
  });
});
