/** The rules of the first line of a comparison, and the figures of docs/quality.md that they come from. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checkOf, gradeOf, judgementsOf, leastCalls, leastFacts, verdictOf } from '@/electron/contract/lib/judgement';
import {
  checkColumn as checked,
  checkRun,
  comparisonColumn as column,
  comparisonRun as run,
} from '@/test/fixtures/renderer/comparison';

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
    // the limits come from the smaller model, which loses more
    const [, from = ''] = readFileSync('docs/quality.md', 'utf8').split('**concertina-tiny**');
    const [figures = ''] = from.split('<!-- end of the figures -->');
    const rows = figures.matchAll(
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

describe('another model', () => {
  const model = (name: string) => ({ name, fileName: name, fingerprint: 'f', loadMs: 900 });
  const memory = (weights: number) => ({ weights, kvK: 10, kvV: 10, kvF16: 20, compute: 0 });
  const lineOf = (change: Parameters<typeof column>[1]) => {
    const reference = column(0, { model: model('A'), memory: memory(80) });
    const [, other] = judgementsOf(
      run([
        reference,
        column(1, { model: model('A'), memory: memory(80) }),
        column(2, { model: model('B'), memory: memory(30), ...change }),
      ]),
    );
    return other;
  };

  it('is given no advice: all of its memory, and the next words where they can be compared', () => {
    const quality = { tokens: 2000, perplexity: 9, meanKld: 0.5, meanKldError: 0, kld999: 1, sameTop: 0.71 };
    expect(lineOf({ quality })).toMatchObject({
      ...{ grade: null, advice: '' },
      sentence: 'Half the memory; picks the same next word 71 times of 100.',
    });
    const few = lineOf({ quality: { ...quality, tokens: 90 } })?.sentence;
    expect(few).toBe('Half the memory; 90 tokens of text are too few to judge by.');
  });

  it('says of another vocabulary that there is nothing to compare', () => {
    const quality = { tokens: 2000, perplexity: 9, meanKld: null, meanKldError: null, kld999: null, sameTop: null };
    const agreement = { words: true as const, prefix: 1, own: 20, reference: 20, share: 0.2 };
    expect(lineOf({ quality, agreement })?.sentence).toMatch(/^Half the memory; has another vocabulary/);
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

describe('the verdict of a check', () => {
  const quality = (meanKld: number, sameTop: number) => ({
    ...{ tokens: 900, perplexity: 12, meanKldError: 0, kld999: 0.4 },
    ...{ meanKld, sameTop },
  });
  const good = { quality: quality(0.012, 0.95) };
  const bad = { quality: quality(0.2, 0.7) };

  it('is the smallest pair that loses nothing; a bad cache type in its place changes it', () => {
    const verdict = verdictOf(checkRun([checked(0, 13, 12), checked(1, 13, 12, good), checked(2, 13, 12, good)]));
    expect(verdict).toMatchObject({ kind: 'pick', pick: 2, advice: 'Use turbo3.' });
    expect(verdict?.sentence).toContain('f16 makes 13 of 14 tool calls right and finds 12 of 12 hidden facts');
    for (const planted of [checked(2, 12, 12, good), checked(2, 13, 11, good), checked(2, 13, 12, bad)]) {
      const other = verdictOf(checkRun([checked(0, 13, 12), checked(1, 13, 12, good), planted]));
      expect(other).toMatchObject({ kind: 'pick', pick: 1, advice: 'Use turbo4.' });
      expect(other?.losses.map(({ lost }) => lost.length)).toEqual([0, 1]);
    }
  });

  it('says what each pair loses, and that only f16 keeps everything', () => {
    const verdict = verdictOf(checkRun([checked(0, 13, 12), checked(1, 12, 12, good), checked(2, 9, 10, bad)]));
    expect(verdict).toMatchObject({ kind: 'none', pick: 0, advice: 'Only f16 keeps everything.' });
    expect(verdict?.losses).toEqual([
      { index: 1, lost: ['12 instead of 13 tool calls right'] },
      {
        index: 2,
        lost: [
          ...['9 instead of 13 tool calls right', '10 instead of 12 hidden facts found'],
          'its predictions differ: picks another next word 30 times of 100',
        ],
      },
    ]);
  });

  it('names both types of a pair', () => {
    const pair = { configuration: { typeK: 'q5_0', typeV: 'turbo4', nCtx: 4096 } as const };
    const verdict = verdictOf(checkRun([checked(0, 13, 12), checked(1, 13, 12, { ...good, ...pair })]));
    expect(verdict?.advice).toBe('Use q5_0 for K and turbo4 for V.');
  });

  it('is that the model cannot be judged where f16 itself fails', () => {
    const verdict = (calls: number, facts: number) =>
      verdictOf(checkRun([checked(0, calls, facts), checked(1, 14, 12, good)]));
    expect(verdict(leastCalls, leastFacts)).toMatchObject({ kind: 'pick', pick: 1 });
    const few = verdict(leastCalls - 1, 12);
    expect(few).toMatchObject({
      kind: 'cannot-judge',
      pick: null,
      advice: 'This model cannot be judged by it.',
      losses: [],
    });
    expect(few?.sentence).toContain('With f16 itself it makes only 9 of 14 tool calls right');
    expect(verdict(14, leastFacts - 1)?.sentence).toContain('finds only 8 of 12 hidden facts');
    const error = { code: 'out-of-memory' as const, message: 'The KV cache does not fit into RAM.', hint: '' };
    const none = checked(0, 14, 12, { state: 'failed', error, tools: null, needles: null, quality: null });
    const lost = verdictOf(checkRun([none, checked(1, 14, 12, good)]));
    expect(lost?.sentence).toBe('What it does with f16 could not be measured: The KV cache does not fit into RAM.');
  });

  it('passes over what was not measured, and is none of a comparison or before the end', () => {
    const columns = [checked(0, 13, 12), checked(1, 13, 12, good), checked(2, 13, 12, { tools: null })];
    expect(verdictOf(checkRun(columns))).toMatchObject({ pick: 1, losses: [{ index: 1, lost: [] }] });
    expect(verdictOf(checkRun(columns.slice(0, 1)))).toMatchObject({ kind: 'none', losses: [] });
    expect(verdictOf(checkRun(columns, { state: 'cancelled' }))).toBeNull();
    expect(verdictOf(checkRun(columns, { state: 'running' }))).toBeNull();
    expect(verdictOf(run(columns))).toBeNull();
  });

  it('is kept for the content of the model, with the pairs that were judged', () => {
    const columns = [checked(0, 13, 12), checked(1, 13, 12, good), checked(2, 9, 12, good)];
    expect(checkOf(checkRun(columns))).toEqual({
      ...{ fingerprint: 'f1', modelId: 'embedded', depth: 4096, pick: 1 },
      pairs: [
        { typeK: 'f16', typeV: 'f16', keeps: true, calls: 13 },
        { typeK: 'turbo4', typeV: 'turbo4', keeps: true, calls: 13 },
        { typeK: 'turbo3', typeV: 'turbo3', keeps: false, calls: 9 },
      ],
      calls: { all: 14, right: 13 },
    });
    expect(checkOf(checkRun([checked(0, 3, 12), ...columns.slice(1)]))).toMatchObject({ pick: null, pairs: [] });
    expect(checkOf(checkRun(columns, { model: null }))).toBeNull();
    expect(checkOf(run(columns))).toBeNull();
  });
});
