/** Which model answers a request of the API: over the services and a fake engine. */
import { expect, test, vi } from 'vitest';
import type { RunningRequest } from '@/electron/contract/api';
import type { ApiPart, ApiRequest } from '@/electron/contract/engineContract';
import { type After, ApiService } from '@/electron/services/api/apiService';
import { createFakeEngine, type FakeApi } from '@/test/fixtures/fakeEngine';
import { Gate } from '@/test/fixtures/gate';
import { setUpServices, waiting } from '@/test/fixtures/services';

const ownList = { models: [], object: 'list', data: [{ id: 'tiny.gguf', meta: { n_vocab: 5 } }] };

/** Each answer is the number of loads before it. */
async function setUp({
  idleMs = null,
  start = true,
  ...api
}: FakeApi & { idleMs?: number | null; start?: boolean } = {}) {
  const timers: { ms: number; task: () => void; stopped: boolean }[] = [];
  const after: After = (ms, task) => {
    const timer = { ms, task, stopped: false };
    timers.push(timer);
    return () => {
      timer.stopped = true;
    };
  };
  const loading = new Gate();
  const respond = ({ handler }: ApiRequest): ApiPart[] => {
    const data = handler === 'get_models' ? JSON.stringify(ownList) : String(all.services.engine.status().modelId);
    return [{ status: 200, contentType: 'text/plain', data }];
  };
  const words = new Gate();
  const engine = createFakeEngine({ loading, words, api: { respond, ...api } });
  const all = await setUpServices({ engine, start });
  const { services } = all;
  const service = new ApiService({ engine: services.engine, models: services.models, after });
  service.restAfter(idleMs);
  const tinyId = (await all.call('models.list', undefined))[0]?.id ?? '';

  /** The id of the model that answered. */
  async function ask(model: string | null, signal = new AbortController().signal): Promise<string> {
    let text = '';
    const request = { handler: 'post_completions', path: '/completion', query: '', params: {}, body: '' };
    await service.answer(
      request,
      { named: model, client: 'a test' },
      ({ data }, taken) => {
        text += data;
        taken(data.length);
      },
      signal,
    );
    return text;
  }
  return {
    ...all,
    service,
    ask,
    timers,
    loading,
    words,
    tinyId,
    pending: () => timers.filter(({ stopped }) => !stopped),
  };
}

test('a request that names no model, or none that there is, is answered by the one in use', async () => {
  const { ask, tinyId, services } = await setUp();
  const loads = services.engine.loads();
  expect(await ask(null)).toBe(tinyId);
  expect(await ask('gpt-4o')).toBe(tinyId);
  expect(await ask('tiny.gguf')).toBe(tinyId);
  expect(services.engine.loads()).toBe(loads);
});

test('a request that names another model has it loaded, by its id or its file name', async () => {
  const { ask, tinyId, addModel, services } = await setUp();
  const other = await addModel();
  expect(await ask('other.gguf')).toBe(other);
  expect(await ask(null)).toBe(other);
  expect(await ask(tinyId)).toBe(tinyId);
  expect(await ask('OTHER')).toBe(other);
  expect(services.settings.get().modelId).toBe(other);
});

test('requests for the same model share one load; one for another model waits until they have ended', async () => {
  const parts = new Gate();
  const { ask, tinyId, addModel, services } = await setUp({ parts });
  const other = await addModel();
  const loads = services.engine.loads();
  parts.hold();
  const order: string[] = [];
  const asked = (model: string | null) => ask(model).then((answered) => order.push(answered));
  const first = asked('other');
  await parts.reached();
  expect(services.engine.status().modelId).toBe(other);
  const rest = ['other', 'tiny', 'tiny', 'other', 'gpt-4o'].map(asked);
  parts.open();
  await Promise.all([first, ...rest]);
  expect(order).toEqual([other, other, tinyId, tinyId, other, other]);
  expect(services.engine.loads() - loads).toBe(3);
});

test('a load waits until an answer of the window has ended', async () => {
  const { ask, addModel, begin, final, words } = await setUp();
  const other = await addModel();
  words.hold(1);
  const { turn } = await begin('one two three');
  const asked = ask('other');
  await words.reached();
  words.open();
  // a load that does not wait would have ended it
  expect((await final(turn)).stopReason).toBe('end-of-turn');
  expect(await asked).toBe(other);
});

test('a request that is canceled while it waits takes nobody its turn', async () => {
  const parts = new Gate();
  const { ask, tinyId, addModel } = await setUp({ parts });
  await addModel();
  parts.hold();
  const first = ask(null);
  await parts.reached();
  const leaving = new AbortController();
  const canceled = ask('other', leaving.signal);
  const behind = ask('tiny');
  // both look their names up, and then wait
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  leaving.abort();
  await expect(canceled).rejects.toMatchObject({ code: 'cancelled' });
  parts.open();
  expect(await Promise.all([first, behind])).toEqual([tinyId, tinyId]);
});

test('while a model is on its way for the window, a request is told to come again', async () => {
  const { ask, addModel, services, loading, state } = await setUp();
  const other = await addModel();
  loading.hold();
  const chosen = services.engine.select(other);
  await loading.reached();
  const busy = { status: 503, type: 'unavailable_error', message: 'Loading model' };
  for (const model of [null, 'other', 'tiny', 'gpt-4o']) await expect(ask(model)).rejects.toMatchObject(busy);
  loading.open();
  await chosen;
  await state('ready');
  expect(await ask(null)).toBe(other);
});

test('without a model a name of none is not found, no name is told to come again, and a model that there is is loaded', async () => {
  const { ask, services, state, tinyId, service } = await setUp({ start: false });
  services.engine.startEmpty();
  await state('empty');
  expect(service.isReady()).toBe(false);
  await expect(ask('gpt-4o')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  await expect(ask(null)).rejects.toMatchObject({ status: 503, message: expect.stringContaining('No model') });
  expect(await ask('tiny')).toBe(tinyId);
  expect(service.isReady()).toBe(true);
});

test('a model that cannot be loaded is told why, and the former one goes on', async () => {
  const { ask, addModel, tinyId, services } = await setUp();
  const other = await addModel();
  services.engine.select = async () => {
    const error = { code: 'out-of-memory' as const, message: 'It does not fit.', hint: '' };
    return { ...services.engine.status(), refused: { modelId: other, error } };
  };
  await expect(ask('other')).rejects.toMatchObject({ code: 'out-of-memory' });
  expect(await ask(null)).toBe(tinyId);
});

test('a comparison refuses requests', async () => {
  const { ask, services } = await setUp();
  services.engine.live.update({ comparing: 'run' });
  await expect(ask(null)).rejects.toMatchObject({ status: 503, message: expect.stringContaining('comparison') });
  services.engine.live.update({ comparing: null });
});

test('the list has the entry of the model in use with its context, and the others by their names', async () => {
  const { service, addModel, services, state } = await setUp();
  const other = await addModel();
  const { signal } = new AbortController();
  const list = await service.models(signal);
  expect(list).toMatchObject({
    ...{ object: 'list', models: [] },
    data: [
      { id: 'tiny.gguf', meta: { n_vocab: 5, n_ctx: 8192, cache_type_k: 'turbo4', cache_type_v: 'turbo4' } },
      { id: 'other.gguf', aliases: [other], object: 'model' },
    ],
  });
  await services.engine.rest();
  await state('empty');
  const names = ((await service.models(signal)) as { data: { id: string }[] }).data.map(({ id }) => id);
  expect(names.sort()).toEqual(['other.gguf', 'tiny.gguf']);
});

test('requests are listed while they run or wait, with what is known of them', async () => {
  const parts = new Gate().hold();
  const { ask, service } = await setUp({ parts });
  const lists: RunningRequest[][] = [];
  service.changed.on((list) => lists.push(list));
  let seen = 0;
  service.progressed.on(() => (seen = service.requests()[0]?.bytes ?? 0));
  const asked = ask('a name');
  await parts.reached();
  expect(service.requests()).toEqual([
    expect.objectContaining({ path: '/completion', model: 'a name', client: 'a test', bytes: 0 }),
  ]);
  parts.open();
  const bytes = (await asked).length;
  expect(lists.map((list) => list.length)).toEqual([1, 0]);
  expect(seen).toBe(bytes);
});

test('a question of the window has a model that rests loaded again', async () => {
  const { services, state, send, final } = await setUp();
  await services.engine.rest();
  expect(await state('empty')).toMatchObject({ resting: true });
  const { turn } = await send('one two');
  expect(await final(turn)).toMatchObject({ stopReason: 'end-of-turn', text: expect.stringContaining('one') });
  expect(services.engine.status().resting).toBe(false);
});

test('a model that nobody has used for a while rests, and the next request has it loaded again', async () => {
  const { ask, tinyId, pending, services, state, service } = await setUp({ idleMs: 60_000 });
  expect(pending().map(({ ms }) => ms)).toEqual([60_000]);
  await ask(null);
  const [timer, ...others] = pending();
  expect(others).toEqual([]);
  timer?.task();
  await state('empty');
  expect(services.engine.status()).toMatchObject({ modelId: tinyId, memory: null });
  expect(service.isReady()).toBe(true);
  const loads = services.engine.loads();
  expect(await Promise.all([ask(null), ask('gpt-4o'), ask('tiny')])).toEqual([tinyId, tinyId, tinyId]);
  expect(services.engine.loads() - loads).toBe(1);
  await vi.waitFor(() => expect(pending().length).toBeGreaterThan(0), waiting);
});

test('who only looks neither wakes a model nor keeps it in memory', async () => {
  const { service, pending, services, state } = await setUp({ idleMs: 60_000 });
  const seen: string[] = [];
  const look = (handler: string) =>
    service.look(
      { handler, path: '/', query: '', params: {}, body: '' },
      ({ data }) => seen.push(data),
      new AbortController().signal,
    );
  const [timer] = pending();
  await look('get_metrics');
  expect(seen).toHaveLength(1);
  expect(pending()).toEqual([timer]);
  timer?.task();
  await state('empty');
  await expect(look('get_metrics')).rejects.toMatchObject({ status: 503, message: expect.stringContaining('rests') });
  expect(services.engine.rests).toBe(true);
});

test('a model that is used does not rest: neither while a request runs nor while the window has an answer written', async () => {
  const parts = new Gate();
  const {
    ask,
    pending,
    timers,
    services,
    begin,
    words,
    parts: _,
  } = { ...(await setUp({ idleMs: 60_000, parts })), parts };
  parts.hold();
  const asked = ask(null);
  await parts.reached();
  for (const { task } of timers) task();
  expect(services.engine.status().state).toBe('ready');
  parts.open();
  await asked;
  words.hold(1);
  await begin('one two three');
  await words.reached();
  expect(pending()).toEqual([]);
  for (const { task } of timers) task();
  expect(services.engine.status().state).toBe('generating');
  words.open();
  await vi.waitFor(() => expect(pending()).toHaveLength(1), waiting);
});

test('settings of the context count when the requests that run have ended', async () => {
  const parts = new Gate();
  const { ask, call, services } = await setUp({ parts });
  const loads = services.engine.loads();
  parts.hold();
  const asked = ask(null);
  await parts.reached();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  await call('settings.update', { context: { nCtx: 2048 } });
  await vi.advanceTimersByTimeAsync(500);
  vi.useRealTimers();
  expect(services.engine.loads()).toBe(loads);
  parts.open();
  await asked;
  await vi.waitFor(() => expect(services.engine.loads()).toBe(loads + 1), waiting);
});
