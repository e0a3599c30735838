import { describe, expect, it } from 'vitest';
import { settingsSchema } from '@/electron/contract/settings';
import { changesText } from '@/renderer/features/settings/changesText';
import { contextStops, nearestStop } from '@/renderer/features/settings/contextScale';
import { parseStops, printStops } from '@/renderer/features/settings/SamplingSection';
import { isSame } from '@/renderer/state/slices/presets';
import { clampTyped, committedNumber, parseNumber } from '@/renderer/ui/NumberField';

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

it('settings are told from changed ones', () => {
  const { sampling } = settingsSchema.parse({});
  expect(isSame({ ...sampling, stop: [] }, sampling)).toBe(true);
  expect(isSame({ ...sampling, stop: ['x'] }, sampling)).toBe(false);
  expect(isSame({ ...sampling, seed: 1 }, sampling)).toBe(false);
});

it('a change is told with the value before and after', () => {
  const { context } = settingsSchema.parse({});
  const changes = changesText(context, { nCtx: 16_384, typeK: 'turbo3', threads: 4 });
  expect(changes).toEqual([/8,192.*16,384/, /K.*turbo4.*turbo3/, /auto.*4/].map((text) => expect.stringMatching(text)));
});

describe('stop strings', () => {
  it('come back as they were', () => {
    const stop = ['END', '\n\nUser:', 'a\\nb', '\t'];
    expect(parseStops(printStops(stop))).toEqual(stop);
  });

  it('drop empty and repeated lines and keep the limits', () => {
    expect(parseStops('a\n\na\nb')).toEqual(['a', 'b']);
    expect(parseStops(Array.from({ length: 40 }, (_, i) => `s${i}`).join('\n'))).toHaveLength(16);
    expect(parseStops('x'.repeat(500))[0]).toHaveLength(200);
  });
});

describe('typed numbers', () => {
  const range = { min: 512, max: 8192, integer: true };
  it.each([
    ['4096', 4096],
    ['4,096', 4096],
    ['8 192', 8192],
    ['511', undefined],
    ['9000', undefined],
    ['1.5', undefined],
    ['abc', undefined],
    ['', undefined],
  ])('%s is %s', (text, value) => expect(parseNumber(text, range)).toBe(value));
  it('takes an empty field where that means something', () =>
    expect(parseNumber('', { ...range, nullable: true })).toBeNull());
  it('saves an emptied field as empty, and nothing where it has to hold a number', () => {
    expect(committedNumber('', { ...range, nullable: true })).toBeNull();
    expect(committedNumber('', range)).toBeUndefined();
    expect(committedNumber('9000', range)).toBe(8192);
  });
  it('brings what is out of range to its edge', () => {
    expect(clampTyped('99999', range)).toBe(8192);
    expect(clampTyped('1', range)).toBe(512);
    expect(clampTyped('700.6', range)).toBe(701);
    expect(clampTyped('x', range)).toBeUndefined();
  });
});
