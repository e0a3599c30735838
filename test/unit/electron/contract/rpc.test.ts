import { describe, expect, it, test, vi } from 'vitest';
import { z } from 'zod';
import { ConcertinaError } from '@/electron/contract/errors';
import { SerialQueue } from '@/electron/contract/lib/serialQueue';
import { operation } from '@/electron/contract/limits';
import { createRemote, dispatch } from '@/electron/contract/rpc';

const operations = {
  double: operation(z.object({ value: z.number() }), z.number()),
  wrong: operation(z.void(), z.number()),
  fails: operation(z.void(), z.void()),
};

const handlers = {
  double: async ({ value }: { value: number }) => value * 2,
  wrong: async () => 'text' as unknown as number,
  fails: async () => {
    throw new ConcertinaError('context-full', 'It is full.', 'Empty it.');
  },
};

test('a good call gives the value; a bad payload is refused before the handler runs, by a message that names the field', async () => {
  expect(await dispatch(operations, handlers, 'double', { value: 4 })).toEqual({ ok: true, value: 8 });
  const spy = vi.spyOn(handlers, 'double');
  const answer = await dispatch(operations, handlers, 'double', { value: 'four' });
  expect(answer).toMatchObject({
    ok: false,
    error: { code: 'bad-request', message: expect.stringContaining('value') },
  });
  expect(spy).not.toHaveBeenCalled();
});

test.each(['nothing', 'toString', '__proto__', 7, null, undefined])(
  'an unknown operation (%s) is refused',
  async (name) => {
    expect(await dispatch(operations, handlers, name, {})).toMatchObject({ ok: false, error: { code: 'bad-request' } });
  },
);

test('a coded error keeps its code, message and hint', async () => {
  const report = vi.fn();
  expect(await dispatch(operations, handlers, 'fails', undefined, report)).toEqual({
    ok: false,
    error: { code: 'context-full', message: 'It is full.', hint: 'Empty it.' },
  });
  expect(report).not.toHaveBeenCalled();
});

test('an answer outside the contract is our mistake: internal, and reported', async () => {
  const report = vi.fn();
  const answer = await dispatch(operations, handlers, 'wrong', undefined, report);
  expect(answer).toMatchObject({ ok: false, error: { code: 'internal' } });
  expect(report).toHaveBeenCalledOnce();
});

test('a connection that cannot send rejects the call', async () => {
  const remote = createRemote<typeof operations, Record<string, never>>({}, () => {
    throw new Error('closed');
  });
  await expect(remote.client.call('double', { value: 1 })).rejects.toThrow('closed');
});

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
