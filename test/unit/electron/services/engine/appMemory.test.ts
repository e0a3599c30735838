import { expect, test } from 'vitest';
import { appMemory, besideEngine } from '@/electron/services/engine/engineMemory';

const status = (anonymousKib: number) => `RssAnon:\t${anonymousKib} kB\nRssFile:\t500000 kB\nRssShmem:\t10 kB\n`;

test.runIf(process.platform === 'linux')('sums up what each process has of its own', () => {
  const bytes = appMemory([1, 2, 3], (pid) => {
    if (pid === 2) throw new Error('ENOENT');
    return status(100 * pid);
  });
  expect(bytes).toBe((100 + 300 + 2 * 10) * 1024);
  expect(appMemory([process.pid])).toBeGreaterThan(10e6);
});

test.runIf(process.platform !== 'linux')('tells nothing where resident sizes hold shared pages', () =>
  expect(appMemory([process.pid])).toBeNull(),
);

test('of the processes the engine is left out, and the one that looks at model files counts once', () => {
  // in Electron all are listed, in headless mode only the server
  expect(besideEngine([1, 2, 3, 4], 2, 3)).toEqual([1, 3, 4]);
  expect(besideEngine([1], 2, 3)).toEqual([1, 3]);
  expect(besideEngine([1], undefined, undefined)).toEqual([1]);
});
