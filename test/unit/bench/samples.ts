/** Events of the measuring program in the form it prints them, with seconds that are easy to reckon with. */
import type { Event } from '../../bench/speed/figures.mjs';
import { figuresOf } from '../../bench/speed/figures.mjs';
import type { Result } from '../../bench/speed/report.mjs';

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

export const EVENTS: Event[] = [
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

export const RESULT: Result = {
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
