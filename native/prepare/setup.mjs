// Everything that a command needs, from a fresh clone: tools of the system, packages, engine, app bundles.
// Runs before the commands of package.json (their pre-scripts, and test/run.mjs), so it uses nothing but Node itself, and
// fetches a newer one where this one is too old (node.mjs). What is up to date costs no time.
// CLI: node native/prepare/setup.mjs PURPOSE     (a key of PURPOSES)

import fs from 'node:fs';
import path from 'node:path';
import { ensureApp } from './app-bundles.mjs';
import { isNewEnough, runUnderPinned } from './node.mjs';
import { ensurePackages } from './packages.mjs';
import { BUILD, packedBin, ROOT, WINDOWS_BIN } from './paths.mjs';
import { PrepareError, withLock } from './process.mjs';
import { Progress } from './progress.mjs';
import { ensureSystem } from './system.mjs';
import { ensureVulkanTools } from './vulkan.mjs';

/** Elsewhere the window tests take the real Electron. */
const LINUX = process.platform === 'linux';

/**
 * tests: the checks' system packages; packing: those that make deb and rpm; targets: of the native build; portable: for other machines than this one;
 * app: its bundles; runtime: the Electron of the checks; windows: for Windows, on Linux.
 */
const PURPOSES = {
  packages: { tests: false, targets: [], portable: false, app: false, runtime: false },
  start: { tests: false, targets: ['engine'], portable: false, app: true, runtime: false },
  serve: { tests: false, targets: ['engine'], portable: false, app: true, runtime: false },
  test: {
    tests: true,
    targets: ['engine', 'tools', 'tests', 'bench', 'weights'],
    portable: false,
    app: true,
    runtime: LINUX,
  },
  // electron/dist.mjs asks for the runtime itself, where the real Electron is not there
  dist: { tests: false, packing: LINUX, targets: ['engine'], portable: true, app: true, runtime: false },
  installed: { tests: true, packing: true, targets: ['engine'], portable: true, app: true, runtime: LINUX },
  source: { tests: true, packing: true, targets: [], portable: false, app: false, runtime: LINUX },
  windows: { tests: false, targets: ['engine'], portable: true, app: true, runtime: false, windows: true },
  'dist-windows': {
    ...{ tests: true, targets: ['engine'], portable: true, app: true, runtime: false, windows: true },
  },
  'windows-test': {
    ...{
      tests: true,
      targets: ['engine', 'tests', 'weights'],
      portable: true,
      app: true,
      runtime: false,
      windows: true,
    },
  },
  bench: { tests: false, targets: ['bench'], portable: false, app: false, runtime: false },
  quality: { tests: false, targets: ['engine', 'weights'], portable: false, app: false, runtime: false },
};

const LOG = path.join(BUILD, 'logs', 'setup.log');

/** @param {keyof typeof PURPOSES} purpose */
async function setUp(purpose) {
  const { tests, packing = false, portable, app, runtime, windows = false } = PURPOSES[purpose];
  const brought = purpose === 'dist' && packedBin() === WINDOWS_BIN;
  const targets = brought ? [] : PURPOSES[purpose].targets;
  fs.mkdirSync(path.dirname(LOG), { recursive: true });
  fs.writeFileSync(LOG, `set-up for npm ${purpose}, ${new Date().toISOString()}, Node ${process.version}\n`);
  const onLine = (line) => fs.appendFileSync(LOG, `${line}\n`);

  const stages = [['npm packages', () => ensurePackages({ onLine })]];
  const onNote = (text) => progress.note(text);
  if (targets.length > 0 || packing) {
    stages.unshift(['system tools', (onProgress) => ensureSystem({ tests, packing, windows, onProgress, onLine })]);
  }
  if (targets.length > 0) {
    if (portable) stages.push(['shader compiler', ensureVulkanTools]);
    stages.push(['engine', (onProgress) => ensureEngine({ targets, portable, windows, onProgress, onNote })]);
  }
  if (app) stages.push(['app', (onProgress) => ensureApp({ onProgress })]);
  if (runtime) stages.push(['test runtime', (onProgress) => ensureRuntime(onProgress)]);

  const progress = new Progress(stages.length);
  for (const [name, body] of stages) await progress.stage(name, body);
}

async function ensureEngine({ targets, portable, windows, onProgress, onNote }) {
  // compiler results are shared by clones in different folders
  process.env.CCACHE_BASEDIR ??= ROOT;
  const { buildEngine } = await import('./build.mjs');
  await buildEngine({
    targets,
    portable,
    windows,
    onNote,
    onProgress: ({ stage, fraction }) => onProgress({ detail: stage, fraction }),
  });
}

async function ensureRuntime(onProgress) {
  const { ensureTestRuntime } = await import('../../test/e2e/runtime.mjs');
  await ensureTestRuntime({ onProgress });
}

const purpose = process.argv[2];
if (!Object.hasOwn(PURPOSES, purpose)) {
  console.error(`usage: node native/prepare/setup.mjs ${Object.keys(PURPOSES).join('|')}`);
  process.exit(2);
}
try {
  if (isNewEnough()) await withLock(path.join(BUILD, 'setup.lock'), () => setUp(purpose), console.error);
  else process.exitCode = await runUnderPinned(process.argv.slice(1));
} catch (error) {
  if (fs.existsSync(LOG)) fs.appendFileSync(LOG, `${error.stack}\n`);
  console.error(`\nSet-up stopped. ${error instanceof PrepareError ? error.message : error.stack}`);
  if (fs.existsSync(LOG)) console.error(`Log: ${path.relative(process.cwd(), LOG)}`);
  process.exitCode = 1;
}
