// `npm run dist`: the packaged app in release/. With the real Electron in node_modules/electron/dist (or a network that
// has it) all targets of electron-builder.config.cjs; on Linux without it, an unpacked folder around the test runtime,
// which proves the packaging and is not for anyone to use.
// CLI: node electron/dist.mjs [--dir]     --dir: only the unpacked folder

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from '../native/prepare/paths.mjs';
import { ensureTestRuntime, RUNTIME, RUNTIME_VERSION } from '../test/e2e/runtime.mjs';

const require = createRequire(import.meta.url);

/**
 * @param {{dirOnly?: boolean, output?: string}} [options] output: folder instead of release/
 * @returns {Promise<{folder: string, runtime: string}>}
 */
export async function buildDist({ dirOnly = false, output = path.join(ROOT, 'release') } = {}) {
  const real = fs.existsSync(path.join(ROOT, 'node_modules', 'electron', 'dist', 'version'));
  const standIn = !real && process.platform === 'linux';
  const released = require('../electron-builder.config.cjs');
  const config = {
    ...released,
    directories: { ...released.directories, output },
    ...(standIn ? await standInConfig() : {}),
  };
  const { build, Platform } = await import('electron-builder');
  const targets = dirOnly || standIn ? Platform.current().createTarget('dir') : Platform.current().createTarget();
  await build({ projectDir: ROOT, config, targets, publish: 'never' });
  return {
    folder: output,
    runtime: standIn ? `test runtime, Electron ${RUNTIME_VERSION}` : 'Electron of package.json',
  };
}

async function standInConfig() {
  await ensureTestRuntime();
  return {
    electronDist: RUNTIME,
    electronVersion: RUNTIME_VERSION,
    // the shim that starts app folders: a packaged app loads its own archive
    afterExtract: async ({ appOutDir }) => {
      for (const name of ['resources/app', 'stamp.json']) {
        fs.rmSync(path.join(appOutDir, name), { recursive: true, force: true });
      }
    },
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { folder, runtime } = await buildDist({ dirOnly: process.argv.includes('--dir') });
  console.log(`\npacked into ${path.relative(process.cwd(), folder)} with: ${runtime}`);
}
