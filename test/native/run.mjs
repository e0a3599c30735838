// Builds and runs the native tests: ours (turbo-tests) and upstream's own from the patched tree.
// CLI: node test/native/run.mjs      exit status 1 when one fails

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { buildEngine, describePatches } from '../../native/prepare/build.mjs';
import { BIN } from '../../native/prepare/paths.mjs';

/** test-backend-ops: only the cases whose parameters name a turbo type. */
const TURBO_CASES = ['-b', 'CPU', '-p', 'turbo'];

const RUNS = [
  ['turbo-tests'],
  ['test-quantize-fns'],
  ...['SET_ROWS', 'GET_ROWS', 'CPY', 'FLASH_ATTN_EXT'].map((op) => [
    'test-backend-ops',
    'test',
    '-o',
    op,
    ...TURBO_CASES,
  ]),
];

/** SIMD levels below the machine's own, on which our tests run again through ggml's dispatch. */
const LOWER_LEVELS = ['scalar', 'avx2'];

function runOne([program, ...args], env = {}) {
  const label = [...Object.entries(env).map((pair) => pair.join('=')), program, ...args].join(' ');
  const { status, stdout, stderr, error } = spawnSync(path.join(BIN, program), args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
  });
  const ok = status === 0 && (program !== 'test-backend-ops' || ranCases(stdout));
  console.log(`${ok ? 'ok' : 'FAILED'}: ${label}: ${lastResult(stdout ?? '')}`);
  const skips = (stdout ?? '').split('\n').filter((line) => line.startsWith('skipped: '));
  for (const skip of skips) console.log(`  ${skip}`);
  if (!ok) console.log(`${stdout ?? ''}${stderr ?? ''}${error ?? ''}`);
  return { ok, skipped: skips.length };
}

/** A filter that matches nothing would pass too. */
function ranCases(stdout) {
  const found = /(\d+)\/(\d+) tests passed/.exec(stdout);
  return found !== null && Number(found[2]) > 0;
}

function lastResult(stdout) {
  const lines = stdout.split('\n').filter((line) => / passed/.test(line) && !/backends passed/.test(line));
  return lines.length ? lines[lines.length - 1].trim() : 'done';
}

let shown = '';
await buildEngine({
  targets: ['tests'],
  onProgress: ({ stage, fraction }) => {
    const line = `${stage} ${Math.floor(fraction * 10) * 10}%`;
    if (line !== shown) console.log(line);
    shown = line;
  },
});
console.log(describePatches());

const results = RUNS.map((command) => runOne(command));
for (const level of LOWER_LEVELS) results.push(runOne(['turbo-tests'], { CONCERTINA_SIMD: level }));

const failed = results.filter(({ ok }) => !ok).length;
const skipped = results.reduce((sum, result) => sum + result.skipped, 0);
console.log(`${results.length - failed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed ? 1 : 0;
