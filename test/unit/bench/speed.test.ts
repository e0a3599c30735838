/** `npm run bench`: options, ratios, the JSON object, tables and charts. */
import { describe, expect, it } from 'vitest';
import { depthName, OptionError } from '../../bench/command.mjs';
import { documentShapes, parseOptions, variantsOf } from '../../bench/speed/options.mjs';
import type { Event, Result } from '../../bench/speed/report.mjs';
import { charts, figuresOf, markdown, median, quantile, ratioOf } from '../../bench/speed/report.mjs';
import { smallModel, tinyModel } from '../../models.mjs';

// Events of the measuring program in the form it prints them, with seconds that are easy to calculate with.

const variant = (name: string, type: string, stock: boolean, bytesPerPosition: number): Event => ({
  event: 'variant',
  name,
  stock,
  typeK: type,
  typeV: type,
  reasonK: '',
  reasonV: '',
  plainCache: true,
  bytesPerPosition,
});

const samples = (what: string, depth: number, name: string, tokens: number, seconds: number[]): Event[] =>
  seconds.map((value, i) => ({ event: 'sample', what, depth, variant: name, round: i + 1, tokens, seconds: value }));

const EVENTS: Event[] = [
  { event: 'bandwidth', threads: 1, bytesPerSecond: 19e9 },
  { event: 'bandwidth', threads: 2, bytesPerSecond: 28e9 },
  { event: 'bandwidth', threads: 2, bytesPerSecond: 30e9 },
  {
    event: 'model',
    name: 'qwen3-0.6b',
    what: 'Qwen3-0.6B, 8 of 28 layers, GQA 2',
    layers: 8,
    heads: 16,
    headsKv: 8,
    weightBytes: 168_587_264,
    simd: 'avx2',
  },
  variant('q8_0 stock', 'q8_0', true, 17_408),
  variant('q8_0', 'q8_0', false, 17_408),
  variant('turbo4', 'turbo4', false, 8704),
  { event: 'progress', what: 'decode', depth: 4096 },
  // the third round met a neighbour: all are slow, the ratios are not
  ...samples('decode', 4096, 'q8_0 stock', 1, [0.08, 0.08, 0.8]),
  ...samples('decode', 4096, 'q8_0', 1, [0.04, 0.03, 0.3]),
  ...samples('decode', 4096, 'turbo4', 1, [0.02, 0.02, 0.2]),
  ...samples('attention-decode', 4096, 'q8_0 stock', 1, [0.06, 0.06]),
  ...samples('attention-decode', 4096, 'turbo4', 1, [0.003, 0.004]),
  ...samples('prefill', 4096, 'q8_0 stock', 64, [6.4]),
  ...samples('prefill', 4096, 'turbo4', 64, [3.2]),
  { event: 'cut', what: 'prefill', depth: 4096, rounds: 1 },
  { event: 'done' },
];

const RESULT: Result = {
  ...figuresOf(EVENTS),
  date: '2026-11-21T10:00:00.000Z',
  command: 'npm run bench -- --quick',
  settings: { threads: 2, rounds: 5, batch: 64, quick: true },
  machine: {
    cpu: 'AMD EPYC',
    cores: 2,
    memoryBytes: 24e9,
    platform: 'linux x64',
    loadBefore: 0.2,
    loadAfter: 2.1,
  },
};

describe('parseOptions', () => {
  it('reads lists, sizes and pairs', () => {
    const settings = parseOptions(['--types', 'f16, q8_0/turbo4,turbo4/turbo4', '--depths', '0,4K,5000', '-t', '3']);
    expect(settings.types).toEqual(['f16', 'q8_0/turbo4', 'turbo4']);
    expect(settings.depths).toEqual([0, 4096, 5000]);
    expect(settings.threads).toBe(3);
    expect(settings.shape).toBe('qwen3-0.6b');
    expect(parseOptions(['--prompts', 'none']).prompts).toEqual([]);
  });

  it('knows the models of the tree by name', () => {
    expect(parseOptions(['--model', 'small'])).toMatchObject({ model: smallModel, shape: undefined });
    expect(parseOptions(['--model', 'tiny'])).toMatchObject({ model: tinyModel, shape: undefined });
    expect(() => parseOptions(['--model', '/nowhere.gguf'])).toThrow('no file /nowhere.gguf');
  });

  it('leaves out on a GPU what is measured on the CPU only', () => {
    const { gpuLayers, parts } = parseOptions(['--gpu-layers', '99']);
    expect(gpuLayers).toBe(99);
    expect(parts).toEqual(['decode', 'prefill']);
    expect(parseOptions([]).parts).toContain('attention-decode');
    expect(() => parseOptions(['--gpu-layers', 'all'])).toThrow(/--gpu-layers takes a whole number/);
  });

  it('has the depths that a quick run promises, and a limit of time', () => {
    const { depths, budget, rounds, shape } = parseOptions(['--quick', '--json']);
    expect(depths).toEqual([4096, 8192, 16384]);
    expect(budget).toBeGreaterThan(0);
    expect(rounds).toBe(5);
    expect(shape).toBe('qwen3-0.6b');
  });

  it.each([
    [['--types', 'turbo5'], /no cache type "turbo5"/],
    [['--types', 'f16,,q8_0'], /list with commas/],
    [['--types', 'f16/q8_0/q4_0'], /pair K\/V/],
    [['--depths', '4k,deep'], /"deep" is not a number of tokens/],
    [['--depths', '-1'], /ambiguous|not a number/i],
    [['--rounds', '4'], /from 5 to/],
    [['--shape', 'llama'], /there are qwen3-0.6b/],
    [['--model', '/no/such/file.gguf'], /no file/],
    [['--model', 'package.json', '--shape', 'qwen3-8b'], /not both/],
    [['--write-docs', '--quick'], /not for --quick/],
    [['--fast'], /--fast/],
  ])('refuses %j', (args, message) => {
    expect(() => parseOptions(args)).toThrow(OptionError);
    expect(() => parseOptions(args)).toThrow(message);
  });
});

describe('variantsOf', () => {
  const names = (types: string[], quick: boolean) => variantsOf({ types, quick }).map(({ name }) => name);

  it('always has both references', () => {
    expect(names(['turbo4'], true)).toEqual(['q8_0 stock', 'q8_0', 'turbo4']);
  });

  it('has one row of each type on a GPU, where only the turbo kernels are ours', () => {
    const variants = variantsOf({ types: ['f16', 'turbo4', 'q8_0/turbo3'], quick: true, gpuLayers: 99 });
    expect(variants.map(({ name }) => name)).toEqual(['q8_0 stock', 'f16 stock', 'turbo4', 'q8_0/turbo3']);
  });

  it('has no stock row for a type that upstream has not', () => {
    const full = ['q8_0 stock', 'q8_0', 'q4_0 stock', 'q4_0', 'q8_0/turbo4'];
    expect(names(['q8_0', 'q4_0', 'q8_0/turbo4'], false)).toEqual(full);
    expect(names(['q8_0', 'q4_0'], true)).toEqual(['q8_0 stock', 'q8_0', 'q4_0']);
  });
});

it('ratios: quantiles are interpolated, and only rounds that both have are compared', () => {
  expect(median([5, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(quantile([0, 10], 0.1)).toBeCloseTo(1);
  expect(quantile([7], 0.9)).toBe(7);
  const samples = new Map([
    [1, 1],
    [2, 20],
    [3, 9],
  ]);
  const reference = new Map([
    [1, 4],
    [2, 80],
  ]);
  expect(ratioOf(samples, reference)).toEqual({ median: 4, p10: 4, p90: 4, rounds: 2 });
  expect(ratioOf(samples, undefined)).toBeNull();
  expect(ratioOf(samples, new Map([[7, 1]]))).toBeNull();
});

describe('figuresOf', () => {
  const figures = figuresOf(EVENTS);

  it('has the two comparisons by type and depth, for our kernels only', () => {
    expect(figures.vsStockQ8_0).toEqual({ q8_0: { 4096: 2.667 }, turbo4: { 4096: 4 } });
    expect(figures.vsSameKernelQ8_0).toEqual({ q8_0: { 4096: 1 }, turbo4: { 4096: 1.5 } });
  });

  it('gives speeds, bytes and the part of the bandwidth', () => {
    const cell = figures.decode?.turbo4?.[4096];
    expect(cell?.tokensPerSecond).toBe(50);
    expect(cell?.bytesPerToken).toBe(168_587_264 + 8704 * 4097);
    expect(cell?.ofBandwidth).toBeCloseTo((168_587_264 + 8704 * 4097) / 0.02 / 30e9, 3);
    expect(figures.attentionDecode?.turbo4?.[4096]?.bytesPerToken).toBe(8704 * 4097);
    expect(figures.prefill?.turbo4?.[4096]).toMatchObject({ tokensPerSecond: 20, rounds: 1 });
    expect(figures.prefill?.turbo4?.[4096]?.bytesPerToken).toBeUndefined();
  });

  it('keeps the order of the variants, whoever had the first turn, and says what time did not allow', () => {
    const late = [...EVENTS].sort((a, b) => Number(b.variant === 'turbo4') - Number(a.variant === 'turbo4'));
    expect(Object.keys(figuresOf(late).decode ?? {})).toEqual(['q8_0 stock', 'q8_0', 'turbo4']);
    expect(figures.leftOut).toEqual(['prefill at depth 4096: 1 complete rounds only, for want of time']);
  });

  it('leaves bytes out where the cache is not one plain cache', () => {
    const events = EVENTS.map((event) => (event.event === 'variant' ? { ...event, plainCache: false } : event));
    expect(figuresOf(events).decode?.turbo4?.[4096]?.ofBandwidth).toBeUndefined();
  });
});

describe('markdown', () => {
  const text = markdown(RESULT);

  it('has a table for each comparison', () => {
    expect(text).toContain(
      '| tok/s, depth | 4K |\n| --- | ---: |\n| q8_0 stock | 12.5 |\n| q8_0 | 25 |\n| turbo4 | 50 |',
    );
    expect(text).toMatch(
      /times as fast, against stock q8_0, depth.*\n.*\n\| q8_0 stock \| 1\.00 .*\n\| q8_0 \| 2\.67 /,
    );
    expect(text).toMatch(/times as fast, against q8_0 with the same kernels.*\n.*\n.*\n.*\n\| turbo4 \| 1\.50 \(/);
  });

  it('says how far memory is, what the run was, and what is missing', () => {
    expect(text).toContain('| turbo4 | 204 MB, 34%, 34% |');
    // (169 MB + 4096*17408)/(169 MB + 4096*8704)
    expect(text).toMatch(/bytes of q8_0 \/ bytes, depth \| 4K \|\n.*\n\| turbo4 \| 1\.17 \|\n\n/);
    expect(text).toContain('Memory reads 19 GB/s with 1, 30 GB/s with 2 thread(s)');
    expect(text).toContain('Load average 0.2 before, 2.1 after');
    expect(text).toContain('| turbo4 | 2.00 (one round) |');
    expect(text).toContain('Left out: prefill at depth 4096');
    expect(text).not.toContain('whole prompt');
  });

  it('names the GPU, and leaves out what is known of the CPU only', () => {
    const events = EVENTS.filter(
      ({ event, name, variant }) => event !== 'bandwidth' && ![name, variant].includes('q8_0'),
    );
    const gpu = { ...RESULT, ...figuresOf(events), settings: { ...RESULT.settings, gpuLayers: 99 } };
    const shown = markdown({ ...gpu, model: { ...gpu.model, device: 'Apple M2' } });
    expect(shown).toContain('2 threads, 99 layers on Apple M2, 5 rounds. Load average');
    expect(shown).toMatch(/times as fast, against stock q8_0, depth.*\n.*\n.*\n\| turbo4 \| 4\.00 /);
    expect(shown).not.toContain('with the same kernels,');
    expect(shown).not.toContain('GB/s');
  });

  it('names a type that ran as another', () => {
    const variants = {
      ...RESULT.variants,
      turbo4: { ...RESULT.variants.turbo4, typeK: 'q8_0', reasonK: 'K has a bias.' },
    };
    expect(markdown({ ...RESULT, variants })).toContain('turbo4 ran as q8_0/turbo4: K has a bias.');
  });

  it('draws a chart of what there is, and names depths', () => {
    const svg = charts(RESULT);
    expect(svg).toMatch(/^<svg[\s\S]*Decode against q8_0 stock[\s\S]*turbo4[\s\S]*<\/svg>\n$/);
    const { attentionDecode: _, ...rest } = RESULT;
    expect(charts(rest)).not.toContain('Attention alone');
    expect([0, '4096', 5000].map(depthName)).toEqual(['0', '4K', '5000']);
  });
});

it('the document measures GQA 2, 4 and 8', () => {
  const shapes = documentShapes(parseOptions(['--write-docs']));
  expect(shapes.map(({ shape }) => shape)).toEqual(['qwen3-0.6b', 'qwen3-0.6b-gqa4', 'qwen3-0.6b-gqa8']);
  expect(shapes.map(({ prompts }) => prompts.length > 0)).toEqual([true, false, false]);
  expect(shapes[0]?.parts).toContain('prefill');
  expect(shapes.slice(1).map(({ parts }) => parts)).toEqual(Array(2).fill(['decode', 'attention-decode']));
});
