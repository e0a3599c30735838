/** Checks of a model by tasks: the real engine and model, whose calls of tools the test answers where they have to be right. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type CompareColumn, type CompareRequest, compareRequestSchema } from '@/electron/contract/compare/compare';
import type { CompareFacts, CompareTask } from '@/electron/contract/engineContract';
import { type Verdict, verdictOf } from '@/electron/contract/lib/judgement';
import { contextSettingsSchema } from '@/electron/contract/settings';
import { tasks, tools } from '@/electron/engine/compare/battery';
import { judged, respond, toolBody } from '@/electron/engine/compare/check';
import type { Context, ContextOptions, Engine } from '@/electron/engine/native/types';
import { TREE } from '../../../native/prepare/paths.mjs';
import { Gate } from '../../fixtures/gate';
import { readGguf, writeChanged } from '../gguf';
import { calibrationText, contextOptions, engine, engineServer, temporaryFolder, tinyModel } from '../support';

const depth = 1024;

interface Planted {
  /** passed before each call of a tool is answered */
  gate?: Gate;
  /** what a context really has for the types that are asked for */
  instead?: (types: Pick<ContextOptions, 'typeK' | 'typeV'>) => Partial<ContextOptions>;
}

/** The engine, with a model that makes every call right whatever its cache is: the tiny one makes none. */
function ableEngine({ gate = new Gate(), instead = () => ({}) }: Planted): Engine {
  return new Proxy(engine(), {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (key !== 'loadModel') return typeof value === 'function' ? value.bind(target) : value;
      return async (...args: Parameters<Engine['loadModel']>) => {
        const model = await target.loadModel(...args);
        const create = model.createContext.bind(model);
        model.createContext = async (options) => able(await create({ ...options, ...instead(options) }), gate);
        return model;
      };
    },
  });
}

function able(context: Context, gate: Gate): Context {
  context.respond = (request, onParts, signal) => {
    const question = JSON.parse(request.body).messages.at(-1).content;
    const { tool, expected } = tasks.find((task) => task.question === question) as (typeof tasks)[number];
    const call = { function: { name: tool, arguments: JSON.stringify(expected) } };
    const data = JSON.stringify({ choices: [{ message: { tool_calls: [call] } }] });
    const done = gate.pass(signal).then(() => onParts([{ status: 200, contentType: 'application/json', data }]));
    return { done, taken: () => undefined };
  };
  return context;
}

function checking(of: Engine, types: string[]) {
  const request: CompareRequest = compareRequestSchema.parse({
    ...{ modelId: 'tiny', prompt: { kind: 'check', depth } },
    configurations: types.map((type) => ({ typeK: type, typeV: type, nCtx: depth })),
    options: { needle: { depths: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.94, 0.97, 1] } },
  });
  const columns: CompareColumn[] = [];
  const steps: string[] = [];
  const facts: CompareFacts[] = [];
  const { handlers } = engineServer(
    {
      compare: {
        compareFacts: (one) => facts.push(one),
        compareColumn(_id, index, column) {
          columns[index] = column;
          if (column.step && steps.at(-1) !== column.step) steps.push(column.step);
        },
        compareFrame: () => undefined,
      },
    },
    {},
    of,
  );
  const scratch = path.join(temporaryFolder(), 'scratch');
  const { configurations, options } = request;
  const settings = contextSettingsSchema.parse({ threads: 1, recentTokens: 0 });
  const indices = configurations.map((_, index) => index);
  const task: CompareTask = {
    ...{ runId: 'run', models: [{ path: tinyModel, settings, columns: indices, shown: null, problem: null }], scratch },
    ...{ calibration: { folder: temporaryFolder(), textFile: calibrationText }, prompt: { depth } },
    ...{ material: fs.readFileSync(calibrationText, 'utf8'), configurations, options },
  };
  const verdict = (): Verdict | null => verdictOf({ columns, request, state: 'done' });
  return {
    run: () => handlers.compare(task),
    cancel: () => handlers.cancel({ requestId: 'run' }),
    columns,
    steps,
    facts,
    scratch,
    verdict,
  };
}

describe('a check', () => {
  it('recommends a pair that keeps everything, and not the one in whose place a bad type was planted', async () => {
    const good = checking(ableEngine({}), ['f16', 'q8_0']);
    await good.run();
    expect(good.columns.map(({ state }) => state)).toEqual(['done', 'done']);
    expect(good.verdict()).toMatchObject({ kind: 'pick', pick: 1, advice: 'Use q8_0.' });
    expect(good.steps.slice(0, 4)).toEqual(['context', 'quality', 'needles', 'tools']);
    const [f16, q8] = good.columns;
    expect(f16?.needles?.results).toHaveLength(12);
    expect(f16?.tools).toMatchObject({ right: 14 });
    // the end of the text, which stands nowhere else in it
    expect(q8?.quality?.tokens).toBe(depth / 2 - 1);
    expect(q8?.quality?.meanKld).toBeGreaterThan(0);
    expect(f16?.answer).toBeNull();
    expect(good.facts.at(-1)).toMatchObject({ promptTokens: depth, notes: [expect.stringContaining('all but exact')] });
    expect(fs.existsSync(good.scratch)).toBe(false);

    const bad = { typeK: 'turbo3', typeV: 'turbo3' };
    const planted = checking(ableEngine({ instead: ({ typeK }) => (typeK === 'q8_0' ? bad : {}) }), ['f16', 'q8_0']);
    await planted.run();
    expect(planted.verdict()).toMatchObject({ kind: 'none', pick: 0, advice: 'Only f16 keeps everything.' });
    expect(planted.verdict()?.losses[0]?.lost.at(-1)).toMatch(
      /^its predictions differ: picks another next word \d+ times/,
    );
    // the same cache gives the same
    expect(planted.columns[0]?.needles).toEqual(f16?.needles);
  });

  it('cannot judge a model that fails with f16 itself, and does not go on', async () => {
    const { run, columns, verdict } = checking(engine(), ['f16', 'turbo4']);
    await run();
    expect(columns[0]).toMatchObject({ state: 'done', tools: { right: 0 } });
    expect(columns[0]?.tools?.results[0]).toMatchObject({ fault: 'no-call', reply: expect.stringMatching(/\w/) });
    expect(columns[1]).toMatchObject({
      state: 'failed',
      context: null,
      error: { message: expect.stringContaining('nothing to judge it by') },
    });
    expect(verdict()).toMatchObject({ kind: 'cannot-judge', pick: null });
    expect(verdict()?.sentence).toContain('makes only 0 of 14 tool calls right');
  });

  it('that is canceled in the midst of the calls keeps what it has', async () => {
    const gate = new Gate().hold(5);
    const { run, cancel, columns, scratch } = checking(ableEngine({ gate }), ['f16', 'q8_0']);
    const ended = run();
    await gate.reached();
    expect(columns[0]).toMatchObject({ state: 'running', step: 'tools' });
    await cancel();
    await ended;
    expect(columns.map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
    expect(columns[0]).toMatchObject({ tools: null, needles: { results: expect.any(Array) }, quality: { meanKld: 0 } });
    expect(fs.existsSync(scratch)).toBe(false);
  });
});

it('reads a call that llama.cpp has parsed by the template of the model', async () => {
  // by the grammar of this template an answer with tools can begin with nothing but a call
  const template = path.join(TREE, 'models', 'templates', 'meetkai-functionary-medium-v3.2.jinja');
  const changes = { 'tokenizer.chat_template': fs.readFileSync(template, 'utf8') };
  const file = writeChanged(readGguf(tinyModel), path.join(temporaryFolder(), 'with-tools.gguf'), changes, true);
  const model = await engine().loadModel(file, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  const context = await model.createContext(contextOptions({ nCtx: 4096, api: true }));
  const [task] = tasks;
  if (!task) throw new Error('There is no task.');
  const answer = await respond(context, toolBody(task, { tool_choice: 'required' }), new AbortController().signal);
  const { reply, fault } = judged(answer, task);
  // which of them a model calls that knows no tools is its own
  expect(tools.map(({ name }) => name)).toContain(reply.split('(')[0]);
  expect(['tool', 'arguments', 'json', null]).toContain(fault);
});
