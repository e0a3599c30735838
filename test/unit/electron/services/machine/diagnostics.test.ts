/** The reportOf of a bug report: complete, readable, and without anything private. */
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { EngineStatus } from '@/electron/contract/engine';
import { settingsSchema } from '@/electron/contract/settings';
import { type DiagnosticFacts, diagnosticsText, RunRecord } from '@/electron/services/machine/diagnostics';
import { privateFactsOf, redact } from '@/electron/services/machine/redact';
import { answerStats, capabilities, loadedContext, modelInfo, readyStatus } from '@/test/fixtures/samples';

const at = new Date('2026-03-04T05:06:07Z');

const status: EngineStatus = {
  ...readyStatus,
  ...{ restarts: 2, contextUsed: 77 },
  capabilities: { ...capabilities, simdBest: 'avx2', simdAsked: 'scalar' },
  context: { ...loadedContext, recent: { asked: 128, tokens: 0, reason: 'the GPU /dev/x/y takes part' } },
};

function reportOf(changes: Partial<DiagnosticFacts> = {}): string {
  return diagnosticsText({
    info: { version: '1.2.3', platform: 'linux', headless: false, runtime: 'Electron 45', notices: ['/home/x/y'] },
    system: {
      ...{ os: 'Linux 6.1', arch: 'x64', cpu: 'Test CPU', logicalCores: 8, memoryBytes: 16e9, freeBytes: 4e9 },
      environment: ['CONCERTINA_SIMD=scalar'],
    },
    status,
    settings: settingsSchema.parse({}),
    record: new RunRecord(() => at.getTime()),
    private: { names: [], values: [] },
    machine: [],
    searchModel: {
      ...{ modelId: 'm', needs: 90e6, running: true, bytes: 61_500_000, reading: { documentId: 'd', done: 3, all: 9 } },
      problem: { code: 'model-missing', message: 'It is gone.', hint: '' },
    },
    inspector: { running: true, bytes: 61_500_000, ends: 3 },
    at,
    ...changes,
  });
}

it.each([
  ['Version: 1.2.3'],
  ['System: Linux 6.1, x64'],
  ['Processor: Test CPU'],
  ['Cores: 2 physical, 8 logical'],
  ['Environment: CONCERTINA_SIMD=scalar'],
  ['Restarts after a crash: 2'],
  ['Process that looks at model files: running, 61.5 MB; ended by files: 3'],
  ['Search model: needs 90.0 MB; running, 61.5 MB; reads a document, 3 of 9 passages; It is gone.'],
  ['Backend: CPU, Test processor'],
  ['SIMD: scalar (weights scalar, processor avx2)'],
  ['llama.cpp: v0.5.0'],
  ['Context: nCtx 0, typeK turbo4, typeV turbo4, flashAttention auto, recentTokens '],
  [', threads 0, gpuLayers -1, expertsInRam -1, deviceShares , batch 512, rope '],
  ['Sampling: temperature 0.7'],
  ['Kind: qwen3, Q8_0, 28000000 parameters, 30.0 MB'],
  ['Tokens: 8192 (asked 8192), 77 used'],
  ['K cache: turbo4 (asked turbo4)'],
  ['Recent tokens at 8 bits: 0 (asked 128): the GPU <path> takes part'],
  ['Attention: 8 layers of CPU on CPU'],
  ['Kernel of CPU from 0: cpu-scalar (the best of this processor)'],
  ['KV cache: K 8000000 bytes, V 8000000 bytes'],
  ['simd: The turbo caches run with scalar code.'],
])('shows %s', (line) => expect(reportOf()).toContain(line));

it('lists what happened in this run, newest last', () => {
  const record = new RunRecord(() => at.getTime());
  for (let i = 0; i < 60; i++) record.addLine('warn', `line ${i}`);
  record.addLine('error', 'line 60');
  record.addLine('error', 'line 60');
  record.addError('The engine stopped unexpectedly (SIGKILL).');
  record.addAnswer({ ...answerStats, restoredTokens: 4 });
  const report = reportOf({ record });
  expect(report).toContain('05:06:07 The engine stopped unexpectedly (SIGKILL).');
  const answer = 'prompt 110 (10 cached, 4 restored) at 500.0 tok/s, first token 300 ms, answer 5 at 20.0 tok/s';
  expect(report).toContain(answer);
  expect(report.split('\n').filter((line) => line.startsWith('warn line'))).toHaveLength(39);
  expect(report.trim().endsWith('error line 60 (2 times)')).toBe(true);
});

it('is complete without an engine and without a model', () => {
  const nothing = { capabilities: null, model: null, context: null, memory: null };
  expect(reportOf({ status: { ...status, ...nothing } })).toMatch(/## Model\nnone\n\n## Context\nnone/);
});

it('keeps what is private', () => {
  const environment = { USER: 'marthe', MY_TOKEN: 'lagoon-value' };
  const systemPrompt = 'PROMPT-SECRET: you are my lawyer.';
  const record = new RunRecord();
  record.addLine('warn', `parsing failed near ${systemPrompt}`);
  record.addLine('error', 'could not open /home/marthe/PATH-SECRET/x.gguf with lagoon-value');
  record.addError('/srv/PATH-SECRET/model.gguf cannot be loaded');
  const error = { code: 'model-invalid' as const, message: '"C:\\PATH-SECRET\\m.gguf" is damaged', hint: '' };
  const path = '/home/marthe/PATH-SECRET/m';
  const model = { ...modelInfo, name: path, architecture: path, quantization: path };
  const report = reportOf({
    record,
    status: { ...status, state: 'failed', error, model, notes: [`${path}.gguf was cut`] },
    settings: settingsSchema.parse({ systemPrompt, sampling: { stop: ['STOP-SECRET'] } }),
    private: privateFactsOf(environment, [systemPrompt, 'STOP-SECRET']),
  });
  expect(report).not.toMatch(/SECRET|marthe|lagoon/i);
  expect(report).toContain('System prompt: 33 characters');
  expect(report).toContain('stop strings 1');
  expect(report).toContain('failed: "<path>" is damaged');
});

/** What goes out of a log line before it may be sent, and what stays so that it is still of use. */

const facts = privateFactsOf(
  { USER: 'marthe', HOME: '/home/marthe', MY_API_KEY: 'quiet-lagoon', LANG: 'de_DE.UTF-8', SHORT_TOKEN: 'abc' },
  ['You are Marthe’s lawyer.\nHello\nThe case is Brandt against Oduya.'],
);
const clean = (text: string) => redact(text, facts);

it.each([
  ['failed to open /home/marthe/models/secret-7b.gguf: no such file', 'failed to open <path>: no such file'],
  ["cannot read '/Volumes/My Disk/a b.gguf' now", "cannot read '<path>' now"],
  ['in C:\\Users\\marthe\\x.gguf:', 'in <path>:'],
  ['\\\\server\\share\\x.gguf', '<path>'],
  ['see ~/notes/diary.txt', 'see <path>'],
  ['private-finetune.gguf cannot be run', '<file> cannot be run'],
  ['models/private/x.bin', '<path>'],
  ['by Marthe on the desk', 'by <name> on the desk'],
  ['the value quiet-lagoon was used', 'the value <private> was used'],
  ['prompt: The case is Brandt against Oduya.', 'prompt: <private>'],
  ['Authorization: Bearer abc', 'Authorization: <secret> <secret>'],
  ['HF_TOKEN=hf_short', 'HF_TOKEN=<secret>'],
  ['used sk-proj-abcdefgh1234', 'used <secret>'],
  ['hash 9f86d081884c7d659a2feaa0c55ad015', 'hash <secret>'],
  ['from https://user:pass@example.org/x?y=1', 'from <address>'],
  ['mail a.b@example.org, host 10.0.0.7', 'mail <address>, host <address>'],
  ['unexpected "something a person wrote here"', 'unexpected "<text>"'],
  ['it said “something a person wrote here” and ‘more of what a person wrote’', 'it said “<text>” and ‘<text>’'],
  ['in a-b/c.d/e.json:7', 'in <path>:7'],
  ['a+b@example.org+c@example.com', '<address>'],
  ['config=token=abc', 'config=token=<secret>'],
])('%s', (text, expected) => expect(clean(text)).toBe(expected));

it.each([
  "llama_turbo_apply: K cache type turbo4 -> q8_0: the model's K projection has a bias",
  'Disabled by the self-test on this GPU: kernel_turbo_attention_dk192_dv128_q8 (squared error 1).',
  'llama_context: n_ctx_seq (8192) < n_ctx_train (131072) -- the full capacity of the model will not be utilized',
  'CPU compute buffer size of  24.3125 MiB, does not match expectation of  24.0000 MiB',
  'and/or 12 tok/s',
])('leaves alone: %s', (text) => expect(clean(text)).toBe(text));

it('takes out each line of a secret that has several', () => {
  const facts = privateFactsOf({ SSH_PRIVATE_KEY: 'BEGIN lagoon\nquiet harbour\nEND' });
  expect(redact('it was quiet harbour, then BEGIN lagoon', facts)).toBe('it was <private>, then <private>');
});

describe('a line that is too long', () => {
  const words = 'word '.repeat(390);
  const cut = (text: string) => expect(redact(text, facts).replace(/(word ?)+/, ''));

  it('is cut between words and says so; the lines beside it are not', () => {
    const text = `first\n${'word '.repeat(80_000)}\nlast`;
    const [first, long, last] = redact(text, facts).split('\n');
    expect([first, last]).toEqual(['first', 'last']);
    expect(long).toMatch(/^(word )+… \(cut: 400000 characters\)$/);
    expect(long?.length).toBeLessThan(2050);
  });

  it.each([
    // 1,950 characters, then what the cut at 2,000 would halve
    ['a private text', `The case is Brandt against Oduya. ${'x'.repeat(100)}`],
    ['a word', `${'y'.repeat(100)} end`],
    ['an address', `somebody-with-a-long-name-of-forty-eight-characters@example.org end`],
    ['a quoted text', `"and this goes on and on ${'for long '.repeat(20)}" end`],
    ['a quoted path', `'/Volumes/My Disk/${'my things '.repeat(20)}' end`],
    ['a path', `/home/somebody/${'deep/'.repeat(20)} end`],
  ])('shows no part of %s that the cut would halve', (_, rest) => {
    cut(`${words}${rest}`).toMatch(/^(<private>|"<text>|'<path>|<path>)? ?… \(cut: \d+ characters\)$/);
  });

  it('keeps a private text that lies across the cut private, also when it has blanks', () => {
    const line = `${'w'.repeat(10)} ${'word '.repeat(395)}The case is Brandt against Oduya.${' more'.repeat(9)}`;
    expect(redact(line, facts)).not.toContain('Brandt');
    expect(redact(line, facts)).not.toContain('The case');
  });
});

/**
 * Names in files can have any length, and the diagnostics are made while the window waits. Linear work on 400,000 characters
 * takes below 0.3 s here, and 2 s where four other programs want the same core; work that grows with the square of the length
 * takes minutes (150 s for the cheapest of the old expressions, unloaded). The limit lies thirty times above the slowest that was
 * seen, so that no slow machine reaches it, and what is not linear is ended there instead of holding the whole run.
 */
describe('the work grows with the length of a line, not with its square', { timeout: 120_000 }, () => {
  const limitMs = 60_000;
  const length = 400_000;
  const inTime = <T>(work: () => T): T => runInNewContext('work()', { work }, { timeout: limitMs });

  it.each([
    ...'a a. a- . -a @a a@ a@a key key- key= a/ a/a. / ~/ \\ .. " "/ “ “/ ‘a ` 1. a1 A = bearer sk- C:\\'.split(' '),
    ...':// a:/ < é .gguf a.gguf/ hf_ : , (a quiet- marthe'.split(' '),
    ...['key ', 'bearer ', 'Marthe ', ' ', '\t'],
  ])('%j again and again', (piece) => {
    const line = piece.repeat(Math.ceil(length / piece.length));
    // uncut: each expression by itself must be linear, so that a longer limit never brings the trouble back
    expect(typeof inTime(() => redact(`${line} end`, facts, Number.POSITIVE_INFINITY))).toBe('string');
  });
});
