/** A thread and its owner together, as bundled for the app. */
import { join, resolve } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { TaskThread } from '@/electron/services/lib/taskThread';
import { bundleForNode } from '../../../../../electron/build.mjs';

const folder = resolve('build/test-bundles');
beforeAll(() => bundleForNode('slowThread', 'test/fixtures/slowThread.ts', folder), 60_000);

function start() {
  const thread = new TaskThread<{ steps: number; fail?: 'task' | 'thread' }, string>({
    ...{ workerFile: join(folder, 'slowThread.cjs'), worker: 'hashes' as const, idleMs: 0 },
    lost: (cause) => new ConcertinaError('internal', `Lost: ${cause.message}.`),
  });
  onTestFinished(() => thread.close());
  const reported: { asker: string; fraction: number }[] = [];
  thread.progress.on((one) => reported.push(one));
  return { thread, reported };
}

test('a task that takes longer reports its progress to its asker, one that does not is silent', async () => {
  const { thread, reported } = start();
  expect(await thread.ask({ steps: 8 }, 'quick')).toBe('8 steps');
  expect(await thread.ask({ steps: 20 }, 'slow')).toBe('20 steps');
  // from 400 ms on, every 200
  expect(reported).toEqual([0.4, 0.6, 0.8].map((fraction) => ({ asker: 'slow', fraction })));
});

test('a task that fails, and a thread that ends, fail what was asked; the next task is answered', async () => {
  const { thread } = start();
  await expect(thread.ask({ steps: 1, fail: 'task' })).rejects.toMatchObject({ code: 'internal' });
  await expect(thread.ask({ steps: 1, fail: 'thread' })).rejects.toThrow('Lost: exit code 3.');
  expect(await thread.ask({ steps: 1 })).toBe('1 steps');
});
