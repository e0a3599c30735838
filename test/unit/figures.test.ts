/** The figures of the tree, on small trees. */
import { describe, expect, it } from 'vitest';
import { figuresOf, LEAST_MEDIAN, LIMITS, outOfBounds } from '../figures.mjs';

interface Part {
  lines?: number;
  imports?: string[];
  types?: string[];
}

const tree = (parts: Record<string, Part>) =>
  new Map(
    Object.entries(parts).map(([file, { lines = 50, imports = [], types = [] }]) => [
      file,
      { lines, imports: [...imports, ...types], values: imports },
    ]),
  );

describe('figures', () => {
  it('count small files that one other file imports, but no entries', () => {
    const files = tree({
      'electron/main.ts': { imports: ['electron/a.ts', 'electron/b.ts'] },
      'electron/a.ts': { types: ['electron/b.ts', 'electron/long.ts'] },
      'electron/b.ts': {},
      'electron/long.ts': { lines: 120 },
      'electron/x/main.ts': { types: ['electron/x/y.ts', 'electron/x/y.ts'] },
      'electron/x/y.ts': {},
    });
    expect(figuresOf(files)).toMatchObject({ files: 6, longest: 120, smallWithOneImporter: 0.333 });
  });

  it('count what is in the fullest folder, a folder in it as one', () => {
    const files = tree({ 'a/b/1.ts': {}, 'a/b/2.ts': {}, 'a/b/c/3.ts': {}, 'a/b/c/4.ts': {}, 'a/d.ts': {} });
    expect(figuresOf(files).entriesOfFolder).toBe(3);
  });

  it('follow values, not types, and come out of a circle', () => {
    const files = tree({
      'a.ts': { imports: ['b.ts'] },
      'b.ts': { imports: ['c.ts'], types: ['d.ts'] },
      'c.ts': { imports: ['b.ts'] },
      'd.ts': { imports: ['e.ts'] },
      'e.ts': {},
    });
    expect(figuresOf(files)).toMatchObject({ longestChain: 3, filesInCircles: 2 });
  });

  it('find circles that types close', () => {
    const files = tree({ 'a.ts': { imports: ['b.ts'] }, 'b.ts': { types: ['a.ts'] }, 'c.ts': { imports: ['a.ts'] } });
    expect(figuresOf(files).filesInCircles).toBe(2);
  });

  it('let the shape of the state be long, to a limit', () => {
    const longestWith = (lines: number) =>
      figuresOf(tree({ 'renderer/state/appState.ts': { lines }, 'a.ts': { lines: 90 } })).longest;
    expect([650, 651].map(longestWith)).toEqual([90, 651]);
  });

  it('are refused above a limit', () => {
    const figures = figuresOf(tree({ 'a.ts': { lines: LIMITS.longest + 1 } }));
    expect(outOfBounds(figures)).toEqual([
      `longest is ${LIMITS.longest + 1}, and may be at most ${LIMITS.longest} (test/figures.mjs).`,
    ]);
    expect(outOfBounds({ ...figures, longest: LIMITS.longest })).toEqual([]);
    expect(outOfBounds({ ...figures, longest: 1, median: LEAST_MEDIAN - 1 })).toEqual([
      `median is ${LEAST_MEDIAN - 1}, and must be at least ${LEAST_MEDIAN} (test/figures.mjs).`,
    ]);
  });
});
