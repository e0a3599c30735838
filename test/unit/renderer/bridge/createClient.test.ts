/** Which client a page gets: the token of headless mode, the one of Electron, and how files go to the services. */
import { describe, expect, it, vi } from 'vitest';
import type { Client } from '@/electron/contract/contract';
import { type UploadPart, uploadPartSchema } from '@/electron/contract/documents';
import { socketProtocols } from '@/electron/contract/rpc';
import { errorPayloadOf } from '@/renderer/bridge/client';
import { createElectronClient, socketUrl, takeToken } from '@/renderer/bridge/createClient';
import { uploadFiles } from '@/renderer/bridge/upload';
import { openWindow } from '@/test/fixtures/renderer/window';

describe('the token', () => {
  function places(href: string, stored: string | null = null) {
    const storage = { getItem: () => stored, setItem: vi.fn() };
    return { href, storage, replaceUrl: vi.fn() };
  }

  it('leaves the address bar and stays for the tab', () => {
    const page = places('http://127.0.0.1:8123/?token=abc&x=1#y');
    expect(takeToken(page)).toBe('abc');
    expect(page.replaceUrl).toHaveBeenCalledWith('/?x=1#y');
    expect(page.storage.setItem).toHaveBeenCalledWith('concertina.token', 'abc');
  });

  it('comes from the tab after a reload', () => {
    const page = places('http://127.0.0.1:8123/', 'abc');
    expect(takeToken(page)).toBe('abc');
    expect(page.replaceUrl).not.toHaveBeenCalled();
    expect(takeToken(places('http://127.0.0.1:8123/'))).toBeNull();
  });

  it('is none where it could not be one: the browser would refuse to open the socket at all', () => {
    const page = places('http://127.0.0.1:8123/?token=a b,c');
    expect(takeToken(page)).toBeNull();
    expect(page.replaceUrl).toHaveBeenCalledWith('/');
    expect(takeToken(places('http://127.0.0.1:8123/', 'a b,c'))).toBeNull();
  });

  it('goes to the socket of the same host beside its address, not in it', () => {
    expect(socketUrl('http://127.0.0.1:8123/?token=abc')).toBe('ws://127.0.0.1:8123/ws');
    expect(socketUrl('https://host/app/')).toBe('wss://host/ws');
    expect(socketProtocols('abc')).toEqual(['concertina', 'key.abc']);
    expect(socketProtocols(null)).toEqual(['concertina']);
  });
});

it('the Electron client opens envelopes, and makes a payload of anything', async () => {
  const { bridge, client } = await openWindow({ start: false });
  expect((await client.call('settings.get', undefined)).theme).toBe('system');
  const broken = { code: 'data-corrupt', message: 'Broken.', hint: 'Restore it.' } as const;
  bridge.refuse('settings.get', broken);
  const error = await client.call('settings.get', undefined).catch((reason: unknown) => reason);
  expect(errorPayloadOf(error)).toEqual(broken);
  expect(errorPayloadOf('odd')).toEqual({ code: 'internal', message: 'odd', hint: '' });
  expect(errorPayloadOf(new TypeError('x'))).toEqual({ code: 'internal', message: 'x', hint: '' });
});

/** Takes parts as the app does, under the contract, and keeps the bytes of each file. */
function server() {
  const files = new Map<string, Buffer>();
  async function take(input: unknown) {
    const part: UploadPart = uploadPartSchema.parse(input);
    const uploadId = part.uploadId ?? `upload of ${part.name}`;
    const before = files.get(uploadId) ?? Buffer.alloc(0);
    expect(part.offset).toBe(before.length);
    const bytes = Buffer.concat([before, Buffer.from(part.data, 'base64')]);
    files.set(uploadId, bytes);
    return { uploadId, jobId: bytes.length === part.bytes ? `job of ${part.name}` : null };
  }
  return { files, take, call: ((_name: string, input: unknown) => take(input)) as Client['call'] };
}

const bytes = Buffer.from(Array.from({ length: 2_000_001 }, (_, index) => (index * 31 + (index >> 8)) & 255));

describe('files from a browser', () => {
  it('arrive whole, in parts, one after the other', async () => {
    const { files, call } = server();
    const reported: number[] = [];
    const sent = [new File([bytes], 'large.bin'), new File([], 'empty.txt'), new File(['é'], 'small.txt')];
    const jobs = await uploadFiles(call, sent, { onProgress: (fraction) => reported.push(fraction) });
    expect(jobs).toEqual(['job of large.bin', 'job of empty.txt', 'job of small.txt']);
    expect(files.get('upload of large.bin')?.equals(bytes)).toBe(true);
    expect(files.get('upload of small.txt')?.toString()).toBe('é');
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
    expect(reported.at(-1)).toBe(1);
  });

  it('stop when they are canceled', async () => {
    const { files, call } = server();
    const stop = new AbortController();
    const sending = uploadFiles(call, [new File([bytes], 'large.bin')], {
      signal: stop.signal,
      onProgress: () => stop.abort(),
    });
    await expect(sending).rejects.toThrow('abort');
    expect(files.get('upload of large.bin')?.length).toBeLessThan(bytes.length);
  });
});

it('in Electron files go by their path, and pasted ones, which have none, are sent', async () => {
  const { files, take } = server();
  const client = createElectronClient({
    call: async (_name, input) => ({ ok: true, value: await take(input) }),
    on: () => () => undefined,
    addDroppedFiles: () => Promise.reject(new Error('not this')),
    attachDroppedFiles: async ([file]) =>
      file?.name === 'pasted.txt'
        ? { ok: false, error: { code: 'bad-request', message: 'no path', hint: '' } }
        : { ok: true, value: [`path of ${file?.name}`] },
  });
  const jobs = await client.attachFiles([new File(['a'], 'dropped.pdf'), new File(['b'], 'pasted.txt')]);
  expect(jobs).toEqual(['path of dropped.pdf', 'job of pasted.txt']);
  expect([...files.keys()]).toEqual(['upload of pasted.txt']);
});
