import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { ChunkStream } from '@/electron/engine/native/context';
import { addonCandidates, loadAddon } from '@/electron/engine/native/engine';
import { DisposeGuard, toCodedError } from '@/electron/engine/native/guards';
import { Gate } from '@/test/fixtures/gate';

/** a job that ends when it is canceled */
function job() {
  const running = new Gate().hold();
  return { cancellation: { cancel: vi.fn(() => running.open()) }, start: () => running.pass() };
}

describe('DisposeGuard', () => {
  it('frees once, after running work was stopped and children were disposed', async () => {
    const guard = new DisposeGuard('thing');
    const order: string[] = [];
    const { cancellation, start } = job();
    const running = guard.track(cancellation, start).then(() => order.push('work'));
    guard.adopt(async () => void order.push('child'));
    const free = vi.fn(async () => void order.push('free'));
    await Promise.all([guard.dispose(free), guard.dispose(free)]);
    await running;
    expect(cancellation.cancel).toHaveBeenCalledOnce();
    expect(free).toHaveBeenCalledOnce();
    expect(order).toEqual(['work', 'child', 'free']);
  });

  it('refuses use after dispose', async () => {
    const guard = new DisposeGuard('thing');
    guard.check();
    const disposal = guard.dispose(async () => {});
    expect(() => guard.check()).toThrow('The thing was closed');
    await expect(guard.track(job().cancellation, async () => 1)).rejects.toMatchObject({ code: 'bad-request' });
    await disposal;
  });

  it('disposes a child that a job adds during dispose', async () => {
    const guard = new DisposeGuard('thing');
    const child = vi.fn(async () => {});
    const { cancellation, start } = job();
    const running = guard.track(cancellation, async () => {
      await start();
      guard.adopt(child);
    });
    await guard.dispose(async () => {});
    await running;
    expect(child).toHaveBeenCalledOnce();
  });

  it('forgets children and survives work that fails', async () => {
    const guard = new DisposeGuard('thing');
    const child = vi.fn(async () => {});
    guard.adopt(child)();
    const failing = guard.track(job().cancellation, () => Promise.reject(new Error('no')));
    await expect(failing).rejects.toThrow('no');
    await guard.dispose(async () => {});
    expect(child).not.toHaveBeenCalled();
  });
});

const file = 'concertina.node';

describe('addonCandidates', () => {
  it('takes CONCERTINA_ADDON alone', () => {
    expect(addonCandidates({ CONCERTINA_ADDON: '/x/y.node' }, '/app/resources', '/here')).toEqual(['/x/y.node']);
  });

  it('looks in a packaged app first, then in the source tree', () => {
    const here = path.join(path.sep, 'repo', 'electron', 'engine', 'native');
    const built = path.join('build', 'native', 'bin', file);
    expect(addonCandidates({}, path.join(path.sep, 'app'), here)).toEqual([
      path.join(path.sep, 'app', 'native', file),
      path.join(here, built),
      path.join(path.sep, 'repo', 'electron', 'engine', built),
      path.join(path.sep, 'repo', 'electron', built),
      path.join(path.sep, 'repo', built),
    ]);
  });
});

it('loadAddon says engine-unavailable and what to do', () => {
  const attempt = () => loadAddon(path.join(import.meta.dirname, 'none.node'));
  const hint = expect.stringContaining('npm run');
  expect(attempt).toThrow(expect.objectContaining({ code: 'engine-unavailable', hint }));
});

it('toCodedError keeps code, message and hint of the addon, and leaves everything else as it is', () => {
  const parts = { code: 'model-invalid', hint: 'get it again' };
  const native = Object.assign(new Error('the file is short'), parts);
  const error = toCodedError(native);
  expect(error).toBeInstanceOf(ConcertinaError);
  expect(error).toMatchObject({ ...parts, message: 'the file is short', cause: native });
  // what it quotes of a foreign file steers no terminal; its own line breaks stay
  const quoting = Object.assign(new Error('\u001b[31mred\u202e\n  ^ here\ufffd'), parts);
  expect(toCodedError(quoting)).toMatchObject({ ...parts, message: '[31mred\n  ^ here' });
  const plain = Object.assign(new Error('x'), { code: 'ENOENT' });
  expect(toCodedError(plain)).toBe(plain);
  expect(toCodedError('text')).toBe('text');
});

async function readAll(stream: ChunkStream<number>): Promise<number[]> {
  const read: number[] = [];
  for await (const chunk of stream.read()) read.push(chunk);
  return read;
}

describe('ChunkStream', () => {
  it('gives what was pushed before and while reading, in order', async () => {
    const stream = new ChunkStream<number>();
    stream.push([1, 2]);
    const reader = stream.read();
    expect([await reader.next(), await reader.next()].map(({ value }) => value)).toEqual([1, 2]);
    const waiting = reader.next();
    // it has come to where it waits: nothing but promises lies before that
    await new Promise((resolve) => setImmediate(resolve));
    stream.push([3]);
    expect((await waiting).value).toBe(3);
    stream.push([4, 5]);
    stream.end();
    expect([(await reader.next()).value, (await reader.next()).value]).toEqual([4, 5]);
    expect((await reader.next()).done).toBe(true);
  });

  it.each([0, 300_000])('takes %d at once and ends', async (length) => {
    const stream = new ChunkStream<number>();
    const reading = readAll(stream);
    if (length > 0) stream.push(Array.from({ length }, (_, i) => i));
    stream.end();
    expect(await reading).toHaveLength(length);
  });
});
