/**
 * unit: nothing built is needed; engine: the real addon and real models, two files at a time; vulkan: the same on a GPU; windows: Windows' Node in
 * Wine, seen from Linux (npm run test:windows).
 */
import { defineConfig } from 'vitest/config';
import { texts } from './electron/build.mjs';
import { spinCount } from './electron/services/engine/engineTransport';

/** `@/` is the root of the repository, for tests alone: their folders lie deep. */
const resolve = { tsconfigPaths: true };

/** Limits that end what hangs, on a machine with other work too; nothing is measured by them. */
const patience = {
  setupFiles: ['test/fixtures/patience.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
};

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [texts()],
        resolve,
        test: {
          ...patience,
          name: 'unit',
          include: ['test/unit/**/*.test.{ts,tsx}'],
          // files of a worker share their modules: half of the time went into loading them anew
          pool: 'threads',
          isolate: false,
          maxWorkers: 2,
          unstubEnvs: true,
          unstubGlobals: true,
          restoreMocks: true,
        },
      },
      {
        plugins: [texts()],
        resolve,
        test: {
          ...patience,
          name: 'engine',
          include: ['test/engine/**/*.test.ts'],
          // an abort in native code ends one process, not the run
          pool: 'forks',
          maxWorkers: 2,
          // as the app starts its engine: a waiting thread leaves the core to the other file's
          env: { GOMP_SPINCOUNT: String(spinCount) },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        plugins: [texts()],
        resolve,
        test: {
          ...patience,
          name: 'vulkan',
          include: ['test/vulkan/**/*.test.ts'],
          pool: 'forks',
          // the software device ends processes the more often, the busier the machine is
          fileParallelism: false,
          // the first device, also where it is Mesa's software device, which llama.cpp leaves out by itself
          env: {
            GOMP_SPINCOUNT: String(spinCount),
            GGML_VK_VISIBLE_DEVICES: '0',
            // ends the process where a token does not fit the memory that was planned for prompts (native/gpu/fold.h)
            GGML_SCHED_DEBUG_REALLOC: '1',
          },
          // a software device compiles each pipeline for seconds
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        plugins: [texts()],
        resolve,
        test: {
          ...patience,
          name: 'windows',
          include: ['test/windows/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 600_000,
        },
      },
    ],
  },
});
