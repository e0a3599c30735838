/** Charts as SVG: places of values, ticks, names. */
import { describe, expect, it } from 'vitest';
import { makeScale, plot, plotAll } from '../../bench/plot.mjs';

describe('makeScale', () => {
  it('places values on a linear and on a log axis, with round ticks inside the domain', () => {
    expect(makeScale({ domain: [0, 10] }, [1], [0, 100]).at(2.5)).toBeCloseTo(25);
    expect(makeScale({ kind: 'log', domain: [1, 100] }, [1], [100, 0]).at(10)).toBeCloseTo(50);
    expect(makeScale({}, [0.3, 9.1], [0, 1]).ticks).toEqual([0, 2, 4, 6, 8, 10]);
    expect(makeScale({ kind: 'log', domain: [0.004, 0.11] }, [0.1], [0, 1]).ticks).toEqual([
      0.005, 0.01, 0.02, 0.05, 0.1,
    ]);
    expect(makeScale({ ticks: [4096, 8192, 1] }, [4096, 8192], [0, 1]).ticks).toEqual([4096, 8192]);
  });

  it('refuses what has no place', () => {
    expect(() => makeScale({ kind: 'log' }, [0, 1], [0, 1])).toThrow('above zero');
    expect(() => makeScale({}, [1, Number.NaN], [0, 1])).toThrow('finite');
  });
});

const axis = { label: 'bits' };

describe('plot', () => {
  it('draws a dot for each point, a bar where it has a spread, and names the lines', () => {
    const points = [
      { x: 1, y: 2, low: 1, high: 3 },
      { x: 2, y: 4 },
    ];
    const svg = plot({ title: 'A <b>', x: axis, y: axis, series: [{ name: 'turbo4 & 3', points }] });
    expect(svg.match(/<circle/g)).toHaveLength(2);
    expect(svg.match(/opacity=".6"/g)).toHaveLength(1);
    expect(svg).toContain('turbo4 &#38; 3</text>');
    expect(svg).toContain('A &#60;b&#62;');
    expect(svg).not.toContain('NaN');
  });

  it('keeps names of points and of lines apart', () => {
    const start = { x: 1, y: 1 };
    const near = [1, 1.01, 1.02].map((y) => ({ name: `line ${y}`, points: [start, { x: 2, y }] }));
    const svg = plot({ title: 't', x: axis, y: axis, series: near });
    const rows = [...svg.matchAll(/y="([\d.]+)" style[^>]*>line/g)]
      .map((match) => Number(match[1]))
      .sort((a, b) => a - b);
    expect(rows).toHaveLength(3);
    for (const [i, row] of rows.entries()) if (i > 0) expect(row - (rows[i - 1] ?? 0)).toBeGreaterThanOrEqual(13.9);
    const dots = { name: 'dots', line: false, points: ['a', 'b'].map((label) => ({ x: 1, y: 1, label })) };
    const places = [
      ...plot({ title: 't', x: axis, y: axis, series: [dots] }).matchAll(/<text x="([\d.]+)" y="([\d.]+)" style/g),
    ];
    expect(new Set(places.map((match) => `${match[1]} ${match[2]}`)).size).toBe(2);
  });

  it('puts charts side by side', () => {
    const series = [{ name: 's', points: [{ x: 1, y: 1 }] }];
    const chart = { title: 't', x: axis, y: axis, series, width: 300, height: 200 };
    expect(plotAll([chart, chart, chart], 2)).toContain('viewBox="0 0 600 400"');
    expect(() => plot({ ...chart, series: [] })).toThrow('no points');
  });
});
