/** What is worked out of measured things: where answers part, figures of speed, depths, hidden facts. */
import { describe, expect, test } from 'vitest';
import type { Step } from '@/electron/engine/compare/column';
import { names, plant } from '@/electron/engine/compare/needles';
import {
  agreementOf,
  differenceOf,
  floorNote,
  lacksFloor,
  partingOf,
  scoredOf,
} from '@/electron/engine/compare/quality';
import { curveTokens, depthsWithin, median, speedOf } from '@/electron/engine/compare/speed';

const words = ['the', ' lamp', ' was', ' lit', ' out', ''];
const textOf = (tokens: number[]) => tokens.map((token) => words[token] ?? '').join('');

function step(token: number, probability: number, other: number): Step {
  const candidates = [
    { token, probability },
    { token: other, probability: 1 - probability },
  ];
  return { token, end: false, candidates };
}

test('the first token that differs comes with both choices as both columns held them', () => {
  const own = [step(0, 0.9, 1), step(1, 0.8, 2), step(2, 0.7, 1), step(4, 0.6, 3)];
  const reference = [step(0, 0.9, 1), step(1, 0.8, 2), step(2, 0.7, 1), step(3, 0.55, 4)];
  const sides = [
    { steps: own, text: 'the lamp was out' },
    { steps: reference, text: 'the lamp was lit' },
  ] as const;
  const found = differenceOf(sides[0], sides[1], textOf);
  expect(found).toMatchObject({ index: 3, offset: 12, referenceOffset: 12 });
  const own4 = { token: 4, text: ' out', end: false, probability: 0.6, referenceProbability: expect.closeTo(0.45) };
  expect(found?.own).toEqual(own4);
  expect(found?.reference).toMatchObject({ token: 3, text: ' lit', probability: 0.4, referenceProbability: 0.55 });
  // where the text was rewritten, the first character that differs
  const thought = differenceOf({ steps: own, text: 'was out' }, { steps: reference, text: 'was lit' }, textOf);
  expect(thought).toMatchObject({ index: 3, offset: 4, referenceOffset: 4 });
});

test('an answer that ends earlier differs by its end, one that was cut off does not', () => {
  const long = [step(0, 0.9, 1), step(1, 0.9, 5)];
  const ended = [step(0, 0.9, 1), { ...step(5, 0.5, 3), end: true }];
  const found = differenceOf({ steps: ended, text: 'the' }, { steps: long, text: 'the lamp' }, textOf);
  expect(found?.own).toMatchObject({ end: true, text: '', probability: 0.5 });
  // not among the likeliest of this column
  expect(found?.reference).toMatchObject({ token: 1, probability: null });
  expect(differenceOf({ steps: long.slice(0, 1), text: 'the' }, { steps: long, text: 'the lamp' }, textOf)).toBeNull();
  expect(differenceOf({ steps: long, text: 'x' }, { steps: long, text: 'x' }, textOf)).toBeNull();
});

test('agreement counts what is the same in order, not only at the beginning', () => {
  const steps = (tokens: number[]) => tokens.map((token) => step(token, 1, 0));
  const found = agreementOf(steps([1, 2, 9, 3, 4]), steps([1, 2, 3, 4]));
  expect(found).toEqual({ prefix: 2, own: 5, reference: 4, share: 4 / 5 });
  expect(agreementOf([], [])).toMatchObject({ share: 1 });
  expect(agreementOf(steps([1]), [])).toMatchObject({ prefix: 0, share: 0 });
});

describe('answers of two vocabularies', () => {
  /** of any tokens: those of two models mean nothing beside each other */
  const side = (text: string, { ended = true } = {}) => ({ steps: [{ ...step(7, 1, 0), end: ended }], text });

  test('part at the first word that differs, wherever each text has it; white space is no word', () => {
    const { difference, agreement } = partingOf(side('The  lamp\nwas out.'), side('The lamp was lit, at last.'));
    expect(difference).toEqual({
      ...{ index: 3, offset: 14, referenceOffset: 13 },
      own: { token: null, text: 'out', end: false, probability: null, referenceProbability: null },
      reference: { token: null, text: 'lit', end: false, probability: null, referenceProbability: null },
    });
    // out or lit; the comma, "at" and "last" are too many; the point and the end
    expect(agreement).toEqual({ words: true, prefix: 3, own: 6, reference: 9, share: 5 / 9 });
    expect(partingOf(side('Der Ölstand'), side('Der Öltank')).difference).toMatchObject({ own: { text: 'Ölstand' } });
    // no spaces between words
    expect(partingOf(side('灯が点いた'), side('灯が消えた')).difference).toMatchObject({ index: 2, offset: 2 });
  });

  test('an end is a difference, being cut off is none, and a word that was cut off is not judged', () => {
    expect(partingOf(side('The lamp'), side('The lamp was lit')).difference).toMatchObject({
      own: { end: true, text: '' },
      reference: { text: 'was' },
    });
    const cut = partingOf(side('The lamp wa', { ended: false }), side('The lamp was lit'));
    expect(cut).toMatchObject({ difference: null, agreement: { prefix: 2, own: 2, reference: 5 } });
    expect(partingOf(side('The lamp'), side('The lamp'))).toMatchObject({ difference: null, agreement: { share: 1 } });
  });
});

test('rounds in turns are compared one by one, others by their medians', () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, 0]);
  const inTurns = speedOf([9, 18, 12], [10, 20, 10], true);
  expect(inTurns).toMatchObject({ median: 12, ratio: { median: 1.2, low: 0.9, high: 1.2 } });
  const alone = speedOf([9, 18, 12], [10, 20, 10], false);
  expect(alone.ratio).toEqual({ median: 1.2, low: 0.45, high: 1.8 });
  expect(speedOf([9], null, true).ratio).toBeNull();
});

test('depths are those that a context can hold with the measured steps behind them', () => {
  expect(depthsWithin([2048, 0, 512, 512], 1024)).toEqual([0, 512]);
  expect(depthsWithin([1024 - curveTokens - 1, 1024 - curveTokens], 1024)).toEqual([1024 - curveTokens - 1]);
  expect([scoredOf(1024), scoredOf(1025)]).toEqual([511, 512]);
});

const count = (text: string) => text.split(/\s+/).filter(Boolean).length;
const story = Array.from({ length: 100 }, (_, i) => `Sentence number ${i} of this story ends here.`).join(' ');

test('facts stand between sentences at their depths, the same ones each time', () => {
  const planted = plant(story, [0.9, 0.1, 0.5, 0.1], 10_000, count);
  expect(planted.items.map(({ depth }) => depth)).toEqual([0.1, 0.5, 0.9]);
  expect(new Set(planted.items.map(({ question }) => question)).size).toBe(3);
  for (const { depth, fact, answer } of planted.items) {
    expect(fact).toContain(answer);
    const before = planted.text.slice(0, planted.text.indexOf(fact));
    expect(before.trimEnd()).toMatch(/[.!?]$/);
    expect(before.length / planted.text.length).toBeCloseTo(depth, 1);
  }
  expect(planted).toMatchObject({ cut: false, tokens: count(planted.text) });
  expect(plant(story, [0.1, 0.5, 0.9], 10_000, count)).toEqual(planted);
});

test('a text that is too long is cut at a sentence, one that speaks of a subject gets another', () => {
  const planted = plant(`Fresno is a city. ${story}`, [0, 1], 120, count);
  expect(planted.cut).toBe(true);
  expect(planted.tokens).toBeLessThanOrEqual(120);
  expect(planted.tokens).toBeGreaterThan(80);
  expect(planted.items[0]?.question).not.toContain('Fresno');
  expect(planted.text.startsWith(planted.items[0]?.fact ?? '?')).toBe(true);
  expect(() => plant(story, [0.5], 5, count)).toThrow('too short');
});

test('a reply is right when it names the answer as a word of its own', () => {
  expect(names('It is 7654321.', '7654321')).toBe(true);
  expect(names('It is 17654321.', '7654321')).toBe(false);
  expect(names('Lemon Tart, I think', 'lemon tart')).toBe(true);
  expect(names('QJOB84', 'QJOB84')).toBe(true);
});

test('q8_0 beside f16 tells what any change of the cache shows, and what cannot be told from f16', () => {
  const column = (type: string, meanKld: number) => ({
    configuration: { typeK: type, typeV: type, nCtx: 1024 } as never,
    quality: { tokens: 500, perplexity: 9, meanKld, meanKldError: 0.0001, kld999: 0.1, sameTop: 0.98 },
  });
  const [f16, near, far] = [column('f16', 0), column('q5_0', 0.0011), column('turbo3', 0.04)];
  const columns = [f16, near, far, column('f16', 0)];
  expect(lacksFloor(columns, f16)).toBe(true);
  expect(floorNote(columns, f16, null)).toBe('');
  const measured = column('q8_0', 0.00104).quality;
  expect(floorNote(columns, f16, measured)).toMatch(/q8_0, .* KLD of 0\.001\. Not above that, .* f16: q5_0\.$/);
  // a column of that type tells, and is not held against itself
  const own = [...columns, column('q8_0', 0.0009)];
  expect(lacksFloor(own, f16)).toBe(false);
  expect(floorNote(own, f16, null)).toMatch(/KLD of 0\.0009\.$/);
  // what another reference shows is its own
  expect(lacksFloor(columns, far)).toBe(false);
  expect(floorNote(own, far, null)).toBe('');
});
