import { describe, expect, it } from 'vitest';
import { SerialQueue } from '@/electron/contract/serialQueue';

describe('a serial queue', () => {
  it('runs one task at a time, in the order in which they were added', async () => {
    const queue = new SerialQueue();
    const log: string[] = [];
    const task = (name: string, ticks: number) => async () => {
      log.push(`${name} begins`);
      for (let i = 0; i < ticks; i++) await Promise.resolve();
      log.push(`${name} ends`);
      return name;
    };
    const results = [queue.run(task('slow', 20)), queue.run(task('quick', 1)), queue.run(() => 'plain')];
    expect(queue.size).toBe(3);
    expect(await Promise.all(results)).toEqual(['slow', 'quick', 'plain']);
    expect(log).toEqual(['slow begins', 'slow ends', 'quick begins', 'quick ends']);
  });

  it('goes on behind a task that fails or throws', async () => {
    const queue = new SerialQueue();
    const failed = queue.run(() => Promise.reject(new Error('disk full')));
    const thrown = queue.run(() => {
      throw new Error('no such preset');
    });
    const after = queue.run(async () => 'done');
    await expect(failed).rejects.toThrow('disk full');
    await expect(thrown).rejects.toThrow('no such preset');
    expect(await after).toBe('done');
  });

  it('is idle when the tasks so far have ended, failed ones too', async () => {
    const queue = new SerialQueue();
    await queue.idle();
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const failed = queue.run(() => gate.then(() => Promise.reject(new Error('late'))));
    let idle = false;
    const waiting = queue.idle().then(() => (idle = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(idle).toBe(false);
    open();
    await expect(failed).rejects.toThrow('late');
    await waiting;
    expect(queue.size).toBe(0);
  });
});
