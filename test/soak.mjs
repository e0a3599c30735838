// `npm run soak`: hours of use without the waiting: answers, loads of models, documents, and sleeps of the machine in one life of
// the real app in its window, the memory of each of its processes beside; then kills in the midst of answers. Fails when a process
// has grown by more than the limit after the warm-up, or a message that was acknowledged is gone.
// CLI: npm run soak -- [--answers 500] [--loads 100] [--documents 50] [--sleeps 20] [--kills 20] [--sleep-seconds 5]
//      [--limit 5] [--seed N]     a minute of it: --answers 20 --loads 4 --documents 2 --sleeps 2 --kills 2 --sleep-seconds 1

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../native/prepare/paths.mjs';
import { number, OptionError, runCommand } from './bench/command.mjs';

/** presets, and the most */
const COUNTS = {
  ...{
    answers: [500, 100_000],
    loads: [100, 100_000],
    documents: [50, 10_000],
    sleeps: [20, 10_000],
    kills: [20, 10_000],
  },
  ...{ 'sleep-seconds': [5, 3600], limit: [5, 100], seed: [Date.now() % 1_000_000, 1_000_000] },
};

function readOptions(args) {
  const options = Object.fromEntries(
    Object.entries(COUNTS).map(([name, [preset]]) => [
      name,
      { type: /** @type {const} */ ('string'), default: String(preset) },
    ]),
  );
  try {
    const { values } = parseArgs({ args, options });
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, number(`--${name}`, String(value), 0, COUNTS[name][1])]),
    );
  } catch (error) {
    throw error instanceof OptionError ? error : new OptionError(error.message.split('. ')[0]);
  }
}

await runCommand(async (args) => {
  const options = readOptions(args);
  const playwright = path.join(ROOT, 'node_modules', '@playwright', 'test', 'cli.js');
  const { status } = spawnSync(process.execPath, [playwright, 'test', '--project', 'soak', '--reporter=line'], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, CONCERTINA_SOAK: JSON.stringify(options) },
  });
  process.exitCode = status ?? 1;
});
