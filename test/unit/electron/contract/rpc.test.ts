import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ConcertinaError } from '@/electron/contract/errors';
import { type CallMessage, createRemote, dispatch, operation } from '@/electron/contract/rpc';

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

test('a good call gives the value', async () => {
  expect(await dispatch(operations, handlers, 'double', { value: 4 })).toEqual({ ok: true, value: 8 });
});

test('a bad payload is refused before the handler runs, and the message names the field', async () => {
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

type Calls = Record<string, { input: z.ZodType; output: z.ZodType }>;

function setUp() {
  const sent: CallMessage[] = [];
  const remote = createRemote<Calls, { onCount: z.ZodNumber }>({ onCount: z.number() }, (message) =>
    sent.push(message),
  );
  return { sent, remote };
}

test('answers find their calls in any order', async () => {
  const { sent, remote } = setUp();
  const first = remote.client.call('a', 1);
  const second = remote.client.call('b', 2);
  remote.receive({ type: 'answer', id: sent[1]?.id, envelope: { ok: true, value: 'two' } });
  remote.receive({ type: 'answer', id: sent[0]?.id, envelope: { ok: true, value: 'one' } });
  expect([await first, await second]).toEqual(['one', 'two']);
});

test('an error answer rejects with the coded error', async () => {
  const { sent, remote } = setUp();
  const call = remote.client.call('a', 1);
  const error = { code: 'busy', message: 'Later.', hint: 'Wait.' };
  remote.receive({ type: 'answer', id: sent[0]?.id, envelope: { ok: false, error } });
  await expect(call).rejects.toMatchObject({ ...error, name: 'ConcertinaError' });
});

test('a lost connection rejects every open call', async () => {
  const { remote } = setUp();
  const calls = [remote.client.call('a', 1), remote.client.call('b', 2)];
  remote.fail(new ConcertinaError('engine-crashed', 'Gone.'));
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'engine-crashed' });
});

test('a connection that cannot send rejects the call', async () => {
  const remote = createRemote<Calls, Record<string, z.ZodType>>({}, () => {
    throw new Error('closed');
  });
  await expect(remote.client.call('a', 1)).rejects.toThrow('closed');
});

test('events reach their listeners; malformed and unknown ones do not', () => {
  const { remote } = setUp();
  const listener = vi.fn();
  const off = remote.client.on('onCount', listener);
  remote.receive({ type: 'event', name: 'onCount', payload: 3 });
  remote.receive({ type: 'event', name: 'onCount', payload: 'three' });
  remote.receive({ type: 'event', name: 'onOther', payload: 3 });
  remote.receive('garbage');
  off();
  remote.receive({ type: 'event', name: 'onCount', payload: 4 });
  expect(listener.mock.calls).toEqual([[3]]);
});
