// The kernels for Arm on an x86-64 machine: cross-compiled without llama (CMakeLists.txt beside this file) and run by qemu's user mode.
// What is run here is correctness; how fast an Arm CPU is, an emulator cannot say.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { forgetMovedBuild } from '../../../native/prepare/cmake-cache.mjs';
import { BUILD, ROOT } from '../../../native/prepare/paths.mjs';
import { must, run, withLock } from '../../../native/prepare/process.mjs';
import { prepareUpstream } from '../../../native/prepare/upstream.mjs';

const OUT = path.join(BUILD, 'native-arm64');
const TRIPLE = 'aarch64-linux-gnu';

export const ARM64_BIN = path.join(OUT, 'bin');

/** Starts an Arm program. cortex-a72 has no dotprod, max has all that qemu knows. */
export const onArm = (cpu) => ['qemu-aarch64', '-cpu', cpu];

/** Builds turbo-tests and test-backend-ops for Arm. @returns {Promise<string>} why it cannot be done here; empty: done */
export async function buildArm64() {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'only Linux on x86-64 runs Arm programs in qemu here';
  const missing = [];
  for (const tool of [`${TRIPLE}-gcc`, `${TRIPLE}-g++`, 'qemu-aarch64', 'ninja']) {
    if ((await run(tool, ['--version'])).code !== 0) missing.push(tool);
  }
  if (missing.length > 0)
    return `${missing.join(', ')} not found (apt-get install g++-${TRIPLE} qemu-user ninja-build)`;
  await withLock(path.join(BUILD, 'native-arm64.lock'), build, console.error);
  return '';
}

async function build() {
  const { folder } = await prepareUpstream();
  const source = import.meta.dirname;
  forgetMovedBuild({ source, build: OUT }, console.error);
  fs.mkdirSync(OUT, { recursive: true });
  await must('Configuring the tests for Arm', 'cmake', [
    ...['-G', 'Ninja', '-S', source, '-B', OUT],
    ...['-DCMAKE_BUILD_TYPE=Release', '-DCMAKE_SYSTEM_NAME=Linux', '-DCMAKE_SYSTEM_PROCESSOR=aarch64'],
    ...[`-DCMAKE_C_COMPILER=${TRIPLE}-gcc`, `-DCMAKE_CXX_COMPILER=${TRIPLE}-g++`, `-DCONCERTINA_UPSTREAM=${folder}`],
  ]);
  const jobs = String(os.availableParallelism());
  await must('Building the tests for Arm', 'cmake', ['--build', OUT, '--parallel', jobs], {
    env: { CCACHE_BASEDIR: process.env.CCACHE_BASEDIR ?? ROOT },
  });
}
