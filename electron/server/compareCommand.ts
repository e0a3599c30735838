/** `npm run compare`: one comparison without a window; its run as Markdown, CSV and JSON. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import { type CompareProgress, type ComparePrompt, type CompareRun, compareFormatSchema } from '../contract/compare';
import type { OperationInput, OperationName, OperationOutput } from '../contract/contract';
import { ConcertinaError } from '../contract/errors';
import type { Services } from '../services/services';
import { type CompareOrder, parseCompareOptions } from './compareOptions';
import { lockFolder } from './lock';

/** @returns the exit code: 0 when every column was measured */
export async function runCompare(args: string[], open: (dataFolder: string) => Promise<Services>): Promise<number> {
  const order = parseCompareOptions(args, (path) => readFileSync(path, 'utf8'));
  const dataFolder = order.dataFolder ?? mkdtempSync(join(os.tmpdir(), 'concertina-compare-'));
  if (order.dataFolder) lockFolder(dataFolder);
  const services = await open(dataFolder);
  try {
    return await compare(services, order);
  } catch (error) {
    if (!(error instanceof ConcertinaError)) throw error;
    console.error(`${error.message.replace(/\.$/, '')}. ${error.hint}`.trim());
    return 1;
  } finally {
    await services.close();
    if (!order.dataFolder) rmSync(dataFolder, { recursive: true, force: true });
  }
}

async function compare(services: Services, order: CompareOrder): Promise<number> {
  services.engine.startEmpty();
  const call = callOf(services);
  const modelId = await modelIdOf(call, order.model);
  const prompt = await promptOf(services, order.prompt);
  const ended = untilEnded(services);
  const { runId } = await call('compare.start', { ...order.request, modelId, prompt });
  const cancel = () => void call('compare.cancel', { runId });
  process.on('SIGINT', cancel);
  await ended;
  process.off('SIGINT', cancel);
  await mkdir(order.out, { recursive: true });
  for (const format of compareFormatSchema.options) {
    const { fileName, text } = await call('compare.export', { runId, format });
    await writeFile(join(order.out, fileName), text);
    console.error(`wrote ${join(order.out, fileName)}`);
    if (format === 'markdown') console.log(text);
  }
  const run = await call('compare.get', { runId });
  return run.columns.every(({ state }) => state === 'done') ? 0 : 1;
}

type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>;

function callOf(services: Services): Call {
  return async (name, input) => {
    const envelope = await services.call(name, input);
    if (!envelope.ok) throw ConcertinaError.fromPayload(envelope.error);
    return envelope.value as never;
  };
}

async function modelIdOf(call: Call, path: string | null): Promise<string> {
  if (path !== null) {
    const { added, refused } = await call('models.addPaths', { paths: [path] });
    if (added[0]) return added[0].id;
    throw refused[0]
      ? ConcertinaError.fromPayload(refused[0].error)
      : new ConcertinaError('not-found', `No model ${path}`);
  }
  const embedded = (await call('models.list', undefined)).find(({ source }) => source === 'embedded');
  if (embedded) return embedded.id;
  throw new ConcertinaError('model-missing', 'There is no model.', 'Name one with --model.');
}

async function promptOf(services: Services, prompt: CompareOrder['prompt']): Promise<ComparePrompt> {
  if (prompt.kind === 'text') return prompt;
  if (prompt.kind === 'file') return { kind: 'text', text: textOf(prompt.path), asIs: false };
  const jobIds = services.documents.addPaths(prompt.files);
  const attachments = [];
  for (const jobId of jobIds) {
    const { id, name } = await documentOf(services, jobId);
    attachments.push({ documentId: id, name, part: { kind: 'whole' as const } });
  }
  return { kind: 'documents', attachments, question: prompt.question };
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConcertinaError('not-found', `${path} cannot be read: ${(error as Error).message}`);
  }
}

function documentOf({ documents: { jobs } }: Services, jobId: string) {
  return new Promise<{ id: string; name: string }>((resolve, reject) => {
    function look(): void {
      const job = jobs.list().find(({ id }) => id === jobId);
      if (!job || job.state === 'waiting' || job.state === 'reading') return;
      off();
      if (job.document) resolve({ id: job.document.id, name: job.document.name });
      else reject(ConcertinaError.fromPayload(job.error ?? { code: 'cancelled', message: job.name, hint: '' }));
    }
    const off = jobs.changed.on(look);
    look();
  });
}

/** Says on stderr what is done, a line for each step of each column. */
function untilEnded(services: Services): Promise<void> {
  const told = new Set<string>();
  return new Promise((resolve) => {
    const off = services.events.on((event) => {
      if (event.name !== 'onCompare') return;
      for (const line of linesOf(event.payload)) {
        if (!told.has(line)) console.error(line);
        told.add(line);
      }
      if (event.payload.state === 'running') return;
      off();
      resolve();
    });
  });
}

function linesOf({ step, columns, state, error, notes }: CompareProgress): string[] {
  const names: Record<NonNullable<CompareRun['step']>, string> = {
    loading: 'the model is loaded',
    'saving-chat': 'the chat is written down',
    'restoring-chat': 'the chat is loaded again',
  };
  return [
    ...(step ? [names[step]] : []),
    ...columns.flatMap(({ configuration: { typeK, typeV }, step: at, state: is, error: why }) => {
      if (is === 'waiting') return [];
      return [`${typeK}/${typeV}: ${at ?? (why ? `${is}: ${why.message}` : is)}`];
    }),
    ...notes,
    ...(state === 'running' ? [] : [`the comparison is ${state}${error ? `: ${error.message}` : ''}`]),
  ];
}
