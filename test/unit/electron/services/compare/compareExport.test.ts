/** A run as a file: what a person reads, what a spreadsheet reads, what can be opened again. */
import { expect, test } from 'vitest';
import type { AnswerStats } from '@/electron/contract/chats';
import { type CompareRun, compareRequestSchema, compareRunSchema } from '@/electron/contract/compare/compare';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { exportRun } from '@/electron/services/compare/compareExport';
import { endedRun, newRun } from '@/electron/services/compare/compareStore';
import { answerStats, effective, modelInfo } from '@/test/fixtures/samples';

const request = compareRequestSchema.parse({
  modelId: 'm',
  prompt: { kind: 'text', text: 'Who lit the lamp?' },
  configurations: [
    { typeK: 'f16', typeV: 'f16', nCtx: 4096 },
    { typeK: 'turbo4', typeV: 'turbo3', nCtx: 4096 },
    { typeK: 'turbo3', typeV: 'turbo3', nCtx: 4096 },
  ],
});
const settings = contextSettingsSchema.parse({});
const quality = { tokens: 511, perplexity: 21.5, meanKld: 0.0123, meanKldError: 0.001, kld999: 0.5, sameTop: 0.925 };
const stats: AnswerStats = {
  ...{ ...answerStats, promptTokens: 1024, cachedTokens: 0, answerTokens: 32, ttftMs: 812.4, tokensPerSecond: 101.26 },
  ...{ promptTokensPerSecond: 1260.4, contextUsed: 1031, contextSize: 4096, typeV: 'turbo3', seed: 0 },
};

function run(changes: Partial<CompareRun> = {}): CompareRun {
  const base = newRun({ id: 'r1', name: '=Lamp, "lit" | by', createdAt: Date.UTC(2026, 10, 21), request, settings });
  const [first, second, third] = base.columns;
  if (!first || !second || !third) throw new Error('three columns');
  const candidate = { token: 1, text: ' Tom', end: false, probability: 0.41, referenceProbability: 0.29 };
  const columns: CompareRun['columns'] = [
    {
      ...first,
      state: 'done',
      context: effective,
      memory: { weights: 1, kvK: 8388608, kvV: 8388608, kvF16: 1, compute: 1 },
    },
    {
      ...{ ...second, state: 'done', quality, notes: ['The cache was short.'] },
      context: {
        ...effective,
        typeV: { asked: 'turbo3', effective: 'q8_0', reason: 'The model has odd heads.' },
        recent: { asked: 512, tokens: 0, reason: 'A GPU takes part.' },
      },
      answer: { text: 'Tom lit it.\nHe did.', thinking: '', stopReason: 'end-of-turn', stats },
      difference: {
        index: 3,
        offset: 4,
        referenceOffset: 4,
        own: candidate,
        reference: { ...candidate, end: true, probability: null },
      },
      curve: [{ depth: 2048, tokensPerSecond: 50.55, tokens: 16, promptTokensPerSecond: null, kvBytes: 2 * 1024 ** 2 }],
    },
    third,
  ];
  const model = { fileName: 'tiny.gguf', fingerprint: 'f00d', info: modelInfo };
  return endedRun({ ...base, columns, model, promptTokens: 1024, ...changes }, base.createdAt + 1000);
}

test('markdown names model, machine and build, and shows only figures that are there', () => {
  const machine = {
    ...{ os: 'Linux', cpu: 'Test CPU', physicalCores: 2, memoryBytes: 8e9, backend: 'CPU', device: 'x', gpus: [] },
  };
  const simd = { simd: 'avx2', simdWeights: 'avx2', kernelVariant: 'cpu-avx2' };
  const build = { version: '0.1.0', upstream: 'v0.5.0 abc', ...simd };
  const { fileName, text } = exportRun(run({ machine, build }), 'markdown');
  expect(fileName).toBe('Lamp-lit-by.md');
  for (const part of ['fingerprint f00d', 'Test CPU, 2 cores', 'llama.cpp v0.5.0 abc', 'State: cancelled'])
    expect(text).toContain(part);
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const cells = (line: string) => line.split(/ *\| */).slice(1, -1);
  expect(cells(lines[0] ?? '')).toEqual(['', 'f16', 'turbo4/turbo3', 'turbo3']);
  const [f16, turbo, waiting] = [1, 2, 3];
  const figure = (column: number, name: string) => cells(lines.find((line) => cells(line)[0] === name) ?? '')[column];
  expect(figure(f16, 'KV MiB')).toBe('16.00');
  const speed = ['TTFT ms', 'prompt tok/s', 'decode tok/s'].map((name) => figure(turbo, name));
  expect(speed).toEqual(['812', '1260', '101']);
  const quality = ['mean KLD', 'same top %', 'PPL'].map((name) => figure(turbo, name));
  expect(quality).toEqual(['0.0123', '92.5', '21.500']);
  expect(figure(turbo, 'effective')).toBe('turbo4/q8_0');
  expect(figure(waiting, 'effective')).toBe('(cancelled)');
  expect(text).not.toContain('needles found');
  expect(text).not.toContain('## In short');
  expect(text).toMatch(/turbo4\/turbo3 .*`" Tom"` \(41\.0% \/ 29\.0%\), f16 .*29\.0%\)/);
  expect(text).toContain('- turbo4/turbo3: The model has odd heads.');
  expect(text).toContain('- turbo4/turbo3: A GPU takes part.');
  expect(text).toContain('> Tom lit it.\n> He did.');
  expect(text).toContain('| turbo4/turbo3 | 50.5 |');
});

test('where the models have no tokens in common, words stand without probabilities', () => {
  const [first, second, third] = run().columns;
  if (!first || !second?.difference || !third) throw new Error('three columns');
  const word = (text: string) => ({ token: null, text, end: false, probability: null, referenceProbability: null });
  const difference = { ...second.difference, own: word('Tom'), reference: word('Ann') };
  const { text } = exportRun(run({ columns: [first, { ...second, difference }, third] }), 'markdown');
  expect(text).toContain('the first 3 words are the same; then turbo4/turbo3 wrote `"Tom"`, f16 wrote `"Ann"`.');
  expect(text).not.toContain('Probabilities');
});

test('columns that differ in their length are named by it', () => {
  const columns = run().columns.map(({ configuration: one, ...column }, i) => ({
    ...{ ...column, configuration: { ...one, nCtx: 4096 + i } },
  }));
  expect(exportRun(run({ columns }), 'markdown').text).toContain('| f16 at 4096 | turbo4/turbo3 at 4097 |');
});

test('markdown begins with what it comes to, and a few tokens have no speed', () => {
  const [f16, turbo, waiting] = run().columns;
  if (!f16?.memory || !turbo?.answer || !waiting) throw new Error('three columns');
  const memory = { ...f16.memory, kvK: f16.memory.kvK / 4, kvV: f16.memory.kvV / 4 };
  const answer = { ...turbo.answer, stats: { ...stats, answerTokens: 31 } };
  const { text } = exportRun(run({ columns: [f16, { ...turbo, memory, answer }, waiting] }), 'markdown');
  const line =
    '- **turbo4/turbo3: use it.** A quarter of the memory; picks the same next word 93 times of 100. Difference: hardly.';
  expect(text).toContain(`## In short\n\n${line}\n\n|`);
  expect(text).not.toContain('decode tok/s');
});

test('csv has a line for each column and point, exact values, and no formula', () => {
  const lines = exportRun(run(), 'csv').text.split('\r\n');
  expect(lines).toHaveLength(6);
  const head = lines[0]?.split(',') ?? [];
  expect(lines[2]).toContain('"\'=Lamp, ""lit"" | by"');
  const cells = (line = '') => line.replace(/"(?:[^"]|"")*"/g, 'quoted').split(',');
  for (const line of lines.slice(1, 5)) expect(cells(line)).toHaveLength(head.length);
  expect(cells(lines[2])[head.indexOf('decode tok/s')]).toBe('101.26');
  expect(cells(lines[3]).slice(0, 5)).toEqual(['point', 'turbo4/turbo3', 'turbo4/q8_0', 'done', '2048']);
  expect(cells(lines[3])[head.indexOf('KV bytes')]).toBe('2097152');
  expect(cells(lines[2])[head.indexOf('temperature')]).toBe('0');
  expect(cells(lines[2])[head.indexOf('threads')]).toBe('as many as cores');
});

test('json is the run itself', () => {
  expect(compareRunSchema.parse(JSON.parse(exportRun(run(), 'json').text))).toEqual(run());
});
