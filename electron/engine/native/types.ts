/**
 * The one description of the native surface: what the functions of the addon take and return, and `loadEngine`'s objects over
 * it. An object that crosses is described here, or in the contract where another process knows it too; `native/addon` lists
 * its fields under the same names (CONCERTINA_FIELDS). Units: bytes, milliseconds, tokens. Nothing here blocks the calling
 * thread for long: every call that computes runs on a worker and takes an AbortSignal.
 */

import { z } from 'zod';
import { draftsSchema, stopReasonSchema } from '../../contract/chats';
import { type Quality, qualitySchema } from '../../contract/compare/figures';
import { type Capabilities, type EffectiveContext, memoryEstimateSchema, type Placement } from '../../contract/engine';
import type {
  ApiPart,
  ApiRequest,
  PromptMessage,
  PromptOptions as PromptSettings,
} from '../../contract/engineContract';
import { type DeviceMemory, type DeviceUse, deviceUseSchema } from '../../contract/fit';
import type { ServedDevice, WorkerDevice } from '../../contract/lib/domains/workers';
import type { PartMemory } from '../../contract/lib/memory';
import type { Bandwidth } from '../../contract/machine';
import type { ModelInfo } from '../../contract/models';
import type { ContextSettings, SamplingSettings } from '../../contract/settings';
import { promptCallSchema } from '../../contract/tools/tools';

/** A dry run: the parts, and the same bytes by device. */
export const memoryPlanSchema = memoryEstimateSchema.extend({
  /** cells as the engine would make them: rounded up, or cut */
  nCtx: z.number().int(),
  /** tokens that the model was trained for; 0: its file does not say */
  trained: z.number().int(),
  devices: z.array(deviceUseSchema),
  /** as `Model.fingerprint` */
  fingerprint: z.string(),
});
export type MemoryPlan = z.infer<typeof memoryPlanSchema>;

/** What a model and a context take now; during a job, when it began. */
export interface MemoryUse {
  parts: PartMemory;
  /** the same bytes, with what the prompt cache holds */
  devices: DeviceUse[];
}

/** What upstream's server core is asked for. */
export interface CoreOptions {
  /** answers that are written at the same time; left out: 1 */
  slots?: number;
  /** whether `Context.respond` is wanted; left out: not */
  api?: boolean;
  /** bytes of RAM that what requests leave behind may take; left out: none is kept */
  promptCache?: number;
  /** options of llama-server for its core */
  core?: string[];
}

/** `rope` left out: `model`; `recentTokens`: 0; `speculation`: `off`; `draftModel`, `projector`: paths, '' for none; `adapters`: none, their models are paths. `nCtx` is rounded up by the engine, see `Context.effective.nCtx` */
export type ContextOptions = Pick<ContextSettings, 'nCtx' | 'flashAttention' | 'threads' | 'batch'> &
  Partial<Pick<ContextSettings, 'rope' | 'recentTokens' | 'speculation' | 'draftModel' | 'projector' | 'adapters'>> &
  CoreOptions & {
    /** any type name of `Capabilities.cacheTypes` */
    typeK: string;
    typeV: string;
  };

/** Of a call that takes long. */
export interface Progress {
  /** 0..1 */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
}

/** How the layers of a model are spread over workers, GPUs and RAM (native/addon/model/Spread.h). */
export interface Spread {
  /** the last ones, on workers and GPUs; -1: all, but a machine without a GPU keeps a share of what workers take */
  gpuLayers: number;
  /** layers, from the first on, whose experts stay in RAM; left out: none */
  expertsInRam?: number;
  /** of each device: workers, then GPUs; left out or empty: by what workers have free, or as upstream chooses */
  shares?: number[];
  /** weights that lie elsewhere than their layer: a pattern of their names, and the name of a device, '' for RAM */
  overrides?: { pattern: string; device: string }[];
  /** devices of other machines, which take layers, too; they were greeted before */
  workers?: WorkerDevice[] | undefined;
  /** it is of `Engine.fit`: what was asked for is all layers */
  found?: boolean;
}

/** A spread that was found so that it fits, and what it comes to. */
export interface Found {
  spread: Spread;
  placement: Placement;
}

/** What a GPU or a worker may hold of a model and its context. */
export interface DeviceRoom {
  /** of `Engine.memories`, or of the worker */
  device: string;
  bytes: number;
}

export interface LoadOptions extends Progress, Spread {
  /** with the layers that draft, where the file has some; left out: without */
  mtp?: boolean;
}

export interface CalibrateOptions extends Progress, Pick<ContextOptions, 'rope' | 'threads'> {
  text: string;
  /** how much of the text is read */
  maxTokens: number;
  /** depth of the contexts it is meant for, and what `rope` scales to; 0: as many as the model was trained for */
  positions: number;
  /** positions of K that are centered alike, a power of two up to 32; left out: as the model allows */
  block?: number;
}

export type ChatMessage = PromptMessage;

/** What decides a prompt beside its messages; `now` left out: the clock. `continueFrom`: with the very tokens of it when it was the last answer; not with a grammar. */
export type PromptOptions = Partial<PromptSettings>;

export interface GenerateOptions extends PromptOptions {
  /** `thinkingBudget`: tokens of thinking, then its end is forced; left out: no limit. The rest left out: off */
  sampling: Pick<SamplingSettings, 'temperature' | 'topK' | 'topP' | 'minP' | 'repeatPenalty'> &
    Partial<Omit<SamplingSettings, 'maxTokens' | 'stop'>> & { seed: number; thinkingBudget?: number };
  /** JSON schema as text, or a GBNF grammar; at most one of the two */
  jsonSchema?: string;
  grammar?: string;
  stop: string[];
  /** 0: until the context is full */
  maxTokens: number;
  signal?: AbortSignal;
  /** likeliest tokens that each chunk brings; default 0: none, at no cost */
  candidates?: number;
  /** no mark of the end is chosen: for measuring a number of steps */
  ignoreEnd?: boolean;
  /** of the chat, where the context drafts tokens; left out: nothing is measured yet */
  trial?: DraftTrial;
  /** after each micro-batch of the prefill */
  onPrefill?: (progress: PrefillProgress) => void;
}

export const prefillProgressSchema = z.object({
  promptTokens: z.number().int(),
  cachedTokens: z.number().int(),
  /** evaluated so far, cached ones apart */
  done: z.number().int(),
  elapsedMs: z.number(),
});
export type PrefillProgress = z.infer<typeof prefillProgressSchema>;

const tokenProbabilitySchema = z.object({
  token: z.number().int(),
  /** of the softmax over the whole vocabulary */
  probability: z.number(),
});
export type TokenProbability = z.infer<typeof tokenProbabilitySchema>;

/**
 * Tokens of a chat with drafts and without them, and their time: whether drafting pays. Given to the chat's next answer, the
 * measurement goes on there; after 200 and 64 tokens the faster way is kept.
 */
export const draftTrialSchema = z.object({
  withTokens: z.number().int(),
  withoutTokens: z.number().int(),
  withMs: z.number(),
  withoutMs: z.number(),
});
export type DraftTrial = z.infer<typeof draftTrialSchema>;

/** What one decode step added. Text holds whole characters only; a step inside a character or a possible stop string adds none. */
export const generateChunkSchema = z.object({
  text: z.string(),
  thinking: z.string(),
  /** answer tokens so far */
  answerTokens: z.number().int(),
  /** tokens in the KV cache */
  contextUsed: z.number().int(),
  /** from the call to the choice of the last token */
  elapsedMs: z.number(),
  /** chosen in this step; null where the chunk brings only text that was held back. The last one may end the answer */
  token: z.number().int().nullable(),
  /** likeliest first; what the model says, before temperature, penalties and grammar */
  candidates: z.array(tokenProbabilitySchema),
  drafts: draftsSchema,
});
export type GenerateChunk = z.infer<typeof generateChunkSchema>;

export const generateResultSchema = z.object({
  stopReason: stopReasonSchema.exclude(['interrupted', 'error', 'tool-rounds']),
  /** what is new, when an answer was continued */
  text: z.string(),
  thinking: z.string(),
  toolCalls: z.array(promptCallSchema),
  promptTokens: z.number().int(),
  cachedTokens: z.number().int(),
  /** were in the cache, but had to be read again: the model cannot go back to them */
  rereadTokens: z.number().int(),
  answerTokens: z.number().int(),
  /** from the call to the first token */
  ttftMs: z.number(),
  promptMs: z.number(),
  /** from the first token to the last one */
  decodeMs: z.number(),
  /** tokens after the first one, the mark of the end included: what `decodeMs` was spent on */
  decodeTokens: z.number().int(),
  /** llama.cpp's own count and clock of this answer (`llama_perf_context`): evaluating only */
  upstream: z.object({
    promptMs: z.number(),
    promptTokens: z.number().int(),
    decodeMs: z.number(),
    decodeTokens: z.number().int(),
  }),
  contextUsed: z.number().int(),
  seed: z.number().int(),
  drafts: draftsSchema,
  trial: draftTrialSchema,
});
export type GenerateResult = z.infer<typeof generateResultSchema>;

export interface CompareOptions extends Progress {
  /** tokens of a chunk; default: as long as the shortest of the contexts */
  chunk?: number;
}

export interface FileEvaluation extends CompareOptions {
  /** at most so many tokens at the end of each chunk count; default: its second half */
  score?: number;
}

/** KL figures are null without a reference. */
export const comparisonSchema = z.object({
  /** this context, the reference; its KL figures are null */
  reference: qualitySchema,
  /** in the order of the contexts */
  results: z.array(qualitySchema),
  /** KL divergence of each scored token, in nats, in the order of the text; for what two contexts differ by, token by token */
  klds: z.array(z.instanceof(Float32Array)),
});
export type Comparison = z.infer<typeof comparisonSchema>;

export interface ApiResponse {
  done: Promise<void>;
  /** bytes (UTF-8) of parts that have gone on their way */
  taken(bytes: number): void;
}

/** of `tokens()`, `to` not included */
export interface Stretch {
  from: number;
  to: number;
}

export interface Context {
  readonly effective: EffectiveContext;
  /** tokens in the KV cache */
  readonly contextUsed: number;
  /**
   * Writes an answer to a chat (through the model's template) or continues raw tokens. The longest common prefix with what is
   * in the cache is kept. One call at a time; a second one rejects with code `busy`.
   */
  generate(
    prompt: ChatMessage[] | Int32Array,
    options: GenerateOptions,
  ): AsyncGenerator<GenerateChunk, GenerateResult, void>;
  /**
   * A request of the API through a handler of llama-server, any number at a time. Parts come in order; with more than 256 KiB
   * (UTF-8) of them not taken, no more are made. `done` resolves when the response is complete, and soon after the signal.
   */
  respond(request: ApiRequest, onParts: (parts: ApiPart[]) => void, signal?: AbortSignal): ApiResponse;
  /** log-probabilities stay inside: pass another context of the same model as reference for KL divergence */
  evaluate(tokens: Int32Array, reference?: Context, signal?: AbortSignal): Promise<Quality>;
  /** evaluates several contexts of the same model with this one as the reference, which runs once for all */
  compare(contexts: Context[], tokens: Int32Array, options?: CompareOptions): Promise<Comparison>;
  /**
   * Evaluates this context and writes the log-probabilities of the scored tokens to a file: 4 bytes for each token of the
   * vocabulary and each scored one. Code `storage-failed`.
   */
  recordEvaluation(tokens: Int32Array, path: string, options?: FileEvaluation): Promise<Quality>;
  /** with such a file as the reference: the same tokens and options, the same model. Code `data-corrupt` */
  evaluateAgainst(tokens: Int32Array, path: string, options?: FileEvaluation): Promise<Quality>;
  /** of the prompt that `generate` would evaluate for these messages; each cell of an image or sound is a number below -1 */
  chatTokens(messages: ChatMessage[], options?: PromptOptions): Promise<Int32Array>;
  /** cells of an image or sound, with what the model has around it. Code `bad-request`: it cannot be read here */
  countMedia(path: string): Promise<number>;
  /** the tokens in the KV cache, as in `chatTokens`; code `busy` during an answer */
  tokens(): Int32Array;
  /** any number of its last tokens can be forgotten; else a prompt that does not continue them all goes on from a checkpoint */
  readonly rewinds: boolean;
  /** lengths of `tokens()` to which a cache that does not rewind can go back, the shortest first; code `busy` during an answer */
  checkpoints(): Int32Array;
  /** what a session must agree in to be restored here: one "name value" a line */
  readonly sessionLabel: string;
  /** a stretch of its tokens can be saved, and restored behind others */
  readonly sharesCells: boolean;
  /** KV cache and its tokens to a file, or a stretch of them; bytes written. Code `cancelled`: there is no file */
  saveSession(path: string, signal?: AbortSignal, stretch?: Stretch): Promise<number>;
  /**
   * Refuses (code `data-corrupt`) a file of another model, cache type or build; tokens restored. `from`: of a stretch, as many
   * tokens as the context has, behind which it goes. Code `cancelled`: the context is as it was, empty, or without the stretch.
   */
  loadSession(path: string, signal?: AbortSignal, from?: number): Promise<number>;
  clear(): void;
  memory(): MemoryUse;
  /** idempotent */
  dispose(): Promise<void>;
}

export interface Model {
  readonly info: ModelInfo;
  /** hexadecimal; the same for the same file */
  readonly fingerprint: string;
  /** hash of the texts of its tokens in their order: models in which it is the same have their tokens in common */
  readonly vocabulary: string;
  /** a context of these options would be centered if the model had been calibrated */
  wantsCalibration(options: ContextOptions): boolean;
  /**
   * Measures the model for centered turbo caches: one prefill of the text. The bytes are for `attachCalibration`, now or
   * after a later load of the same file. Waits until no context is being made.
   */
  calibrate(options: CalibrateOptions): Promise<Uint8Array>;
  /** contexts made from now on are centered where they can be; null: not. Code `data-corrupt`: damaged, or of another model */
  attachCalibration(bytes: Uint8Array | null): void;
  createContext(options: ContextOptions): Promise<Context>;
  tokenize(text: string, options?: { addSpecial?: boolean; parseSpecial?: boolean }): Int32Array;
  detokenize(tokens: Int32Array): string;
  /**
   * No token holds a line break and, right behind it, an ASCII letter, a digit or '[': a text that is cut there has as
   * many tokens as its pieces. Looks through the whole vocabulary.
   */
  splitsAtLines(): Promise<boolean>;
  /** tokens of each text alone; marks of special tokens are read as such */
  countTexts(texts: string[]): Promise<Int32Array>;
  /** stands in `renderChat`'s prompt for an image or sound */
  readonly mediaMarker: string;
  /** the prompt that `generate` would evaluate for these messages */
  renderChat(messages: ChatMessage[], options?: PromptOptions): Promise<string>;
  /** its tokens; refuses images and sound, which only a context can read */
  chatTokens(messages: ChatMessage[], options?: PromptOptions): Promise<Int32Array>;
  /** disposes its contexts first; idempotent */
  dispose(): Promise<void>;
}

export interface Engine {
  /**
   * Compares the kernels that the GPU may run with the CPU, once per GPU, system and build: the outcome is kept in the
   * folder ('': nowhere). What is wrong is not used and shows in `capabilities().warnings`. Call it before anything else.
   */
  selfTest(folder: string): Promise<void>;
  capabilities(): Capabilities;
  /**
   * Bytes per second of a sequential read by 1, 2, 4, ... and all physical cores, under three seconds in all. bytes: of the
   * buffer, which should be far above the caches. Code `cancelled`.
   */
  probeBandwidth(bytes: number, options: Progress): Promise<Bandwidth[]>;
  /** reads the header only. Codes: `model-missing`, `model-invalid` (truncated or not GGUF) */
  inspect(path: string): Promise<ModelInfo>;
  /** RAM first, then the GPUs */
  memories(): DeviceMemory[];
  /** what `loadModel` and `createContext` would allocate; reaches no worker */
  estimate(path: string, spread: Spread, options: ContextOptions): Promise<MemoryPlan>;
  /**
   * The spread with which no device holds more than its room, RAM apart; of `spread` only the workers matter. Takes seconds where
   * the vocabulary is large. Code `cancelled`.
   */
  fit(path: string, spread: Spread, options: ContextOptions, rooms: DeviceRoom[], signal?: AbortSignal): Promise<Found>;
  /** Codes: `model-missing`, `model-invalid`, `model-unsupported`, `out-of-memory`, `worker-lost`, `cancelled` */
  loadModel(path: string, options: LoadOptions): Promise<Model>;
  /** llama.cpp's log lines, level warn and above; one listener */
  onLog(listener: (level: 'warn' | 'error', text: string) => void): void;
}

/** This machine's devices for models of other machines. */
export interface DeviceServer extends Pick<Engine, 'capabilities' | 'memories'> {
  /** its GPUs, or without any its CPU */
  servedDevices(): ServedDevice[];
  /** Serves them over upstream's RPC on a port of the loopback interface, until the process ends: also where the port cannot be had. */
  serveWorker(port: number, threads: number): void;
  /** `operation`: as native/addon/workers/Operation.h writes it */
  servedComputes(device: number, operation: string): boolean;
}
