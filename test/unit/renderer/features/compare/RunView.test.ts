/** A comparison in the window: its state as the services tell of it, and what table, sentence and plots make of it. */
import { describe, expect, it } from 'vitest';
import type { ColumnStep } from '@/electron/contract/compare/compare';
import { placeLabels } from '@/renderer/features/compare/ComparePlot';
import { columnName, loadText, runProgress, stateText, warningsOf } from '@/renderer/features/compare/columnText';
import { commonBasis, type Figure, figures, formatKld, formatShare } from '@/renderer/features/compare/figures';
import { plotsOf } from '@/renderer/features/compare/plotData';
import { detailOf } from '@/renderer/features/compare/RunView';
import { comparisonColumn as column, comparisonRun as run } from '@/test/fixtures/renderer/comparison';
import { effective } from '@/test/fixtures/samples';

const types = ['f16', 'turbo4', 'turbo3'];
const quality = { tokens: 2000, perplexity: 12.5, meanKld: 0.012, meanKldError: 0.0001, kld999: 0.4, sameTop: 0.972 };

const waiting = types.map((_, index) =>
  column(index, { state: 'waiting', memory: null, quality: null, speed: null, context: null }),
);

describe('the line below a judgement', () => {
  const line = (change: Parameters<typeof column>[1] = {}) => detailOf(column(1, change), column(0), 'f16');

  it('has memory and speed as they were measured, and none that was not', () => {
    expect(line()).toBe('17.0 KiB per token, f16 64.0 KiB; writes more slowly: 100 instead of 100 tok/s.');
    expect(line({ speed: null })).toBe('17.0 KiB per token, f16 64.0 KiB.');
  });

  it('has the range where the rounds differ, and one speed: that of the rounds', () => {
    const speed = { interleaved: true, tokens: 32, median: 90, rounds: [90, 90] };
    const wide = { ...speed, ratio: { median: 0.9, low: 0.96, high: 1.1 } };
    expect(line({ speed: wide })).toContain('about as fast: 90.0 instead of 100 tok/s (0.96× to 1.10× in 2 rounds)');
    const once = { ...speed, rounds: [90], ratio: { median: 0.9, low: 0.9, high: 0.9 } };
    expect(line({ speed: once })).toContain('writes 90.0 instead of 100 tok/s (one round)');
  });

  it('judges by no answer of fewer than 16 tokens', () => {
    const agreement = (own: number, share = 1) => ({
      agreement: { prefix: share === 1 ? own : 3, own, reference: own, share },
    });
    expect(line(agreement(15))).toContain('its answer is too short to tell.');
    expect(line(agreement(16))).toContain('its answer is the same to the last token');
    expect(line(agreement(24, 0.5))).toContain('the same for the first 3 of 24 tokens, the end counted');
  });
});

describe('a column of another model', () => {
  const model = (name: string, loadMs: number | null) => ({ name, fileName: name, fingerprint: 'f', loadMs });
  const first = column(0, { model: model('Tiny, small Q8_0', null) });
  const other = column(1, { model: model('Large Q4_K', 2500) });

  it('is named by it, and tells all of its memory and its load', () => {
    expect(columnName(first, [first, other])).toBe('Tiny, small Q8_0, f16');
    expect(detailOf(other, first, 'f16')).toMatch(/^68\.0 MiB in all, f16 256 MiB; loaded in 2\.50 s; /);
    expect(figures.find(({ id }) => id === 'load')?.of(other)).toBe(2500);
    expect([first, other].map(({ model: own }) => own && loadText(own))).toEqual([
      'was loaded already',
      'loaded in 2.50 s',
    ]);
  });

  it('has its answer compared in words where it has no tokens in common', () => {
    const agreement = (share: number, prefix = 3) => ({
      agreement: { words: true as const, prefix, own: 24, reference: 20, share },
    });
    const line = (share: number, prefix?: number) => detailOf({ ...other, ...agreement(share, prefix) }, first, 'f16');
    expect(line(0.5)).toContain('the same for the first 3 of 24 words, the end counted');
    expect(line(1)).toContain('the same to the last word');
    expect(line(0.5, 0)).toContain('differs from the first word on');
  });

  it('is what a run says that it loads, in the order in which it does', () => {
    const { request } = run();
    const configurations = request.configurations.map((one, index) => (index === 2 ? one : { ...one, modelId: 'b' }));
    const asked = { ...request, configurations, options: { ...request.options, reference: 2 } };
    const columns = [
      { ...other, state: 'waiting' as const },
      { ...other, state: 'waiting' as const },
      { ...first, state: 'waiting' as const },
    ];
    const at = (changed: typeof columns) =>
      runProgress(run(changed, { request: asked, state: 'running', step: 'loading' }));
    expect(at(columns).text).toBe('Loading Tiny, small Q8_0');
    expect(at(columns.map((one, index) => (index === 2 ? { ...one, state: 'done' as never } : one))).text).toBe(
      'Loading Large Q4_K',
    );
  });
});

describe('figures', () => {
  const figureOf = (id: string) => figures.find((figure) => figure.id === id) as Figure;
  const said = (id: string, of = column(1)) => [figureOf(id).detail?.(of), figureOf(id).rests?.(of)];

  it('say what they rest on, once where it is the same for all that have the figure', () => {
    expect(said('mean-kld')).toEqual(['± 1.0e-4', '2,000 tokens']);
    expect(said('same-top')).toEqual([undefined, '2,000 tokens']);
    expect(said('speed-ratio')).toEqual(['100 tok/s', '2 × 32 tokens']);
    expect(said('bytes-per-token')).toEqual(['68.0 MiB', 'for 4K']);
    const agreement = { prefix: 3, own: 12, reference: 24, share: 0.5 };
    expect(said('agreement', column(1, { agreement }))).toEqual(['first 3 of 24', 'tokens, the end counted']);
    const short = { prefix: 4, own: 4, reference: 4, share: 1 };
    expect(said('agreement', column(1, { agreement: short }))[0]).toBe('too short to tell');
    const columns = [column(0), column(1), column(2, { quality: null })];
    expect(commonBasis(figureOf('same-top'), columns)).toBe('2,000 tokens');
    const shorter = column(2, { quality: { ...quality, tokens: 16 } });
    expect(commonBasis(figureOf('same-top'), [column(0), shorter])).toBeNull();
  });

  it('are not rounded to what they are not', () => {
    expect([0, 0.00004, 0.0123].map(formatKld)).toEqual(['0', '4.0e-5', '0.012']);
    expect([1, 0.9999, 0.9994].map(formatShare)).toEqual(['100%', 'over 99.9%', '99.9%']);
  });
});

describe('plots', () => {
  const point = { tokensPerSecond: 50, tokens: 16, promptTokensPerSecond: null, kvBytes: 1024 };
  const curve = [
    { ...point, depth: 0 },
    { ...point, depth: 2048, tokensPerSecond: 40, kvBytes: 4096 },
  ];

  it('have a line for each column that has points, on one scale', () => {
    const columns = [column(0, { curve }), column(1, { curve: curve.slice(0, 1) }), column(2)];
    const [speed, memory] = plotsOf(run(columns));
    expect(speed).toMatchObject({ id: 'speed', x: [0, 2048] });
    expect(speed?.series.map(({ name, values }) => [name, values])).toEqual([
      ['f16', [50, 40]],
      ['turbo4', [50, null]],
    ]);
    expect(memory?.series[0]?.values).toEqual([1024, 4096]);
  });

  it('show quality against bytes, and the longest contexts; nothing without figures', () => {
    const columns = types.map((_, index) => column(index, { longest: { nCtx: 8192 * (index + 1), bytes: 1 } }));
    const [quality, longest] = plotsOf(run(columns));
    expect(quality?.x).toEqual([13, 17, 64].map((size) => size * 1024));
    expect(quality?.series.map(({ values }) => values)).toEqual([
      [null, null, 0],
      [null, 0.012, null],
      [0.05, null, null],
    ]);
    expect(longest?.series.map(({ values }) => values.find((value) => value !== null))).toEqual([8192, 16_384, 24_576]);
    expect(plotsOf(run(waiting))).toEqual([]);
  });

  it('name each point where no other point and no other name is', () => {
    const inside = { left: 0, right: 400, top: 0, bottom: 200 };
    const alone = { x: 100, y: 100, width: 40 };
    expect(placeLabels([alone], inside, 12, 9)).toEqual([{ x: 100, y: 85 }]);
    // the second one's name would cover the first point, and to its right there is room
    expect(placeLabels([alone, { ...alone, y: 115 }], inside, 12, 9)[1]).toEqual({ x: 129, y: 115 });
    // at the right edge there is none
    const edge = { ...alone, x: 385 };
    expect(placeLabels([edge], inside, 12, 9)[0]).toEqual({ x: 356, y: 100 });
  });
});

it('a column has a name, says how far it is, and what runs otherwise than asked', () => {
  expect(columnName(column(1), run().columns)).toBe('turbo4');
  const longer = column(1, { configuration: { typeK: 'turbo4', typeV: 'turbo3', nCtx: 8192 } });
  expect(columnName(longer, [column(0), longer])).toBe('turbo4 / turbo3, 8K');
  const at = (step: ColumnStep) => column(1, { state: 'running', step, progress: 0.42, speed: null });
  expect(stateText(at('prompt'))).toContain('42%');
  const answer = { text: 'Tom', thinking: '', stopReason: 'end-of-turn', stats: null } as const;
  expect(stateText({ ...at('answer'), answer })).not.toBe(stateText(at('answer')));
  const typeV = { asked: 'turbo3', effective: 'q8_0', reason: 'The heads are odd.' };
  const odd = column(1, { context: { ...effective, typeV }, notes: ['Short.', 'Short.'] });
  expect(warningsOf(odd)).toEqual([expect.stringMatching(/turbo3.*q8_0.*The heads are odd\./), 'Short.']);
  const recent = { asked: 512, tokens: 0, reason: 'a GPU takes part' };
  expect(warningsOf(column(1, { context: { ...effective, recent } }))).toEqual([
    expect.stringMatching(/8 bits: a GPU takes part$/),
  ]);
  const columns = [
    column(0),
    column(1, { state: 'running', step: 'quality', progress: 0.5 }),
    column(2, { state: 'waiting' }),
  ];
  const progress = runProgress(run(columns, { state: 'running' }));
  expect(progress.text).toMatch(/turbo4.*50%/);
  // of four steps the second column has done three and a half
  expect(progress.share).toBeCloseTo((1 + 3.5 / 4) / 3);
  // the reference has one step more
  const first = [column(0, { state: 'running', step: 'floor', progress: 0.5 }), ...columns.slice(2)];
  expect(runProgress(run(first, { state: 'running' })).share).toBeCloseTo(4.5 / 5 / 2);
});
