/** The process that looks at model files: what its end costs, and how long it lives. */
import { stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { MachineMemory } from '@/electron/contract/fit';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { type InspectorOptions, ModelInspector } from '@/electron/services/engine/modelInspector';
import { silentLogger } from '@/electron/services/lib/logger';
import { capabilities, modelInfo } from '@/test/fixtures/samples';
import { temporaryFolder } from '@/test/fixtures/temporary';
import { ScriptedTransport } from '@/test/fixtures/transports';

const aborted = { code: null, signal: 'SIGABRT' };
const killed = { code: null, signal: 'SIGKILL' };
const context = contextSettingsSchema.parse({});

interface Call {
  id: number;
  name: string;
  input: { path: string; machine?: MachineMemory };
}

// what reads files of the disk is not to wait for a faked timer
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** `vi.waitFor` would let the faked time run. */
async function until<T>(check: () => T): Promise<T> {
  for (const since = performance.now(); ; await new Promise((resolve) => setImmediate(resolve))) {
    try {
      return check();
    } catch (error) {
      if (performance.now() - since > 10_000) throw error;
    }
  }
}

async function setUp(options: InspectorOptions = {}) {
  const folder = await temporaryFolder();
  const paths: [string, string] = [join(folder, 'a.gguf'), join(folder, 'b.gguf')];
  for (const path of paths) await writeFile(path, path);
  const opened: ScriptedTransport[] = [];
  const inspector = new ModelInspector(
    () => {
      const transport = new ScriptedTransport();
      opened.push(transport);
      return transport;
    },
    silentLogger,
    options,
  );
  onTestFinished(() => {
    for (const transport of opened) transport.exit({ code: 0, signal: null });
    return inspector.close();
  });
  const last = () => opened.at(-1) as ScriptedTransport;
  const callsOf = (transport: ScriptedTransport) =>
    transport.sent.filter((message): message is Call => (message as Call).name !== undefined);
  /** resolves when the newest process has been sent so many calls */
  const asked = (count: number) =>
    until(() => {
      const calls = callsOf(last());
      expect(calls).toHaveLength(count);
      return calls;
    });
  const started = (count: number) => until(() => expect(opened).toHaveLength(count));
  /** that many processes were started; the newest is ready, and has been sent so many calls */
  async function ready(processes: number, calls = 1): Promise<Call[]> {
    await started(processes);
    last().ready();
    return asked(calls);
  }
  const answer = (call: Call | undefined, value: unknown = modelInfo) =>
    last().message({ type: 'answer', id: call?.id, envelope: { ok: true, value } });
  return { inspector, paths, opened, last, asked, started, ready, answer };
}

const codeOf = (answer: Promise<unknown>) =>
  answer.then(
    () => 'read',
    (error: { code: string }) => error.code,
  );

test('a process is started when something is asked, is asked when it is ready, and goes when nothing was asked for a while', async () => {
  const { inspector, paths, opened, last, asked, started, answer } = await setUp({ idleMs: 1000 });
  expect(opened).toHaveLength(0);
  const info = inspector.inspect(paths[0]);
  await started(1);
  expect(last().sent).toEqual([]);
  last().ready();
  const [call] = await asked(1);
  expect(call).toMatchObject({ name: 'inspect', input: { path: paths[0] } });
  answer(call);
  expect(await info).toEqual(modelInfo);
  expect(inspector.pid).toBe(4711);

  await vi.advanceTimersByTimeAsync(999);
  expect(last().sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(last().sent.at(-1)).toEqual({ type: 'shutdown' });
  expect(inspector.pid).toBeUndefined();
  void codeOf(inspector.inspect(paths[0]));
  await started(2);
});

test('a file that ends the process is answered with an error, and not tried again; the next one gets a new process at once', async () => {
  const { inspector, paths, opened, last, answer, asked, ready } = await setUp();
  const ended: string[] = [];
  inspector.ended.on(({ message }) => ended.push(message));
  const bad = [inspector.inspect(paths[0]), inspector.estimate(paths[0], context)];
  const good = inspector.inspect(paths[1]);
  await ready(1, 2);
  last().exit(aborted);
  for (const one of bad) {
    const message = expect.stringMatching(/^a\.gguf .*SIGABRT/);
    await expect(one).rejects.toMatchObject({ code: 'model-invalid', message });
  }
  answer((await ready(2))[0]);
  expect(await good).toEqual(modelInfo);
  expect(await codeOf(inspector.fit({ path: paths[0], context }))).toBe('model-invalid');
  expect(last().sent).toHaveLength(1);
  expect(opened).toHaveLength(2);
  expect(ended).toHaveLength(1);
  expect(inspector.endCount).toBe(1);
  // one that took its place is another one
  const { atime, mtimeMs } = await stat(paths[0]);
  await utimes(paths[0], atime, new Date(mtimeMs + 5000));
  const again = inspector.inspect(paths[0]);
  answer((await asked(2))[1]);
  expect(await again).toEqual(modelInfo);
});

test('the end of the process is the fault of the file that it looked at: one file at a time', async () => {
  const { inspector, paths, last, asked, answer, ready } = await setUp();
  const first = inspector.inspect(paths[0]);
  const [one] = await ready(1);
  const other = inspector.inspect(paths[1]);
  const sameAgain = inspector.estimate(paths[0], context).catch(() => undefined);
  // it stands behind another file
  await until(() => expect((inspector as unknown as { waiting: unknown[] }).waiting).toHaveLength(2));
  expect(last().sent).toHaveLength(1);
  answer(one);
  await first;
  const [, two] = await asked(2);
  expect(two?.input.path).toBe(paths[1]);
  answer(two);
  await other;
  const [, , three] = await asked(3);
  expect(three).toMatchObject({ name: 'estimate', input: { path: paths[0] } });
  last().exit(aborted);
  await sameAgain;
  expect(await codeOf(inspector.inspect(paths[0]))).toBe('model-invalid');
});

test('a process that the system killed is not held against the file the first time', async () => {
  const { inspector, paths, last, started, ready } = await setUp();
  for (const process of [1, 2]) {
    const answer = codeOf(inspector.inspect(paths[0]));
    await ready(process);
    last().exit(killed);
    expect(await answer).toBe('model-invalid');
  }
  expect(await codeOf(inspector.inspect(paths[0]))).toBe('model-invalid');
  await started(2);
});

test('a file that cannot be read in time is given up, whatever else is asked about it', async () => {
  const { inspector, paths, last, asked, ready } = await setUp({ limitMs: 1000 });
  const answers = [codeOf(inspector.inspect(paths[0]))];
  await ready(1);
  await vi.advanceTimersByTimeAsync(900);
  answers.push(codeOf(inspector.estimate(paths[0], context)));
  await asked(2);
  expect(last().killed).toBe(false);
  await vi.advanceTimersByTimeAsync(100);
  expect(last().killed).toBe(true);
  expect(await Promise.all(answers)).toEqual(['model-invalid', 'model-invalid']);
  await expect(inspector.inspect(paths[0])).rejects.toThrow('a.gguf could not be read in time');
});

test('a process that cannot start says nothing about a file, and is tried again', async () => {
  const { inspector, paths, last, started, answer, ready } = await setUp();
  const first = inspector.inspect(paths[0]);
  first.catch(() => undefined);
  await started(1);
  last().exit({ code: 1, signal: null });
  await expect(first).rejects.toMatchObject({ code: 'engine-unavailable', message: expect.stringContaining('code 1') });
  const { simdBest: _, ...older } = capabilities;
  const unusable = [
    { capabilities: null, problem: 'concertina.node was not found' },
    // of another version than the app
    { capabilities: older, problem: null },
  ];
  for (const [n, payload] of unusable.entries()) {
    const next = inspector.inspect(paths[0]);
    next.catch(() => undefined);
    await started(2 + n);
    last().message({ type: 'event', name: 'onReady', payload });
    const message = expect.stringContaining(payload.problem ?? 'simdBest');
    await expect(next).rejects.toMatchObject({ code: 'engine-unavailable', message });
    last().exit(aborted);
  }
  const fourth = inspector.inspect(paths[0]);
  answer((await ready(4))[0]);
  expect(await fourth).toEqual(modelInfo);
});

test('whether a model fits is asked with the view of the engine, where there is one, once it has started', async () => {
  const machine: MachineMemory = { held: [], memories: [], ram: { free: 1, total: 2, releasable: 3 } };
  let engineStarted: () => void = () => undefined;
  let view: MachineMemory | null = machine;
  const before = () => new Promise<void>((resolve) => (engineStarted = resolve));
  const { inspector, paths, opened, last, asked, started } = await setUp({ before, machine: async () => view });
  void codeOf(inspector.fit({ path: paths[0], context }));
  await until(() => expect((inspector as unknown as { asked: Set<unknown> }).asked.size).toBe(1));
  expect(opened).toHaveLength(0);
  engineStarted();
  await started(1);
  last().ready();
  expect((await asked(1))[0]?.input).toEqual({ path: paths[0], context, machine, api: null });
  view = null;
  const api = { slots: 4, options: [] };
  inspector.api = api;
  void codeOf(inspector.fit({ path: paths[0], context }));
  await until(() => expect((inspector as unknown as { asked: Set<unknown> }).asked.size).toBe(2));
  engineStarted();
  expect((await asked(2))[1]?.input).toEqual({ path: paths[0], context, api });
});

test('what another process will take is not free', async () => {
  const machine: MachineMemory = { held: [], memories: [], ram: { free: 1, total: 2, releasable: 3 } };
  const { inspector, paths, last, asked, started } = await setUp({ machine: async () => machine });
  inspector.beside = () => 0.25;
  void codeOf(inspector.fit({ path: paths[0], context }));
  await started(1);
  last().ready();
  expect((await asked(1))[0]?.input.machine?.ram).toEqual({ ...machine.ram, free: 0.75 });
});

test('is stopped on demand, once it has answered what was asked, and tells of both', async () => {
  const { inspector, paths, opened, last, asked, started } = await setUp();
  const lives = vi.fn();
  inspector.lives.on(lives);
  const answer = inspector.inspect(paths[0]);
  await started(1);
  expect(lives).toHaveBeenCalledTimes(1);
  last().ready();
  const [call] = await asked(1);
  inspector.stop();
  expect(last().sent).not.toContainEqual({ type: 'shutdown' });
  last().message({ type: 'answer', id: call?.id, envelope: { ok: true, value: modelInfo } });
  await answer;
  await until(() => expect(last().sent).toContainEqual({ type: 'shutdown' }));
  expect([inspector.pid, opened.length]).toEqual([undefined, 1]);
  expect(lives).toHaveBeenCalledTimes(2);
  // another question begins anew, and is not stopped
  void codeOf(inspector.inspect(paths[0]));
  await started(2);
  last().ready();
  await asked(1);
  expect(last().sent).not.toContainEqual({ type: 'shutdown' });
});

test('closing ends the process and whatever waits for it', async () => {
  const { inspector, paths, last, started } = await setUp();
  const answers = [inspector.inspect(paths[0]), inspector.inspect(paths[1])].map(codeOf);
  await started(1);
  last().ready();
  const closed = inspector.close();
  expect(await Promise.all(answers)).toEqual(['engine-unavailable', 'engine-unavailable']);
  expect(last().sent.at(-1)).toEqual({ type: 'shutdown' });
  last().exit({ code: 0, signal: null });
  await closed;
  expect(await codeOf(inspector.inspect(paths[0]))).toBe('engine-unavailable');
});
