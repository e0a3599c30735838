/** What the system says reaches people in words; its codes reach the log alone. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConcertinaError, messageOf, stackOf, toErrorPayload } from '../../../../electron/contract/errors';
import { troubleOf } from '../../../../electron/contract/lib/systemErrors';
import { dispatch } from '../../../../electron/contract/rpc';
import { storageError } from '../../../../electron/services/lib/files';

function systemError(code: string, more: object = {}): Error {
  return Object.assign(
    new Error(`${code}: what the system calls it, write`),
    { code, errno: -1, syscall: 'write' },
    more,
  );
}

test.each([
  ['ENOSPC', 'disk-full', 'the disk is full'],
  ['EDQUOT', 'disk-full', 'your share of the disk is used up'],
  ['EFBIG', 'storage-failed', 'the file is larger than this disk allows'],
  ['EACCES', 'storage-failed', 'its permissions do not allow that'],
  ['EPERM', 'storage-failed', 'the system does not allow that'],
  ['EROFS', 'storage-failed', 'the disk is read-only'],
  ['ENOENT', 'storage-failed', 'it is not there'],
  ['ENOTDIR', 'storage-failed', 'it, or a folder above it, is a file'],
  ['EEXIST', 'storage-failed', 'something of this name is there already'],
  ['EXDEV', 'storage-failed', 'it cannot be moved to another disk'],
  ['EMFILE', 'storage-failed', 'too many files are open'],
  ['EBUSY', 'storage-failed', 'another program is using it'],
  ['EIO', 'storage-failed', 'the disk reports a fault'],
  ['ENAMETOOLONG', 'storage-failed', 'its name or path is too long'],
  ['ECONNREFUSED', 'network-failed', 'it does not take the connection'],
  ['ENOTFOUND', 'network-failed', 'there is no such address, or no network'],
  ['ETIMEDOUT', 'network-failed', 'it does not answer'],
  ['ECONNRESET', 'network-failed', 'the connection was cut'],
  ['EADDRINUSE', 'network-failed', 'its port is taken by another program'],
  ['CERT_HAS_EXPIRED', 'network-failed', 'its certificate has expired'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'network-failed', 'its certificate is not trusted'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'network-failed', 'its certificate is not trusted'],
])('%s is %s: %s, and what to do', async (code, kind, why) => {
  const raw = systemError(code, { path: '/home/x/notes.txt' });
  const payload = toErrorPayload(raw);
  expect(payload).toMatchObject({
    code: kind,
    message: `notes.txt: ${why}.`,
    hint: expect.stringMatching(/^[A-Z].+\.$/),
  });
  expect(messageOf(raw)).toBe(why);
  const wrapped = storageError('The chat could not be moved', raw);
  expect(wrapped.toPayload()).toMatchObject({
    code: kind,
    message: `The chat could not be moved: ${why}.`,
    hint: payload.hint,
  });
  for (const text of [payload.message, payload.hint, wrapped.message]) expect(text).not.toContain(code);
  expect(stackOf(wrapped)).toContain(code);
});

test('what no table knows keeps the sentence of the system, and its code for a search', () => {
  const message = 'EOVERFLOW: value too large for defined data type, stat';
  const error = Object.assign(new Error(message), { code: 'EOVERFLOW', syscall: 'stat' });
  expect(toErrorPayload(error).message).toBe('Value too large for defined data type (EOVERFLOW).');
  expect(toErrorPayload(new Error('a bug'))).toMatchObject({ code: 'internal', message: 'a bug' });
  expect(troubleOf(Object.assign(new Error('x'), { code: 'ERR_PARSE_ARGS_UNKNOWN_OPTION' }))).toBeNull();
});

test('real errors: a file, a connection, a fetch', async () => {
  const missing = await readFile(join(tmpdir(), 'no-such-file.txt')).catch((error: unknown) => error);
  expect(toErrorPayload(missing).message).toBe('no-such-file.txt: it is not there.');
  // a port that was free a moment ago
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const refused = await new Promise((resolve) => connect({ port, host: '127.0.0.1' }).on('error', resolve));
  expect(toErrorPayload(refused).message).toBe(`127.0.0.1:${port}: it does not take the connection.`);
  const failed = await fetch(`http://127.0.0.1:${port}/`).catch((error: unknown) => error);
  expect(messageOf(failed)).toBe('it does not take the connection');
});

test('a call that fails with an error of the system reports it with its code', async () => {
  const reported: unknown[] = [];
  const operations = {} as Parameters<typeof dispatch>[0];
  const raw = storageError('The chat could not be moved', systemError('EBUSY'));
  const { z } = await import('zod');
  const declared = { ...operations, move: { input: z.undefined(), output: z.undefined() } };
  const handlers = { move: () => Promise.reject(raw) } as unknown as Parameters<typeof dispatch>[1];
  const envelope = await dispatch(declared as typeof operations, handlers, 'move', undefined, (one) =>
    reported.push(one),
  );
  expect(envelope).toMatchObject({ ok: false, error: { code: 'storage-failed' } });
  expect(reported.map(stackOf).join()).toContain('EBUSY');
});

test('errors of ours say what they said', () => {
  const ours = new ConcertinaError('model-missing', 'There is no file.', '', { cause: systemError('ENOENT') });
  expect(messageOf(ours)).toBe('There is no file.');
  expect(toErrorPayload(ours).code).toBe('model-missing');
});
