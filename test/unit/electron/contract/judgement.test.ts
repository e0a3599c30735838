/** The rules of the first line of a comparison, and the figures of docs/quality.md that they come from. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { gradeOf, judgementsOf } from '@/electron/contract/lib/judgement';
import { comparisonColumn as column, comparisonRun as run } from '@/test/fixtures/renderer/comparison';

describe('the dial', () => {
  it.each([
    // exactly at a limit, and beyond it by either figure
    [0.97, 0.003, 'same'],
    [1, 0, 'same'],
    [0.9699, 0.003, 'hardly'],
    [0.97, 0.0031, 'hardly'],
    [0.9, 0.03, 'hardly'],
    [0.8999, 0.03, 'noticeable'],
    [0.9, 0.0301, 'noticeable'],
    [0.8, 0.15, 'noticeable'],
    [0.7999, 0.15, 'not advisable'],
    [0.99, 0.1501, 'not advisable'],
  ] as const)('the same next word at %s and a mean KLD of %s: %s', (sameTop, meanKld, grade) => {
    expect(gradeOf({ tokens: 256, sameTop, meanKld })).toBe(grade);
  });

  it('is not set for fewer than 256 tokens, nor without a reference', () => {
    expect(gradeOf({ tokens: 255, sameTop: 1, meanKld: 0 })).toBeNull();
    expect(gradeOf({ tokens: 2000, sameTop: null, meanKld: null })).toBeNull();
  });

  it('puts each type of docs/quality.md where it says', () => {
    const rows = readFileSync('docs/quality.md', 'utf8').matchAll(
      /^\| (q8_0|q5_0|iq4_nl|q4_0|turbo4|turbo3) \| [\d.]+ \| ([\d.]+) ± [\d.]+ \| [\d.]+ \| ([\d.]+)% \|/gm,
    );
    const found = [...rows].map(([, type, kld, top]) => [
      type,
      gradeOf({ tokens: 16_320, sameTop: Number(top) / 100, meanKld: Number(kld) }),
    ]);
    expect(found).toHaveLength(18);
    const expected = {
      ...{ q8_0: 'same', q5_0: 'hardly', iq4_nl: 'hardly' },
      ...{ turbo4: 'hardly', q4_0: 'noticeable', turbo3: 'noticeable' },
    };
    for (const [type, grade] of found) expect([type, grade]).toEqual([type, expected[type as keyof typeof expected]]);
  });
});

describe('the first line', () => {
  const scored = { perplexity: 12, meanKldError: 0, kld999: 0.4, tokens: 2000 };
  const quality = (sameTop: number, meanKld: number, tokens = 2000) => ({ ...scored, sameTop, meanKld, tokens });
  const kib = 1024 * 4096;
  const memory = (size: number) => ({ weights: 1, kvK: (size * kib) / 2, kvV: (size * kib) / 2, kvF16: 1, compute: 1 });
  function lineOf(change: Parameters<typeof column>[1], size = 17): string {
    const reference = column(0, { memory: memory(64) });
    const [first] = judgementsOf(run([reference, column(1, { memory: memory(size), ...change })]));
    return first ? `${first.advice} ${first.sentence}` : '';
  }

  it.each([
    [17, 0.947, 0.017, 'use it. A quarter of the memory; picks the same next word 95 times of 100.'],
    [34, 0.979, 0.0012, 'use it. Half the memory; picks the same next word 98 times of 100.'],
    [34, 0.9991, 0.0001, 'use it. Half the memory; picks the same next word more than 99 times of 100.'],
    [34, 1, 0, 'use it. Half the memory; picks the same next word every time.'],
    [13, 0.89, 0.07, 'only if you need the room. A fifth of the memory; picks another next word 11 times of 100.'],
    [22, 0.943, 0.009, 'use it. A third of the memory; picks the same next word 94 times of 100.'],
    [18, 0.91, 0.024, 'use it. 28% of the memory; picks the same next word 91 times of 100.'],
    [13, 0.7, 0.4, 'not advisable. A fifth of the memory; picks another next word 30 times of 100.'],
    [64, 0.98, 0.001, 'saves nothing. The same memory; picks the same next word 98 times of 100.'],
    [128, 0.98, 0.001, 'saves nothing. 2 times the memory; picks the same next word 98 times of 100.'],
  ])('%s KiB instead of 64, %s, %s: %s', (size, sameTop, meanKld, line) => {
    expect(lineOf({ quality: quality(sameTop, meanKld) }, size)).toBe(line);
  });

  it('says what it cannot tell, and names the hidden facts', () => {
    const short = 'too short to tell. A quarter of the memory; 255 tokens of text are too few to judge by.';
    expect(lineOf({ quality: quality(1, 0, 255) })).toBe(short);
    expect(lineOf({ quality: null })).toBe('how exact it is was not measured. A quarter of the memory.');
    expect(lineOf({ quality: null, state: 'running' })).toBe(' A quarter of the memory.');
    const fact = { depth: 0, fact: 'f', question: 'q', answer: 'a', reply: 'r', found: true };
    const needles = { tokens: 900, found: 1, results: [fact, { ...fact, found: false }] };
    expect(lineOf({ quality: quality(0.95, 0.01), needles })).toContain('; finds 1 of 2 hidden facts.');
  });

  it('is one for each type beside the reference, and none before its memory is known', () => {
    expect(judgementsOf(run()).map(({ grade }) => grade)).toEqual(['hardly', 'noticeable']);
    expect(judgementsOf(run([column(0), column(1, { memory: null })]))).toEqual([]);
    expect(judgementsOf(run([column(0, { memory: null }), column(1)]))).toEqual([]);
  });
});
