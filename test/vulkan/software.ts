/** Mesa's software device, for tests of the addon and of whole apps. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BIN, BUILD } from '../../native/prepare/paths.mjs';

/** llama.cpp leaves software devices out by itself. */
export const software = { GGML_VK_VISIBLE_DEVICES: '0' };
/** Of types for which no model is measured first: that takes minutes on this device. */
export const shape = { nCtx: 2048, typeK: 'q8_0', typeV: 'q8_0', threads: 1 } as const;
export const question = 'The special magic number for Fresno is 77763886. What is the special magic number for Fresno?';
export const answered = '77763886';

const results = 'vulkan-self-test.txt';
const addon = process.env.CONCERTINA_ADDON ?? path.join(BIN, 'concertina.node');

interface Ended {
  signal: NodeJS.Signals | null;
  stderr: string;
}

/** The addon as the engine starts it, in a process that a driver may end. */
export function start(folder: string, env: NodeJS.ProcessEnv = {}) {
  const script = path.join(import.meta.dirname, 'start.mjs');
  const { signal, status, stdout, stderr } = spawnSync(process.execPath, [script, addon, folder], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { signal, status, stderr, found: status === 0 ? JSON.parse(stdout) : null };
}

/** Mesa's software device of Debian 12 ends some processes by a fault of its own (docs/gpu.md); what differs fails all the same. */
export function surviving<T extends Ended>(run: () => T): T {
  let result = run();
  for (let tries = 0; isFaultOfDriver(result) && tries < 8; tries++) result = run();
  return result;
}

/** It reads and writes memory that it has freed, which the C library notices at times. */
function isFaultOfDriver({ signal, stderr }: Ended): boolean {
  return signal === 'SIGSEGV' || (signal === 'SIGABRT' && /^(malloc|free|double free|corrupted|munmap)/m.test(stderr));
}

/** What the self-test found, as an earlier start of the app leaves it in its data folder. It is made once for a build of the addon. */
export function keepSelfTest(data: string): void {
  const { mtimeMs } = statSync(addon);
  const kept = path.join(BUILD, 'test-results', `vulkan-self-test-${Math.round(mtimeMs)}.txt`);
  if (!existsSync(kept)) {
    const { folder, signal } = surviving(() => {
      const fresh = mkdtempSync(path.join(os.tmpdir(), 'concertina-vulkan-'));
      return { folder: fresh, ...start(fresh, software) };
    });
    if (signal) throw new Error(`The software device ended each start by ${signal}.`);
    mkdirSync(path.dirname(kept), { recursive: true });
    copyFileSync(path.join(folder, results), kept);
  }
  copyFileSync(kept, path.join(data, results));
}

/** A library of that name with nothing in it stands before the system's: as if there were none. */
export function withoutLibrary(folder: string): NodeJS.ProcessEnv {
  const file = path.join(folder, 'libvulkan.so.1');
  const { status, stderr } = spawnSync('cc', ['-shared', '-x', 'c', '/dev/null', '-o', file], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cc: ${stderr}`);
  return { LD_LIBRARY_PATH: folder };
}
