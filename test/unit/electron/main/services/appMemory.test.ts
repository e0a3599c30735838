import { expect, test } from 'vitest';
import { appMemory } from '../../../../../electron/main/services/appMemory';

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
