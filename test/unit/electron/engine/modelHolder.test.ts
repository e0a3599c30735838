/** Weights that are lent for a comparison: what was loaded stays unless its memory is needed, and a load ends the loan. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { type LoadSteps, type Loan, ModelHolder } from '@/electron/engine/modelHolder';
import { createFakeEngine } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';

const context = contextSettingsSchema.parse({});
const calibration = { folder: '/none', textFile: '/none' };
const folder = mkdtempSync(join(os.tmpdir(), 'concertina-lend-'));
const fileOf = (name: string) => {
  writeFileSync(join(folder, name), name);
  return join(folder, name);
};

function setUp() {
  const engine = createFakeEngine();
  const loads = vi.spyOn(engine, 'loadModel');
  const beforeLoss = vi.fn(async () => undefined);
  const checkMemory = vi.fn<LoadSteps['checkMemory']>(async () => ({ core: {}, found: null, auto: null }));
  const runs = new Set<AbortController>();
  const holder = new ModelHolder(() => engine, {
    beforeFree: async () => {
      for (const run of runs) run.abort();
      await Promise.allSettled([...ended]);
    },
    checkMemory,
    listTypes: async () => ({ typeK: 'auto:4=turbo4', typeV: 'auto:4=turbo4' }),
    beforeLoss,
  });
  const ended: Promise<unknown>[] = [];
  const load = (path: string) => holder.load({ path, context, calibration }, () => {});
  function lend<T>(path: string, task: (loan: Loan, signal: AbortSignal) => Promise<unknown>) {
    const run = new AbortController();
    runs.add(run);
    const done = holder.lend(
      { path, context },
      () => {},
      run.signal,
      (loan) => task(loan, run.signal),
    );
    ended.push(done);
    return { done: done as Promise<T>, run };
  }
  return { holder, loads, beforeLoss, checkMemory, load, lend };
}

test('models that are lent in turn: each has the time of its load, and the weights of one go before room is made for the next', async () => {
  const { holder, checkMemory, load, lend } = setUp();
  const [first, second] = [fileOf('first.gguf'), fileOf('second.gguf')];
  await load(first);
  const loadMs = (path: string) => lend<number | null>(path, async (loan) => loan.loadMs).done;
  expect(await loadMs(first)).toBeNull();
  expect(await loadMs(second)).toBeGreaterThan(0);
  expect(await loadMs(second)).toBeNull();
  checkMemory.mockImplementation(async () => {
    expect(() => holder.requireModel()).toThrow(expect.objectContaining({ code: 'model-missing' }));
    return { core: {}, found: null, auto: null };
  });
  expect(await loadMs(first)).toBeGreaterThan(0);
});

test('the loaded model is lent as it is, and its context goes only when it must', async () => {
  const { holder, loads, beforeLoss, load, lend } = setUp();
  const path = fileOf('a.gguf');
  await load(path);
  await lend(path, async ({ model }) => expect(model).toBe(holder.require().model)).done;
  expect(loads).toHaveBeenCalledTimes(1);
  expect(beforeLoss).not.toHaveBeenCalled();

  const given = await lend(path, async ({ release }) => [await release(), await release()]).done;
  expect(given).toEqual([true, false]);
  expect(beforeLoss).toHaveBeenCalledTimes(1);
  expect(holder.current).toBeNull();
  // tokens can still be counted
  expect(holder.requireModel()).toBeDefined();
});

test('another model takes the place of the loaded one, after what that holds was kept', async () => {
  const { holder, loads, beforeLoss, load, lend } = setUp();
  await load(fileOf('a.gguf'));
  await lend(fileOf('b.gguf'), async () => undefined).done;
  expect(loads).toHaveBeenCalledTimes(2);
  expect(beforeLoss).toHaveBeenCalledTimes(1);
  expect(holder.memory()).toBeNull();
});

test('a load ends the loan, whether it runs or waits', async () => {
  const { load, lend } = setUp();
  const path = fileOf('a.gguf');
  await load(path);
  // ends with nothing but its signal
  const work = new Gate().hold();
  const { done, run } = lend(path, (_, signal) => work.pass(signal));
  await work.reached();
  await load(path);
  expect(run.signal.aborted).toBe(true);
  await done;

  const loading = load(path);
  const waiting = lend(path, async () => 'ran');
  waiting.run.abort();
  await expect(waiting.done).rejects.toMatchObject({ code: 'cancelled' });
  await loading;
});

test('a context of the length Auto is as long as the check says, and says so; what was read has a place in the next one', async () => {
  const { holder, checkMemory, load } = setUp();
  const auto = { nCtx: 4096, end: 'memory' as const, spare: 7 };
  checkMemory.mockResolvedValue({ core: {}, found: null, auto });
  const path = fileOf('a.gguf');
  const asked = () => checkMemory.mock.calls.at(-1)?.[0].atLeast;
  const { context } = await load(path);
  expect([context.nCtx, context.auto, asked()]).toEqual([4096, auto, 0]);
  vi.spyOn(holder.require().context, 'contextUsed', 'get').mockReturnValue(41);
  await load(path);
  expect(asked()).toBe(42);
  vi.spyOn(holder.require().context, 'contextUsed', 'get').mockReturnValue(41);
  // the cells of another model are none of its
  await load(fileOf('b.gguf'));
  expect(asked()).toBe(0);
  checkMemory.mockResolvedValue({ core: {}, found: null, auto: null });
  expect((await load(path)).context.auto).toBeNull();
  // an option of llama-server for the core decides
  checkMemory.mockResolvedValue({ core: {}, found: null, auto });
  vi.spyOn(holder.requireModel(), 'createContext').mockImplementationOnce(async (asked) =>
    holder.requireModel().createContext({ ...asked, nCtx: 512 }),
  );
  expect((await load(path)).context.auto).toBeNull();
});
