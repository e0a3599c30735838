import { describe, expect, it } from 'vitest';
import { contextStops, nearestStop } from '@/renderer/features/settings/contextScale';

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
