import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Stall } from '@/electron/contract/engine';
import { type CrashReport, EngineHost } from '@/electron/services/engine/engineHost';
import { scrubbedEnvironment, spinCount } from '@/electron/services/engine/engineTransport';
import { silentLogger } from '@/electron/services/lib/logger';
import { capabilities } from '@/test/fixtures/samples';
import { ScriptedTransport } from '@/test/fixtures/transports';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const killed = { code: null, signal: 'SIGKILL' };
const aborted = { code: null, signal: 'SIGABRT' };

const crashOf = (code: string, more: { reload: boolean; asked: boolean }) => ({
  ...{ error: expect.objectContaining({ code }), restartInMs: 0, ...more },
});

function setUp({ ready = true } = {}) {
  const opened: ScriptedTransport[] = [];
  const crashes: CrashReport[] = [];
  const host = new EngineHost(() => {
    const transport = new ScriptedTransport();
    opened.push(transport);
    return transport;
  }, silentLogger);
  host.crashed.on((report) => crashes.push(report));
  const stalls: (Stall | null)[] = [];
  host.stalled.on((stall) => stalls.push(stall));
  const last = () => opened.at(-1) as ScriptedTransport;
  host.start();
  if (ready) last().ready();
  return { host, opened, crashes, stalls, last };
}

test('it is ready when the process says so, and calls wait for that', async () => {
  const { host, last } = setUp({ ready: false });
  const call = host.client.call('capabilities', undefined);
  await vi.advanceTimersByTimeAsync(0);
  expect(last().sent).toEqual([]);
  last().ready();
  await vi.advanceTimersByTimeAsync(0);
  expect(last().sent).toEqual([{ type: 'call', id: 1, name: 'capabilities', input: undefined }]);
  last().message({ type: 'answer', id: 1, envelope: { ok: true, value: capabilities } });
  expect(await call).toEqual(capabilities);
  expect(host.state).toBe('ready');
});

test('a crash rejects open calls, is reported, and starts the process again', async () => {
  const { host, opened, crashes, last } = setUp();
  const call = host.client.call('memory', undefined);
  call.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(0);
  last().exit(aborted);
  await expect(call).rejects.toMatchObject({ code: 'engine-crashed', message: expect.stringContaining('SIGABRT') });
  expect(crashes).toEqual([crashOf('engine-crashed', { reload: true, asked: false })]);
  await vi.advanceTimersByTimeAsync(1);
  expect(opened).toHaveLength(2);
  last().ready();
  expect(host.state).toBe('ready');
});

test('a second crash within a minute waits for the rest of it; a person can end the wait', async () => {
  const { host, opened, crashes, last } = setUp();
  host.work = { key: 'first', loading: false };
  last().exit(aborted);
  await vi.advanceTimersByTimeAsync(20_000);
  last().ready();
  host.work = { key: 'second', loading: false };
  last().exit(aborted);
  expect(crashes.at(-1)?.restartInMs).toBe(40_000);
  await vi.advanceTimersByTimeAsync(39_000);
  expect(opened).toHaveLength(2);
  expect(host.state).toBe('waiting');
  await expect(host.client.call('memory', undefined)).rejects.toMatchObject({ code: 'engine-unavailable' });
  host.start();
  expect(opened).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(opened).toHaveLength(3);
});

test.each([
  ['while it loads is want of memory, and not loaded again', true, 'out-of-memory'],
  ['while nothing is loaded is an ordinary crash', false, 'engine-crashed'],
])('a kill %s', (_, loading, code) => {
  const { host, crashes, last } = setUp();
  host.work = { key: 'big', loading };
  last().exit(killed);
  expect(crashes).toEqual([crashOf(code, { reload: !loading, asked: false })]);
});

test('a process that dies at its start is given up after the second time', async () => {
  const { host, opened, crashes, last } = setUp({ ready: false });
  last().exit({ code: 1, signal: null });
  await vi.advanceTimersByTimeAsync(1);
  const ready = host.whenReady();
  ready.catch(() => undefined);
  last().exit({ code: 1, signal: null });
  await expect(ready).rejects.toMatchObject({ code: 'engine-unavailable' });
  await vi.advanceTimersByTimeAsync(600_000);
  expect(opened).toHaveLength(2);
  expect(crashes.at(-1)?.restartInMs).toBeNull();
  expect(host.state).toBe('given-up');
});

test('a process without its binary is unavailable and says why', async () => {
  const { host, last } = setUp({ ready: false });
  const problem = 'concertina.node was not found';
  last().message({ type: 'event', name: 'onReady', payload: { capabilities: null, problem } });
  expect(host.state).toBe('unavailable');
  const refused = { code: 'engine-unavailable', message: problem };
  await expect(host.client.call('memory', undefined)).rejects.toMatchObject(refused);
});

test('a message of a process that is gone is ignored', async () => {
  const { host, opened, last } = setUp();
  last().exit(aborted);
  opened[0]?.ready();
  expect(host.state).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1);
  opened[0]?.exit(aborted);
  expect(host.state).toBe('starting');
});

test('stop asks first and kills after the limit, not before, and does not start it again', async () => {
  const inTime = setUp();
  const ended = inTime.host.stop(3000);
  inTime.last().exit({ code: 0, signal: null });
  await ended;
  await vi.advanceTimersByTimeAsync(120_000);
  expect([inTime.last().killed, inTime.opened.length]).toEqual([false, 1]);
  const { host, crashes, last } = setUp();
  const stopped = host.stop(3000);
  expect(last().sent).toEqual([{ type: 'shutdown' }]);
  await vi.advanceTimersByTimeAsync(2999);
  expect(last().killed).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await stopped;
  expect(last().killed).toBe(true);
  expect(crashes).toEqual([]);
});

test('the environment of the engine holds no secrets, and a failed assertion starts no debugger', () => {
  const environment = { PATH: '/bin', HOME: '/h', GITHUB_TOKEN: 't', AWS_SECRET_ACCESS_KEY: 'k', NODE_OPTIONS: '-r x' };
  const kept = { GGML_X: '1', LC_ALL: 'C' };
  const scrubbed = { PATH: '/bin', HOME: '/h', ...kept, GGML_NO_BACKTRACE: '1', GOMP_SPINCOUNT: String(spinCount) };
  expect(scrubbedEnvironment({ ...environment, ...kept })).toEqual(scrubbed);
});

test('the engine has the GPUs that the shell leaves it, and finds their drivers', () => {
  const gpus = { CUDA_VISIBLE_DEVICES: '1', VK_DRIVER_FILES: '/d.json', LD_LIBRARY_PATH: '/l', XDG_DATA_DIRS: '/s' };
  expect(scrubbedEnvironment({ ...gpus, XDG_SESSION_ID: '2' })).toMatchObject(gpus);
  expect(scrubbedEnvironment({ XDG_SESSION_ID: '2' })).not.toHaveProperty('XDG_SESSION_ID');
});

test('the threads of the engine sleep early, unless the environment says how long they wait', () => {
  expect(scrubbedEnvironment({})).toMatchObject({ GOMP_SPINCOUNT: String(spinCount) });
  expect(scrubbedEnvironment({ GOMP_SPINCOUNT: '7' })).toMatchObject({ GOMP_SPINCOUNT: '7' });
});

const isPing = (message: unknown) => (message as { name?: string }).name === 'ping';

test('a process of another version than the app cannot be used, and says so at once', async () => {
  const { host, last } = setUp({ ready: false });
  const ready = host.whenReady();
  const { simdBest: _, ...older } = capabilities;
  last().message({ type: 'event', name: 'onReady', payload: { capabilities: older, problem: null } });
  const message = expect.stringContaining('capabilities.simdBest');
  await expect(ready).rejects.toMatchObject({ code: 'engine-unavailable', message });
});

test('a start that takes more than a minute is reported, until it is done', async () => {
  const { stalls, last } = setUp({ ready: false });
  await vi.advanceTimersByTimeAsync(59_000);
  expect(stalls).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(stalls).toEqual(['start']);
  last().ready();
  expect(stalls).toEqual(['start', null]);
});

test('a process that is silent for half a minute while it is asked something is reported, and not ended', async () => {
  const { host, stalls, last } = setUp();
  await vi.advanceTimersByTimeAsync(600_000);
  const call = host.client.call('memory', undefined);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(stalls).toEqual([]);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(stalls).toEqual(['silent']);
  expect(last().sent.filter(isPing)).toHaveLength(1);
  expect(last().killed).toBe(false);
  last().message({ type: 'answer', id: 1, envelope: { ok: true, value: { memory: null, contextUsed: 0 } } });
  await call;
  expect(stalls).toEqual(['silent', null]);
});

test('a long call of a process that answers pings is no stall, whatever it answers', async () => {
  const { host, stalls, last } = setUp();
  host.client.call('load', {} as never).catch(() => undefined);
  const error = { code: 'bad-request', message: 'There is no operation named "ping".', hint: '' };
  const { send } = last();
  vi.spyOn(last(), 'send').mockImplementation((message) => {
    send.call(last(), message);
    const { id } = message as { id: number };
    if (isPing(message)) last().message({ type: 'answer', id, envelope: { ok: false, error } });
  });
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(stalls).toEqual([]);
  expect(last().sent.filter(isPing)).toHaveLength(720);
});

test('what was canceled and does not end is reported, unless the process gets on with something', async () => {
  const { host, stalls, last } = setUp();
  const ended = host.expectEnd();
  await vi.advanceTimersByTimeAsync(50_000);
  last().message({ type: 'event', name: 'onLoadProgress', payload: { step: 'weights', fraction: 0.5 } });
  await vi.advanceTimersByTimeAsync(50_000);
  expect(stalls).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(stalls).toEqual(['stop']);
  ended();
  expect(stalls).toEqual(['stop', null]);
});

test('a person can have it restarted; a load that hung is not begun again', async () => {
  const { host, opened, crashes, stalls, last } = setUp();
  host.work = { key: 'model', loading: true };
  host.client.call('load', {} as never).catch(() => undefined);
  await vi.advanceTimersByTimeAsync(30_000);
  host.restart();
  expect(opened[0]?.killed).toBe(true);
  expect(stalls).toEqual(['silent', null]);
  expect(crashes).toEqual([crashOf('engine-crashed', { reload: false, asked: true })]);
  await vi.advanceTimersByTimeAsync(1);
  expect(opened).toHaveLength(2);
  last().ready();
  host.work = { key: 'model', loading: false };
  host.restart();
  expect(crashes.at(-1)).toMatchObject({ restartInMs: 0, reload: true, asked: true });
});
