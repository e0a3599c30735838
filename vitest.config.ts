/** unit: nothing built is needed; engine: the real addon and the embedded model, one file at a time (two cores). */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
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
        test: {
          name: 'engine',
          include: ['test/engine/**/*.test.ts'],
          // an abort in native code ends one process, not the run
          pool: 'forks',
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
