/** What the plots and the line of the strip show. */
import { describe, expect, it } from 'vitest';
import { formatAgo } from '@/renderer/features/meter/HistoryPlot';
import { columnsOf, largestOf, stacked, stackedParts } from '@/renderer/features/meter/historySeries';
import { addSample, emptySparkline, maxValues } from '@/renderer/state/lib/sparkline';
import { memory } from '@/test/fixtures/samples';

describe('the plots', () => {
  it('have columns of seconds before now, with a gap where nothing was read', () => {
    const points = [10_000, 11_000, 31_000, 32_000].map((at, i) => ({
      ...{ at, answerRate: i, promptRate: 0, contextUsed: 0, contextSize: 0, memory },
    }));
    expect(columnsOf(points, 'answer', 60_000)).toEqual([
      [-22, -21, -20.999, -1, 0],
      [0, 1, null, 2, 3],
    ]);
    expect(columnsOf(points, 'answer', 10_000)[0]).toEqual([-1, 0]);
    expect(columnsOf([], 'memory', 1000)).toHaveLength(1 + stackedParts.length);
  });

  it('stack the memory up to what is not free', () => {
    const point = { at: 0, answerRate: 0, promptRate: 0, contextUsed: 0, contextSize: 0, memory };
    const sums = stacked(columnsOf([point], 'memory', 60_000));
    expect(sums[1]).toEqual([30e6]);
    // 4e9 are available, of which 30e6 are the weights' pages
    expect(largestOf(sums)).toBe(8e9 - (4e9 - 30e6));
  });
});

describe('the line in the strip', () => {
  it('covers the whole answer in a bounded number of values', () => {
    let line = emptySparkline;
    for (let i = 0; i < 1000; i++) line = addSample(line, i < 500 ? 10 : 20);
    expect(line.values.length).toBeLessThan(maxValues);
    expect([line.values[0], line.values.at(-1)]).toEqual([10, 20]);
    expect(line.stride * line.values.length + line.open.length).toBe(1000);
  });
});

it('says how long ago', () => {
  expect([0, -30, -60, -90, -300].map(formatAgo)).toEqual(['now', '−30 s', '−1 min', '−1:30', '−5 min']);
});
