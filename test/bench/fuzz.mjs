// `npm run bench:fuzz`: requests that nobody means well (test/fuzz.mjs) against `concertina serve` with the tiny model: how they
// ended, and whether the server went on as before. Ends with 1 where it did not, or failed at a request.
// CLI: npm run bench:fuzz -- [--requests 20000] [--seed 1] [--first 0] [--at-once 20] [--show]: prints them instead

import { parseArgs } from 'node:util';
import { fuzz, hostileRequest, startFuzzed } from '../fuzz.mjs';
import { number, runCommand } from './command.mjs';

/** between two lines of progress */
const STEP = 1000;

async function main(args) {
  const text = (preset) => /** @type {const} */ ({ type: 'string', default: preset });
  const { values } = parseArgs({
    args,
    options: {
      ...{ requests: text('20000'), seed: text('1'), first: text('0'), 'at-once': text('20') },
      show: { type: 'boolean', default: false },
    },
  });
  const requests = number('--requests', values.requests, 1, 1e9);
  const seed = number('--seed', values.seed, 0, 1e6);
  const first = number('--first', values.first, 0, 1e9);
  const atOnce = number('--at-once', values['at-once'], 1, 1000);
  if (values.show) {
    for (let index = first; index < first + requests; index++)
      console.log(hostileRequest(seed, index, 1, 'KEY').bytes.toString());
    return;
  }
  const server = await startFuzzed();
  const sums = /** @type {Record<string, number>} */ ({});
  const problems = [];
  let slowest = 0;
  const started = performance.now();
  try {
    for (let from = first; from < first + requests; from += STEP) {
      const count = Math.min(STEP, first + requests - from);
      const part = await fuzz({ ...server, seed, requests: count, first: from, atOnce });
      for (const [status, times] of Object.entries(part.statuses)) sums[status] = (sums[status] ?? 0) + times;
      problems.push(...part.problems);
      slowest = Math.max(slowest, part.slowestMs);
      console.error(`${from + count - first} requests: ${JSON.stringify(sums)}`);
    }
  } finally {
    await server.stop();
  }
  for (const problem of problems) console.log(problem);
  const seconds = Math.round((performance.now() - started) / 1000);
  console.log(`seed ${seed}: ${requests} requests, ${atOnce} at once, in ${seconds} s: ${JSON.stringify(sums)}`);
  console.log(`${problems.length} failed at; the slowest was answered in ${(slowest / 1000).toFixed(1)} s`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}

await runCommand(main);
