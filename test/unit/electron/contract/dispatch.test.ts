import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { ConcertinaError } from '@/electron/contract/errors';
import { dispatch, operation } from '@/electron/contract/rpc';

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
