#!/usr/bin/env node
// The command `concertina` of a checkout (`npx concertina`): sets up what is missing, as `npm run serve` does, and runs
// build/app/serve.cjs. Uses nothing but Node itself, from 20 on; under an old one it goes on with the pinned one.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { isNewEnough, runUnderPinned } from '../native/prepare/node.mjs';
import { ROOT } from '../native/prepare/paths.mjs';

const app = path.join(ROOT, 'build', 'app', 'serve.cjs');
const setUp = [path.join(ROOT, 'native', 'prepare', 'setup.mjs'), 'serve'];

// stdout is for answers
const { status } = spawnSync(process.execPath, setUp, { cwd: ROOT, stdio: ['ignore', process.stderr.fd, 'inherit'] });
if (status !== 0) process.exit(status ?? 130);
if (isNewEnough()) {
  process.argv[1] = app;
  await import(app);
} else {
  process.exitCode = await runUnderPinned([app, ...process.argv.slice(2)]);
}
