/** `npm run proof:gpu` with stand-ins for the programs that need a GPU, and the plot of what was measured on one. */

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { gpuPlot, PLOT, RESULTS } from '../../native/gpu/plot.mjs';
import { countOperations, divergences, messagesOf, paired, problemsOf } from '../../native/gpu/proof.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const fine = { passed: 4, failed: 0, notSupported: 0, ended: 0 };
const way = { device: 'CUDA0: a GPU', gpuTests: { passed: 3, failed: [], ended: 0 }, setRows: fine, attention: fine };
const kld = [{ type: 'turbo4', cpu: 0.0234, gpu: 0.0236, change: 0.0002, error: 0.0002 }];

function proof(programs: Record<string, string>) {
  const bin = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-proof-'));
  onTestFinished(() => fs.rmSync(bin, { recursive: true, force: true }));
  for (const [name, script] of Object.entries(programs)) {
    fs.writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const file = path.join(root, 'test', 'native', 'gpu', 'proof.mjs');
  return spawnSync(process.execPath, [file, '--bin', bin], { encoding: 'utf8' });
}

it('reads the counts of llama.cpp, and takes a crash for no result', () => {
  const output = '  SET_ROWS(type_src=f16): not supported [CUDA0] \n  48/50 tests passed\n1/2 backends passed\n';
  expect(countOperations({ code: 1, output })).toEqual({ passed: 48, failed: 2, notSupported: 1, ended: 1 });
  expect(countOperations({ code: null, output: '  SET_ROWS(): OK\n' })).toMatchObject({ passed: 0, ended: null });
});

it('pairs the chunks of two runs, of which llama.cpp prints running means', () => {
  const line = (chunk: number, mean: number) =>
    `   ${chunk}     31.5921 ±    3.4567       0.00312 ±    0.00401       ${mean.toFixed(5)} ±    0.00102     2.014 ±  0.090 %    91.300 ±  0.900 %`;
  const output = (means: number[]) =>
    [
      'chunk             PPL',
      ...means.map((mean, at) => line(at + 1, mean)),
      'Mean    KLD:   0.03000 ±   0.00030',
    ].join('\n');
  const cpu = divergences(output([0.02, 0.03, 0.04]));
  expect(cpu.map((value) => Number(value.toFixed(5)))).toEqual([0.02, 0.04, 0.06]);
  const found = paired(cpu, divergences(output([0.021, 0.0315, 0.042])));
  expect(found.change).toBeCloseTo(0.002);
  expect(found.error).toBeCloseTo(0.001 / Math.sqrt(3));
  expect(divergences('llama_perplexity: failed')).toEqual([]);
});

it.each([
  ['nothing', {}, kld, []],
  ['an operation', { attention: { ...fine, failed: 2, ended: 1 } }, kld, [/2 of attention differ/]],
  ['no operation that ran', { setRows: { ...fine, passed: 0 } }, kld, [/no operation of setRows ran/]],
  ['a case of ours', { gpuTests: { passed: 2, failed: ['FAIL K'], ended: 1 } }, kld, [/ended with 1/, /FAIL K/]],
  ['predictions', {}, [{ ...kld[0], change: -0.00122 }], [/turbo4: .* 6\.1 standard errors/]],
])('finds wrong: %s', (_, other, divergences, problems) => {
  const found = problemsOf({ paths: { default: { ...way, ...other } }, kld: divergences });
  expect(found).toHaveLength(problems.length);
  for (const [at, problem] of problems.entries()) expect(found[at]).toMatch(problem);
});

it('says how to build what is missing, and that there is no GPU', () => {
  const missing = proof({ 'gpu-tests': 'exit 0' });
  expect(missing.stderr).toMatch(/has no test-backend-ops and no llama-bench.*no llama-quantize.*build\.mjs/);
  expect(missing.status).toBe(2);

  const names = ['test-backend-ops', 'llama-bench', 'llama-perplexity', 'llama-quantize'];
  const unused = Object.fromEntries(names.map((name) => [name, 'exit 9']));
  const none = proof({ 'gpu-tests': 'echo "FAIL no GPU was found"; exit 1', ...unused });
  expect(none.stderr).toMatch(/found no GPU/);
  expect(none.status).toBe(1);
});

it('plots what the tables of docs/gpu.md say', () => {
  const results = JSON.parse(fs.readFileSync(RESULTS, 'utf8')) as Parameters<typeof gpuPlot>[0];
  expect(fs.readFileSync(PLOT, 'utf8')).toBe(gpuPlot(results));

  const rows = fs
    .readFileSync(path.join(root, 'docs', 'gpu.md'), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.replace(/\(.*\)/, '').trim()));
  for (const { name, ...types } of results.decode) {
    for (const [type, speeds] of Object.entries(types)) {
      const cells = [type, ...speeds.map((speed) => `${speed ?? ''}`)];
      const found = rows.some(([, ...row]) => cells.every((cell, at) => row[at] === cell));
      expect(found, `${name}: ${cells.join(' | ')}`).toBe(true);
    }
  }
});

it('counts what the validation layer says by its id', () => {
  const line = (id: string) =>
    `Validation Error: [ ${id} ] Object 0: handle = 0x1; | MessageID = 0x2 | text of ${id}\n`;
  const output = `INFO: Insert instance layer\n${line('SYNC-HAZARD-READ-AFTER-WRITE')}${line('VUID-a-1')}${line('VUID-a-1')}`;
  expect(messagesOf(output)).toMatchObject({
    'SYNC-HAZARD-READ-AFTER-WRITE': { count: 1, first: expect.stringContaining('text of SYNC') },
    'VUID-a-1': { count: 2 },
  });
  expect(messagesOf('ok turbo4\n0 failed')).toEqual({});
});
