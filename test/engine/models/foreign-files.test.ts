/**
 * Model files that llama.cpp asserts over, or that are made to cost time and memory, are looked at in every way while the
 * real engine writes an answer: each is refused with a sentence or accepted, and no answer is interrupted.
 */
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Message } from '@/electron/contract/chats';
import { ConcertinaError } from '@/electron/contract/errors';
import { usualRecentTokens } from '@/electron/contract/settings';
import { modelIdOf } from '@/electron/services/models/modelFiles';
import type { AppEvent } from '@/electron/services/services';
import { readGguf, stringsOf, type Value, writeChanged } from '../gguf';
import { bundleProcesses, startProcesses } from '../processes';
import { contextOptions, engine, temporaryFolder, tinyModel } from '../support';

bundleProcesses();

type Changes = Record<string, Value | null>;
/** what is said of the file; null: it is accepted */
type Case = [name: string, changes: Changes, refusal: RegExp | null];

const original = readGguf(tinyModel);
const { metadata } = original;
const architecture = (metadata.get('general.architecture') ?? Buffer.alloc(0)).toString('utf8', 12);
const headDim = metadata.get(`${architecture}.attention.key_length`)?.readUInt32LE(4) ?? 0;
const layers = metadata.get(`${architecture}.block_count`)?.readUInt32LE(4) ?? 0;
const tokens = stringsOf(metadata.get('tokenizer.ggml.tokens') ?? Buffer.alloc(16));

const own = (changes: Changes): Changes =>
  Object.fromEntries(Object.entries(changes).map(([key, value]) => [`${architecture}.${key}`, value]));

/** The same keys under the name of another architecture. */
function as(other: string, changes: Changes = {}): Changes {
  const keys = [...metadata].filter(([key]) => key.startsWith(`${architecture}.`));
  const renamed = keys.map(([key, value]) => [key.replace(architecture, other), value]);
  return { 'general.architecture': other, ...Object.fromEntries(renamed), ...changes };
}

const template = (source: string): Changes => ({ 'tokenizer.chat_template': source });

/** With the place of the assertion in llama.cpp that each reaches, where there is one. */
const cases: Case[] = [
  ['layers-none (llama-model.cpp:1260)', own({ block_count: 0 }), /names 0 layers/],
  ['layers-513 (1260)', own({ block_count: 513 }), /names 513 layers/],
  ['layers-4294967295 (1260)', own({ block_count: 4294967295 }), /names 4294967295 layers/],
  ['nextn (1262)', own({ nextn_predict_layers: layers + 1 }), /names \d+ layers, but \d+ of one kind/],
  ['nextn-4294967295 (1262)', own({ nextn_predict_layers: 4294967295 }), /of one kind \(nextn_predict_layers\)/],
  ['experts-1025 (1293)', own({ expert_count: 1025, expert_used_count: 2 }), /names 1025 experts/],
  ['experts-4294967295 (1293)', own({ expert_count: 4294967295, expert_used_count: 2 }), /names 4294967295 experts/],
  ['used-3-of-0 (1294)', own({ expert_used_count: 3 }), /3 of 0 experts are used/],
  ['used-9-of-8 (1294)', own({ expert_count: 8, expert_used_count: 9 }), /9 of 8 experts/],
  [
    'used-by-layer (1294)',
    own({ expert_count: 8, expert_used_count: Array.from({ length: layers }, (_, layer) => layer + 2) }),
    /9 of 8 experts/,
  ],
  ['used-0-of-8 (1296)', own({ expert_count: 8 }), /0 of 8 experts/],
  ['groups-8-of-8 (1297)', own({ expert_count: 8, expert_used_count: 2, expert_group_count: 8 }), /8 experts into 8/],
  ['groups-3-of-8 (1299)', own({ expert_count: 8, expert_used_count: 2, expert_group_count: 3 }), /8 experts into 3/],
  ['groups-unused (1300)', own({ expert_count: 8, expert_used_count: 2, expert_group_count: 2 }), /of which 0 are/],
  [
    'groups-all-used (1301)',
    own({ expert_count: 8, expert_used_count: 2, expert_group_count: 2, expert_group_used_count: 2 }),
    /of which 2 are used/,
  ],
  ['groups-511 (1305)', own({ expert_group_count: 511 }), /0 experts into 511 groups/],
  ['rope-scaling (1352)', own({ 'rope.scaling.type': 'spiral' }), /unknown position scaling \(spiral\)/],
  [
    'rope-half (models/qwen3.cpp:57)',
    own({ 'rope.dimension_count': headDim / 2 }),
    /rotary dimensions, which should be equal/,
  ],
  ['rope-none (qwen3.cpp:57)', own({ 'rope.dimension_count': 0 }), /and 0 rotary dimensions/],
  ['key-length (qwen3.cpp:56)', own({ 'attention.key_length': headDim / 2 }), /attention heads have/],
  ['value-length (qwen3.cpp:56)', own({ 'attention.value_length': headDim / 2 }), /attention heads have/],
  ['norm (ops.cpp:3950)', own({ 'attention.layer_norm_rms_epsilon': { float32: Number.NaN } }), /no usable number for/],
  ['norm-negative', own({ 'attention.layer_norm_rms_epsilon': { float32: -1 } }), /layer_norm_rms_epsilon/],
  [
    'token-twice (llama-vocab.cpp:2539)',
    { 'tokenizer.ggml.tokens': tokens.map((token, id) => (id === 100 ? (tokens[101] ?? '') : token)) },
    /its vocabulary has a token twice/,
  ],
  [
    'no-first-token (588)',
    {
      'tokenizer.ggml.pre': 'chatglm-bpe',
      'tokenizer.ggml.add_bos_token': true,
      'tokenizer.ggml.bos_token_id': null,
    },
    /no token for the beginning/,
  ],
  ['no-vocabulary (3417)', { 'tokenizer.ggml.model': 'no_vocab' }, null],
  ['vocabulary-bert', { 'tokenizer.ggml.model': 'bert' }, /made for byte pair encoding, and it says "bert"/],
  ['vocabulary-rwkv', { 'tokenizer.ggml.model': 'rwkv' }, /byte pair encoding/],
  ['vocabulary-gone', { 'tokenizer.ggml.tokens': null }, /cannot find tokenizer vocab/],
  ['vocabulary-of-one', { 'tokenizer.ggml.tokens': ['a'] }, /wrong shape/],
  ['ends-the-process-1 (models/smallthinker.cpp:54)', as('smallthinker'), /ends the program that reads model files/],
  [
    'ends-the-process-2 (models/hunyuan-vl.cpp:64)',
    as('hunyuan-dense', { 'hunyuan-dense.rope.dimension_count': headDim / 2 }),
    /ends the program that reads model files/,
  ],
  ['heads-none', own({ 'attention.head_count': 0 }), /wrong shape/],
  ['heads-4294967295', own({ 'attention.head_count': 4294967295 }), /wrong shape/],
  ['context-one (llama-context.cpp:1783)', own({ context_length: 1 }), /trained for 1 token/],
  ['context-none', own({ context_length: 0 }), null],
  ['parts-2147483647', { 'split.count': 2147483647, 'split.no': 0 }, /one of 2147483647 parts/],
  ['parts-65535', { 'split.count': { uint16: 65535 }, 'split.no': { uint16: 0 } }, /one of 65535 parts/],
  ['name-400000', { 'general.name': 'n'.repeat(400_000) }, null],
  ['name-turned', { 'general.name': 'model\u202efugg.exe' }, null],
  ['architecture-400000', { 'general.architecture': 'y'.repeat(400_000) }, /unknown model architecture/],
  ['tokenizer-400000', { 'tokenizer.ggml.pre': 'x'.repeat(400_000) }, /unknown pre-tokenizer type/],
  ['template-endless', template('{% for i in range(1000000000) %}x{% endfor %}'), null],
  ['template-wide', template('{{ "abc" | indent(2147483647) }}'), null],
  ['template-deep', template(`{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`), null],
  ['template-long', template('x'.repeat(400_000)), null],
];

const fileOf = (folder: string, name: string) => path.join(folder, `${name.replace(/ .*/, '')}.gguf`);

const start = () =>
  startProcesses({
    context: { nCtx: 8192, threads: 1 },
    // nearly uniform: such an answer is long
    sampling: { temperature: 5, topK: 0, topP: 1, minP: 0, maxTokens: 0 },
    sessions: { enabled: false },
  });

type Running = Awaited<ReturnType<typeof start>>;

/** Asks and asks again, so that an answer is written at any time until it is ended. */
class Answers {
  readonly ended: Message[] = [];
  private requestId = '';
  private going = true;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly app: Running) {
    app.services.events.on((event) => this.onEvent(event));
  }

  async begin(): Promise<void> {
    const { id: chatId } = await this.app.call('chats.create', { title: 'A long one' });
    const text = 'Tell me a long story about the old clock.';
    this.requestId = (await this.app.call('turns.send', { chatId, parentId: null, text })).requestId;
  }

  /** Resolves when more text has come. */
  more(): Promise<void> {
    return new Promise((resolve) => this.waiting.add(resolve));
  }

  async end(): Promise<void> {
    this.going = false;
    // one may have ended by itself just now, and the next one have been asked for
    await vi.waitFor(async () => {
      await this.app.call('turns.stop', { requestId: this.requestId });
      expect(this.app.services.engine.status().state).toBe('ready');
    }, 30_000);
  }

  private onEvent(event: AppEvent): void {
    if (event.name === 'onStream' && event.payload.text !== '') {
      for (const resolve of this.waiting) resolve();
      this.waiting.clear();
    }
    if (event.name !== 'onMessage' || event.payload.message.stopReason === null) return;
    this.ended.push(event.payload.message);
    if (this.going) void this.begin();
  }
}

const sentence = (error: unknown) => `${(error as Error).message} ${(error as { hint?: string }).hint ?? ''}`;

it(`${cases.length} files are looked at during an answer: none is interrupted, each is refused with a sentence or accepted`, async () => {
  const app = await start();
  const { call, engines, inspectors, services } = app;
  const folder = temporaryFolder();
  for (const [name, changes] of cases) writeChanged(original, fileOf(folder, name), changes);
  const answers = new Answers(app);
  await answers.begin();
  await answers.more();

  const problems = new Map<string, string[]>();
  const ask = async (name: string, question: Promise<unknown>) => {
    const problem = await question.then(() => '', sentence);
    problems.set(name, [...(problems.get(name) ?? []), problem]);
  };
  // as a folder: all are listed, and their headers are read one after the other
  await call('models.addPaths', { paths: [folder] });
  const listed = await vi.waitFor(async () => {
    const models = await call('models.list', undefined);
    expect(models).toHaveLength(cases.length + 1);
    expect(models.filter(({ info, problem }) => info === null && problem === null)).toEqual([]);
    return models;
  }, 60_000);
  await answers.more();
  for (const [name] of cases) {
    const file = fileOf(folder, name);
    const modelId = modelIdOf(file);
    await ask(name, call('engine.plan', { modelId, longest: 2048 }));
    const context = { nCtx: 1024 };
    await ask(name, call('engine.plan', { modelId, context, longest: 1024, sides: true }));
    // a second time, and by itself
    const { refused } = await call('models.addPaths', { paths: [file] });
    await ask(name, refused[0] ? Promise.reject(ConcertinaError.fromPayload(refused[0].error)) : Promise.resolve());
    await call('models.details', { modelId }).catch(() => undefined);
    await answers.more();
  }

  for (const [name, , refusal] of cases) {
    const asked = problems.get(name) ?? [];
    if (refusal === null) expect(asked, name).toEqual(['', '', '']);
    else expect(asked[0], name).toMatch(refusal);
    for (const problem of asked) expect(problem.length, name).toBeLessThan(1200);
    const model = listed.find(({ id }) => id === modelIdOf(fileOf(folder, name)));
    expect(model?.info?.name.length ?? 0, name).toBeLessThanOrEqual(200);
    expect(model?.info?.name ?? '', name).not.toContain('\u202e');
  }

  // two of them end any process that looks at them, and each did so once: they are not tried again
  const killers = cases.filter(([name]) => name.startsWith('ends-the-process')).map(([name]) => name);
  expect(inspectors).toHaveLength(killers.length + 1);
  // not even the model in use goes for one that is chosen
  for (const name of killers) {
    const status = await call('models.select', { modelId: modelIdOf(fileOf(folder, name)) });
    // 'ready' for as long as lies between one answer and the next
    expect(status.state).toMatch(/^(generating|ready)$/);
    expect(status).toMatchObject({
      modelId: listed.find(({ source }) => source === 'embedded')?.id,
      refused: { error: { code: 'model-invalid', message: expect.stringContaining('ends the program') } },
    });
    await answers.more();
  }
  await answers.end();
  expect(engines).toHaveLength(1);
  expect(services.engine.status().restarts).toBe(0);
  const interrupted = answers.ended.filter(({ error, stopReason }) => error !== null || stopReason === 'interrupted');
  expect(interrupted).toEqual([]);
  expect(answers.ended.length).toBeGreaterThan(0);
  expect((await call('app.diagnostics', undefined)).text).toMatch(
    /Process that looks at model files: running(, [\d.]+ MB)?; ended by files: 2/,
  );
});

it('the process that looks at files says of a model what the engine allocates for it', async () => {
  const { call, services, state } = await start();
  for (const [typeK, typeV] of [
    ['f16', 'f16'],
    ['turbo4', 'turbo3'],
  ] as const) {
    await call('settings.update', { context: { nCtx: 4096, typeK, typeV } });
    await vi.waitFor(() => expect(services.engine.status().context?.typeV.asked).toBe(typeV), 60_000);
    await state('ready');
    const { memory, context } = services.engine.status();
    const { estimate, budgets } = await call('engine.plan', {});
    const { weights = 0, kvK = 0, kvV = 0, kvF16 = 0, compute = 0 } = memory ?? {};
    expect(estimate).toMatchObject({ kvK, kvV, kvF16, typeK: context?.typeK, typeV: context?.typeV });
    // the model was measured for its turbo caches, which no dry run is
    expect(Math.abs(estimate.weights + estimate.compute - weights - compute) / (weights + compute)).toBeLessThan(0.1);
    const here = await engine().estimate(
      tinyModel,
      { gpuLayers: -1 },
      contextOptions({
        ...{ nCtx: 4096, typeK, typeV, rope: 'model', speculation: 'ngram', recentTokens: usualRecentTokens },
      }),
    );
    expect(here).toMatchObject(estimate);
    // what the loaded model holds counts as free, as the load check of the engine has it
    const { held, ram } = await services.host.client.call('machineMemory', undefined);
    const given = held.reduce((sum, use) => sum + use.weights - use.mapped + use.context + use.compute, 0);
    expect(given).toBeGreaterThan(kvK);
    const reserve = 256 * 2 ** 20 + ram.total / 32;
    const expected = ram.free + Math.min(given, ram.releasable ?? given) - reserve;
    expect(Math.abs((budgets[0]?.available ?? 0) - expected)).toBeLessThan(0.02 * ram.total);
  }
});
