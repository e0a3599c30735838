// The fault test in full: 100 kills of the app and of its engine in the midst of answers (about ten minutes on two cores).
// CLI: node test/faults.mjs [rounds]     SEED=n repeats the choices of a run

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../native/prepare/paths.mjs';

const rounds = process.argv[2] ?? '100';
const vitest = path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--project', 'engine', 'test/engine/processes/faults.test.ts'],
  {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ROUNDS: rounds },
  },
);
process.exitCode = status ?? 1;
