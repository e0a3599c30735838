/** `concertina compare`: one comparison without a window; its run as Markdown, CSV and JSON. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import {
  type CompareConfiguration,
  type CompareProgress,
  type ComparePrompt,
  type CompareRun,
  compareConfigurationSchema,
  compareFormatSchema,
  compareRequestSchema,
  maxConfigurations,
  minConfigurations,
} from '../contract/compare/compare';
import { nextModelOf } from '../contract/compare/models';
import type { OperationInput } from '../contract/contract';
import { ConcertinaError, messageOf } from '../contract/errors';
import { usualPart } from '../contract/lib/attachments';
import { verdictOf } from '../contract/lib/judgement';
import { say } from '../contract/lib/language';
import { troubleOf } from '../contract/lib/systemErrors';
import { cacheChoiceSchema, cacheTypes, isBudget } from '../contract/settings';
import { lockFolder } from '../services/lib/folderLock';
import type { Services } from '../services/services';
import { type CommandSpec, exitCodes, parseLine, UsageError, type ValuesOf } from './commandLine';
import { type Call, type Command, callOf, modelIdOf, readDocuments, type Surroundings } from './commandServices';

/** The exit code is 0 when every column was measured, and after a check when the model can be judged. */
async function runCompare(args: readonly string[], { openServices, print, signal }: Surroundings): Promise<number> {
  const order = parseCompareOptions(args, (path) => readFileSync(path, 'utf8'));
  const dataFolder = order.dataFolder ?? mkdtempSync(join(os.tmpdir(), 'concertina-compare-'));
  if (order.dataFolder) await lockFolder(dataFolder);
  const services = await openServices(dataFolder);
  try {
    return await compare(services, order, print, signal);
  } finally {
    await services.close();
    if (!order.dataFolder) rmSync(dataFolder, { recursive: true, force: true });
  }
}

async function compare(
  services: Services,
  order: CompareOrder,
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  services.engine.startEmpty();
  const call = callOf(services);
  const modelId = await (order.model === null ? embeddedModelId(call) : modelIdOf(call, order.model));
  const request = order.kind === 'prompt' ? await requestOf(services, call, order, modelId, signal) : null;
  const ended = untilEnded(services, request);
  const depth = order.kind === 'check' ? order.depth : undefined;
  const { runId } = await (request ? call('compare.start', request) : startCheck(call, { modelId, depth }));
  const cancel = () => void call('compare.cancel', { runId });
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  await ended;
  signal.removeEventListener('abort', cancel);
  await mkdir(order.out, { recursive: true });
  for (const format of compareFormatSchema.options) {
    const { fileName, text } = await call('compare.export', { runId, format });
    await writeFile(join(order.out, fileName), text);
    console.error(`wrote ${join(order.out, fileName)}`);
    if (format === 'markdown') print(text);
  }
  if (signal.aborted) return exitCodes.canceled;
  const run = await call('compare.get', { runId });
  const verdict = verdictOf(run);
  if (verdict) return verdict.kind === 'cannot-judge' ? exitCodes.failed : exitCodes.done;
  return run.columns.every(({ state }) => state === 'done') ? exitCodes.done : exitCodes.failed;
}

/** Says before what it runs and about how long. */
async function startCheck(call: Call, question: OperationInput<'compare.check'>): Promise<{ runId: string }> {
  const { depth, configurations, seconds, measured, problem } = await call('compare.planCheck', question);
  if (problem !== '') throw new ConcertinaError('out-of-memory', say(problem), 'Give less with --context.');
  const pairs = configurations.map(({ typeK, typeV }) => (typeK === typeV ? typeK : `${typeK}/${typeV}`));
  const minutes = Math.max(1, Math.round(seconds / 60));
  console.error(`${pairs.join(', ')} at ${depth} tokens: 14 tool calls, 12 hidden facts and the predictions of each`);
  console.error(
    `about ${minutes} min${measured ? '' : ', a guess: this model has not been timed on this machine yet'}`,
  );
  return call('compare.check', question);
}

/** With ids in place of the words that name models, and of files. */
async function requestOf(
  services: Services,
  call: Call,
  { request, prompt }: PromptOrder,
  modelId: string,
  signal: AbortSignal,
) {
  const ids = new Map<string, string>();
  for (const { modelId: word } of request.configurations) {
    if (word !== undefined && !ids.has(word)) ids.set(word, await modelIdOf(call, word));
  }
  const configurations = request.configurations.map(
    ({ modelId: word, ...cache }): CompareConfiguration =>
      word === undefined ? cache : { ...cache, modelId: ids.get(word) ?? '' },
  );
  return { ...request, modelId, configurations, prompt: await promptOf(services, prompt, signal) };
}

async function embeddedModelId(call: Call): Promise<string> {
  const embedded = (await call('models.list', undefined)).find(({ source }) => source === 'embedded');
  if (embedded) return embedded.id;
  throw new ConcertinaError('model-missing', 'There is no model.', 'Name one with --model.');
}

async function promptOf(
  services: Services,
  prompt: PromptOrder['prompt'],
  signal: AbortSignal,
): Promise<ComparePrompt> {
  if (prompt.kind === 'text') return prompt;
  if (prompt.kind === 'file') return { kind: 'text', text: textOf(prompt.path), asIs: false };
  const documents = await readDocuments(services, prompt.files, { signal });
  const attachments = documents.map((one) => ({ documentId: one.id, name: one.name, part: usualPart(one) }));
  return { kind: 'documents', attachments, question: prompt.question };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConcertinaError('not-found', `${path} cannot be read: ${messageOf(error)}.`, troubleOf(error)?.remedy);
  }
}

/** Says on stderr what is done, a line for each step of each column. `request`: null for a check */
function untilEnded(services: Services, request: Parameters<typeof nextModelOf>[0]['request'] | null): Promise<void> {
  const printed = new Set<string>();
  return new Promise((resolve) => {
    const off = services.events.on((event) => {
      if (event.name !== 'onCompare') return;
      const { columns } = event.payload;
      const loaded = (request && nextModelOf({ columns, request })) || 'the model';
      for (const line of linesOf(event.payload, loaded)) {
        if (!printed.has(line)) console.error(line);
        printed.add(line);
      }
      if (event.payload.state === 'running') return;
      off();
      resolve();
    });
  });
}

function linesOf({ step, columns, state, error, notes }: CompareProgress, loaded: string): string[] {
  const names: Record<NonNullable<CompareRun['step']>, string> = {
    loading: `${loaded} is loaded`,
    'saving-chat': 'the chat is written down',
    'restoring-chat': 'the chat is loaded again',
  };
  return [
    ...(step ? [names[step]] : []),
    ...columns.flatMap(({ configuration: { typeK, typeV }, model, step: at, state: is, error: why }) => {
      if (is === 'waiting') return [];
      return [`${model ? `${model.name}, ` : ''}${typeK}/${typeV}: ${at ?? (why ? `${is}: ${why.message}` : is)}`];
    }),
    ...notes,
    ...(state === 'running' ? [] : [`the comparison is ${state}${error ? `: ${error.message}` : ''}`]),
  ];
}

// Its line: a request as a file, or as flags.

const compareSpec = {
  name: 'compare',
  takes: '[REQUEST.json]',
  about: 'runs a prompt or documents under several cache types or models, side by side',
  details: `REQUEST.json is what the window asks for, or a run that it exported, with "files" of documents in place of their ids.
A "modelId" of its configurations names a model as --beside does. Without it: --types, and --text FILE, or --document FILE with --question TEXT. Or --guard, which checks the model by tasks and
recommends types. What is written is explained in docs/compare.md.`,
  options: {
    types: {
      ...{ type: 'string', value: 'LIST' },
      about: `2 to 6 cache types, K/V pairs, or budgets like auto:3.5 (with --beside one is enough); the first one is the reference: ${cacheTypes.join(', ')}`,
    },
    guard: {
      type: 'boolean',
      about: 'checks the model: tool calls, hidden facts and predictions under the usual pairs, judged by f16',
    },
    text: { type: 'string', value: 'FILE', about: 'a file with the whole prompt' },
    document: { type: 'string', value: 'FILE', multiple: true, about: 'a file to ask about' },
    question: { type: 'string', value: 'TEXT', about: 'about the documents' },
    model: {
      type: 'string',
      value: 'MODEL',
      about: 'file, or a model of `models list` (the one that comes with the app)',
    },
    beside: {
      ...{ type: 'string', value: 'MODEL', multiple: true },
      about: 'another model, loaded after the first one and run under the same types',
    },
    context: {
      ...{ type: 'string', value: 'TOKENS' },
      about: 'length of each context (8192; of a check, the one that is set for the model)',
    },
    tokens: { type: 'string', value: 'N', about: 'of each answer at the most (256)' },
    rounds: { type: 'string', value: 'N', about: 'measure decoding so many times in turns (0)' },
    needles: { type: 'string', value: 'LIST', about: 'hide facts at these depths and ask for them: 0.1,0.5,0.9' },
    curve: { type: 'string', value: 'LIST', about: 'measure decoding with so many tokens in the cache: 0,2048,8192' },
    'no-quality': { type: 'boolean', about: 'leaves perplexity and KL divergence out' },
    name: { type: 'string', value: 'TEXT', about: 'of the run' },
    out: { type: 'string', value: 'DIR', about: 'folder for the run as Markdown, CSV and JSON (.)' },
    data: {
      type: 'string',
      value: 'DIR',
      about: 'data folder whose settings are used and where the run is kept (a temporary one)',
    },
  },
  examples: [
    ['compare --types f16,turbo4,q8_0/turbo3 --text prompt.txt', 'one prompt under three caches'],
    [
      'compare --types f16,turbo3 --document report.pdf --question "What was agreed?" --out results',
      'about a document',
    ],
    ['compare --types f16 --model Q8_0.gguf --beside Q4_K_M.gguf --text prompt.txt', 'two quants of one model'],
    ['compare --guard --model MODEL.gguf --context 16384', 'which types keep what the model does, at this depth'],
  ],
} as const satisfies CommandSpec;

export const compareCommand: Command = { ...compareSpec, run: runCompare };

const documentsPrompt = z.object({
  kind: z.literal('documents'),
  files: z.array(z.string().min(1)).min(1),
  question: z.string().min(1),
});
/** The request of the contract; a chat or the id of a document means nothing outside the app that holds them. */
const fileSchema = z.object({
  ...compareRequestSchema.shape,
  /** models are named as a person does */
  configurations: z
    .array(compareConfigurationSchema.extend({ modelId: z.string().min(1).optional() }))
    .min(minConfigurations)
    .max(maxConfigurations),
  modelId: z.string().optional(),
  prompt: z.union([documentsPrompt, compareRequestSchema.shape.prompt]),
});
const runSchema = z.object({ request: fileSchema, name: z.string() });

interface Common {
  /** null: the embedded one */
  model: string | null;
  out: string;
  /** null: a temporary one */
  dataFolder: string | null;
}

interface PromptOrder {
  kind: 'prompt';
  /** without prompt and model, which are files still */
  request: Omit<z.output<typeof fileSchema>, 'prompt' | 'modelId'>;
  prompt:
    | { kind: 'file'; path: string }
    | z.output<typeof documentsPrompt>
    | { kind: 'text'; text: string; asIs: boolean };
}

interface CheckOrder {
  kind: 'check';
  /** tokens; left out: as it is set */
  depth: number | undefined;
}

type CompareOrder = Common & (PromptOrder | CheckOrder);

/** `read`: the text of a file. Throws `UsageError` with one sentence when the line makes no sense. */
export function parseCompareOptions(args: readonly string[], read: (path: string) => string): CompareOrder {
  const { values, positionals } = parseLine(compareSpec, args);
  const common = {
    model: values.model ?? null,
    out: resolve(values.out ?? '.'),
    dataFolder: values.data === undefined ? null : resolve(values.data),
  };
  const [file, ...more] = positionals;
  if (more.length > 0) throw new UsageError('Give one request file.');
  if (values.guard) return { ...common, ...checkOrder(values, file) };
  if (file !== undefined) return { ...common, ...fromFile(resolve(file), read) };
  return { ...common, ...fromFlags(values) };
}

type Values = ValuesOf<(typeof compareSpec)['options']>;

function checkOrder(values: Values, file: string | undefined): CheckOrder {
  const own = ['guard', 'model', 'context', 'out', 'data'];
  const other = Object.keys(values).find((name) => !own.includes(name));
  if (file !== undefined) throw new UsageError('--guard takes no request file: it has tasks of its own.');
  if (other !== undefined) throw new UsageError(`--guard takes no --${other}: it has types and tasks of its own.`);
  if (values.context === undefined) return { kind: 'check', depth: undefined };
  const depth = compareRequestSchema.shape.configurations.element.shape.nCtx.safeParse(
    number('--context', values.context),
  );
  return { kind: 'check', depth: checked(depth, '--context') };
}

function fromFile(path: string, read: (path: string) => string): PromptOrder {
  let value: unknown;
  try {
    value = JSON.parse(read(path));
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${messageOf(error)}.`);
  }
  const run = runSchema.safeParse(value);
  const parsed = run.success
    ? { ...run.data.request, name: run.data.name }
    : checked(fileSchema.safeParse(value), path);
  const { prompt, modelId: _, ...request } = parsed;
  if (prompt.kind === 'check') throw new UsageError(`${path}: it is a check. Run it again with --guard.`);
  if (prompt.kind === 'chat' || (prompt.kind === 'documents' && !('files' in prompt))) {
    throw new UsageError(`${path}: the prompt is in the app. Give documents as "files", or a text.`);
  }
  if ('files' in prompt)
    return { kind: 'prompt', request, prompt: { ...prompt, files: prompt.files.map((file) => resolve(file)) } };
  return { kind: 'prompt', request, prompt };
}

function fromFlags(values: Values): PromptOrder {
  if (values.types === undefined) throw new UsageError('--types is missing: name two or more cache types.');
  const nCtx = number('--context', values.context ?? '8192');
  const caches = values.types.split(',').map((pair) => configuration(pair, nCtx));
  const models = [{}, ...(values.beside ?? []).map((modelId) => ({ modelId }))];
  const request = checked(
    fileSchema.omit({ prompt: true, modelId: true }).safeParse({
      ...(values.name !== undefined && { name: values.name }),
      configurations: models.flatMap((model) => caches.map((cache) => ({ ...cache, ...model }))),
      options: {
        ...(values.tokens !== undefined && { maxTokens: number('--tokens', values.tokens) }),
        ...(values.rounds !== undefined && { rounds: number('--rounds', values.rounds) }),
        ...(values['no-quality'] && { quality: null }),
        ...(values.needles !== undefined && { needle: { depths: numbers('--needles', values.needles) } }),
        ...(values.curve !== undefined && { curve: { depths: numbers('--curve', values.curve) } }),
      },
    }),
    'The request',
  );
  return { kind: 'prompt', request, prompt: promptOption(values) };
}

function promptOption({ text, document: files, question }: Values): PromptOrder['prompt'] {
  if (text !== undefined && files === undefined) return { kind: 'file', path: resolve(text) };
  if (text === undefined && files && question !== undefined) {
    return { kind: 'documents', files: files.map((file) => resolve(file)), question };
  }
  throw new UsageError('Give --text FILE, or --document FILE with --question TEXT.');
}

function configuration(pair: string, nCtx: number): CompareConfiguration {
  const [typeK = '', typeV = typeK, ...rest] = pair.trim().split('/');
  const types = z.tuple([cacheChoiceSchema, cacheChoiceSchema]).safeParse([typeK, typeV]);
  const half = typeK !== typeV && (isBudget(typeK) || isBudget(typeV));
  if (rest.length > 0 || half || !types.success) {
    throw new UsageError(
      `--types: ${pair} is none of ${cacheTypes.join(', ')}, nor a pair like q8_0/turbo4, nor a budget like auto:3.5.`,
    );
  }
  return { typeK: types.data[0], typeV: types.data[1], nCtx };
}

function numbers(flag: string, text: string): number[] {
  return text.split(',').map((one) => number(flag, one));
}

function number(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new UsageError(`${flag}: ${text} is not a number.`);
  return value;
}

function checked<T>(parsed: z.ZodSafeParseResult<T>, what: string): T {
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new UsageError(`${basename(what)}: ${issue?.path.join('.')}: ${issue?.message}.`);
}
