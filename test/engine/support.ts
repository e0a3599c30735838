/** What the engine tests share: the model, default options, and readers of answers. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import v8 from 'node:v8';
import vm from 'node:vm';
import { expect, onTestFinished } from 'vitest';
import type { GenerateRequest } from '@/electron/contract/engineContract';
import { samplingSettingsSchema } from '@/electron/contract/settings';
import { loadAddon, loadEngine } from '@/electron/engine/native/engine';
import type {
  Context,
  ContextOptions,
  Engine,
  GenerateChunk,
  GenerateOptions,
  GenerateResult,
  Model,
} from '@/electron/engine/native/types';
import { createEngineServer, type ServerOptions } from '@/electron/engine/server';
import { tinyModel } from '../models.mjs';

export { smallModel, tinyModel } from '../models.mjs';
export { randomFrom } from './gguf';

export const root = path.resolve(import.meta.dirname, '..', '..');

export const calibrationText = path.join(root, 'assets', 'calibration', 'text.txt');

const fixture = (name: string) => fs.readFileSync(path.join(root, 'test', 'fixtures', name), 'utf8');

/** Text that no model has seen. */
export const heldOut = () => fixture('heldout.txt');

/** Questions over real text. */
export const needles = (): { id: string; prompt: string; answer: string }[] =>
  fixture('needles.jsonl')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

export function engine(): Engine {
  return loadEngine();
}

/** the `.node` itself, for what the binding does not show; each load has classes of its own */
export const raw = loadAddon();

/** Beside the addon. */
export function tool(name: string): string {
  const folder = process.env.CONCERTINA_ADDON
    ? path.dirname(process.env.CONCERTINA_ADDON)
    : path.join(root, 'build', 'native', 'bin');
  return path.join(folder, process.platform === 'win32' ? `${name}.exe` : name);
}

/**
 * What llama-perplexity prints of the tiny model, by default on all threads.
 * --no-repack: on a processor with AMX the addon keeps weights out of ggml's AMX buffers (native/addon/model/Model.cpp), whose
 * products differ in the third digit. Elsewhere on x86-64 the q8_0 weights of this model are not repacked.
 */
export function perplexityTool(args: string[]): string {
  const all = ['-m', tinyModel, '-ngl', '0', '--no-repack', ...args];
  const { status, stdout, stderr } = spawnSync(tool('llama-perplexity'), all, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`llama-perplexity ended with ${status}:\n${stderr.slice(-2000)}`);
  return stdout + stderr;
}

/** The number behind a name in that output. */
export const perplexityFigure = (output: string, name: RegExp): number =>
  Number(new RegExp(`${name.source}\\s*([\\d.]+)`).exec(output)?.[1]);

export async function loadTiny(): Promise<Model> {
  const model = await engine().loadModel(tinyModel, { gpuLayers: 0 });
  onTestFinished(() => model.dispose());
  return model;
}

/** Of the tiny model, until the test ends. */
export async function tinyContext(changes: Partial<ContextOptions> = {}): Promise<{ model: Model; context: Context }> {
  const model = await loadTiny();
  return { model, context: await model.createContext(contextOptions(changes)) };
}

/** One thread: on a busy machine, threads that wait for each other make small work take seconds. */
export function contextOptions(changes: Partial<ContextOptions> = {}): ContextOptions {
  return { nCtx: 2048, typeK: 'f16', typeV: 'f16', flashAttention: 'auto', threads: 1, batch: 512, ...changes };
}

export function greedy(changes: Partial<GenerateOptions> = {}): GenerateOptions {
  const sampling = { temperature: 0, topK: 40, topP: 0.95, minP: 0.05, repeatPenalty: 1, seed: 1 };
  return { sampling, stop: [], maxTokens: 48, ...changes };
}

export interface Answer {
  chunks: GenerateChunk[];
  result: GenerateResult;
}

export async function answer(
  context: Context,
  prompt: Parameters<Context['generate']>[0],
  options: GenerateOptions = greedy(),
): Promise<Answer> {
  const generator = context.generate(prompt, options);
  const chunks: GenerateChunk[] = [];
  for (;;) {
    const step = await generator.next();
    if (step.done) return { chunks, result: step.value };
    chunks.push(step.value);
  }
}

/** A chat with a question whose answer the tiny model finds. */
export function question(extra = ''): Parameters<Context['generate']>[0] {
  const facts = 'The harbour lamp was lit by Tom Alder. The special magic number for Fresno is 77763886.';
  return [
    {
      role: 'user',
      content: `${filler(8)}${facts}\n\n${filler(6)}${extra}What is the special magic number for Fresno?`,
    },
  ];
}

/** Plain sentences, about 12 tokens each. */
export function filler(sentences: number): string {
  const lines = ['The old clock in the hall strikes once an hour.', 'Rain fell on the roofs of the village all day.'];
  return `${Array.from({ length: sentences }, (_, i) => lines[i % lines.length]).join(' ')}\n`;
}

export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'concertina-'));
  // a process of the test that is ending may write a last file into it
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** What a server is loaded with where nothing is to be measured. */
export const noCalibration = { folder: '/none', textFile: '/none/text.txt' };

type Output = Parameters<typeof createEngineServer>[1];

/** The server of the engine process in this one, until the test ends. */
export function engineServer(output: Partial<Output> = {}, options: ServerOptions = {}, of: Engine = engine()) {
  const all = { frame: () => undefined, loadProgress: () => undefined, ...output };
  const server = createEngineServer(() => of, all, options);
  onTestFinished(() => server.close());
  return server;
}

/** A question to that server. */
export function request(change: Partial<GenerateRequest> & Pick<GenerateRequest, 'messages'>): GenerateRequest {
  return {
    ...{ requestId: 'r', chatId: 'c', messageId: 'm', now: 0, jsonSchema: null },
    sampling: samplingSettingsSchema.parse({ temperature: 0, seed: 1, maxTokens: 40 }),
    ...change,
  };
}

v8.setFlagsFromString('--expose-gc');
/** What JavaScript has thrown away takes no memory any more. */
export const collectGarbage: () => void = vm.runInNewContext('gc');

/** The engine on a machine with so much memory free, whatever else runs on this one. */
export function engineWithFree(bytes: number): Engine {
  const real = engine();
  const memories = () => [
    { name: 'RAM', kind: 'ram' as const, free: bytes, total: bytes },
    ...real.memories().filter(({ kind }) => kind !== 'ram'),
  ];
  return new Proxy(real, {
    get(target, key) {
      if (key === 'memories') return memories;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

/** Resolves to what the promise was rejected with. */
export async function refusal(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('It was not refused');
}

/** llama.cpp reads its clock in whole microseconds, rounded down: each stretch that it times may seem longer by one. */
export const upstreamStepMs = 0.001;

/** Each is as large as the one before it, or larger. */
export function expectToGrow(values: readonly number[]): void {
  expect(values).toEqual([...values].sort((a, b) => a - b));
}
