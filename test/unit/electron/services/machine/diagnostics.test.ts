/** The text of a bug report: complete, readable, and without anything private. */
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { EngineStatus } from '@/electron/contract/engine';
import { settingsSchema } from '@/electron/contract/settings';
import { type DiagnosticFacts, diagnosticsText, RunRecord } from '@/electron/services/machine/diagnostics';
import { privateFactsOf } from '@/electron/services/machine/redact';
import { answerStats, capabilities, modelInfo, readyStatus } from '@/test/fixtures/samples';

const at = new Date('2026-03-04T05:06:07Z');

const status: EngineStatus = {
  ...readyStatus,
  ...{ restarts: 2, contextUsed: 77 },
  capabilities: { ...capabilities, simdBest: 'avx2', simdAsked: 'scalar' },
};

function text(changes: Partial<DiagnosticFacts> = {}): string {
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
  ['Backend: CPU, Test processor'],
  ['SIMD: scalar (weights scalar, processor avx2)'],
  ['llama.cpp: v0.5.0'],
  [
    'Context: nCtx 8192, typeK turbo4, typeV turbo4, flashAttention auto, threads 0, gpuLayers -1, batch 512, rope model',
  ],
  ['Sampling: temperature 0.7'],
  ['Kind: qwen3, Q8_0, 28000000 parameters, 30.0 MB'],
  ['Tokens: 8192 (asked 8192), 77 used'],
  ['K cache: turbo4 (asked turbo4)'],
  ['Attention: 8 layers of CPU on CPU'],
  ['Kernel of CPU from 0: cpu-scalar (the best of this processor)'],
  ['KV cache: K 8000000 bytes, V 8000000 bytes'],
  ['simd: The turbo caches run with scalar code.'],
])('tells %s', (line) => expect(text()).toContain(line));

it('tells what happened in this run, newest last', () => {
  const record = new RunRecord(() => at.getTime());
  for (let i = 0; i < 60; i++) record.addLine('warn', `line ${i}`);
  record.addLine('error', 'line 60');
  record.addLine('error', 'line 60');
  record.addError('The engine stopped unexpectedly (SIGKILL).');
  record.addAnswer({ ...answerStats, restoredTokens: 4 });
  const report = text({ record });
  expect(report).toContain('05:06:07 The engine stopped unexpectedly (SIGKILL).');
  expect(report).toContain(
    'prompt 110 (10 cached, 4 restored) at 500.0 tok/s, first token 300 ms, answer 5 at 20.0 tok/s',
  );
  expect(report.split('\n').filter((line) => line.startsWith('warn line'))).toHaveLength(39);
  expect(report.trim().endsWith('error line 60 (2 times)')).toBe(true);
});

it('is complete without an engine and without a model', () => {
  const nothing = { capabilities: null, model: null, context: null, memory: null };
  expect(text({ status: { ...status, ...nothing } })).toMatch(/## Model\nnone\n\n## Context\nnone/);
});

it('keeps what is private', () => {
  const environment = { USER: 'marthe', MY_TOKEN: 'lagoon-value' };
  const systemPrompt = 'PROMPT-SECRET: you are my lawyer.';
  const record = new RunRecord();
  record.addLine('warn', `parsing failed near ${systemPrompt}`);
  record.addLine('error', 'could not open /home/marthe/PATH-SECRET/x.gguf with lagoon-value');
  record.addError('/srv/PATH-SECRET/model.gguf cannot be loaded');
  const error = { code: 'model-invalid' as const, message: '"C:\\PATH-SECRET\\m.gguf" is damaged', hint: '' };
  const report = text({
    record,
    status: { ...status, state: 'failed', error, model: { ...modelInfo, name: '/home/marthe/PATH-SECRET/m' } },
    settings: settingsSchema.parse({ systemPrompt, sampling: { stop: ['STOP-SECRET'] } }),
    private: privateFactsOf(environment, [systemPrompt, 'STOP-SECRET']),
  });
  expect(report).not.toMatch(/SECRET|marthe|lagoon/i);
  expect(report).toContain('System prompt: 33 characters');
  expect(report).toContain('stop strings 1');
  expect(report).toContain('failed: "<path>" is damaged');
});

it('stays short and comes at once with a name of 400,000 letters', () => {
  const name = 'x'.repeat(400_000);
  const record = new RunRecord();
  record.addError(`${name} cannot be loaded`);
  const error = { code: 'model-invalid' as const, message: `${name}: it is damaged`, hint: '' };
  const model = { ...modelInfo, name, architecture: `${name}/${name}`, quantization: `${name}@${name}` };
  const make = () => text({ record, status: { ...status, state: 'failed', error, model, notes: [name] } });
  // ended there instead of holding the run: see the test of `redact`, which says why no machine is too slow for this
  const report: string = runInNewContext('make()', { make }, { timeout: 60_000 });
  expect(report).toContain('Name: … (cut: 400000 characters)');
  expect(report.length).toBeLessThan(text().length + 1000);
}, 120_000);
