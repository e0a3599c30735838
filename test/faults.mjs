// The fault test in full: 100 kills of the app and of its engine in the midst of answers (about ten minutes on two cores).
// CLI: node test/faults.mjs [ROUNDS] [TEST]     SEED=n repeats the choices of a run; TEST: processes/faults, or workers/lost, which
//      kills a machine with a part of the model (npm run test:workers: 20 of them, two minutes)

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from '../native/prepare/paths.mjs';

const [rounds = '100', test = 'processes/faults'] = process.argv.slice(2);
const vitest = path.join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'engine', `test/engine/${test}.test.ts`], {
  cwd: ROOT,
  stdio: 'inherit',
  env: { ...process.env, ROUNDS: rounds },
});
process.exitCode = status ?? 1;
