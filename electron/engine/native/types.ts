/**
 * The one description of the native surface. `loadEngine` (engine.ts) returns an object of this shape;
 * `native/addon` implements it. Units: bytes, milliseconds, tokens. Nothing here blocks the calling thread for long:
 * every call that computes runs on a worker and takes an AbortSignal.
 */
import type { Capabilities, EffectiveContext, Memory, MemoryEstimate } from '../../contract/engine';
import type { Bandwidth } from '../../contract/machine';
import type { ModelInfo } from '../../contract/models';
import type { RopeChoice } from '../../contract/settings';

/** Memory of a model and a context by part; the caller adds what only the process knows (`process`, `total`, `free`). */
export type PartMemory = Pick<Memory, 'weights' | 'kvK' | 'kvV' | 'kvF16' | 'compute'>;

/** `unified`: a GPU that works in the machine's own memory. */
export type DeviceKind = 'ram' | 'unified' | 'gpu';

/** One memory as its driver or the system reports it now; bytes. */
export interface DeviceMemory {
  name: string;
  kind: DeviceKind;
  /** of RAM: without paging others out; where the platform does not report it, what Node's os.freemem() says is right */
  free: number | null;
  /** 0: not known */
  total: number;
}

/** What a model and a context take of one memory; bytes. */
export interface DeviceUse {
  name: string;
  kind: DeviceKind;
  weights: number;
  /** of the weights: pages of the model file, which the system takes back when it needs them; 0 in a dry run */
  mapped: number;
  /** KV cache and recurrent state */
  context: number;
  compute: number;
}

/** A dry run: the parts, and the same bytes by device. */
export interface MemoryPlan extends MemoryEstimate {
  /** cells as the engine would make them: rounded up, or cut */
  nCtx: number;
  /** tokens that the model was trained for; 0: its file does not say */
  trained: number;
  devices: DeviceUse[];
}

export interface ContextOptions {
  /** cells of the KV cache; rounded up by the engine, see `Context.effective.nCtx` */
  nCtx: number;
  /** any type name of `Capabilities.cacheTypes` */
  typeK: string;
  typeV: string;
  flashAttention: 'auto' | 'on' | 'off';
  /** 0: physical cores */
  threads: number;
  /** micro-batch of the prefill in tokens */
  batch: number;
  /** how positions beyond the trained length are made; default 'model': the context is cut to that length */
  rope?: RopeChoice;
}

export interface ProbeOptions {
  /** 0..1 */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
}

export interface LoadOptions {
  /** layers on the GPU; -1: as many as fit */
  gpuLayers: number;
  /** 0..1 */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
}

export interface CalibrateOptions {
  text: string;
  /** how much of the text is read */
  maxTokens: number;
  /** depth of the contexts it is meant for; 0: as many as the model was trained for */
  positions: number;
  /** of those contexts; scaled as for one of `positions` */
  rope?: RopeChoice;
  /** 0: physical cores */
  threads: number;
  /** 0..1 */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
}

export interface Sampling {
  temperature: number;
  topK: number;
  topP: number;
  minP: number;
  repeatPenalty: number;
  seed: number;
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** An answer that was stopped, as it was shown. */
export interface AnswerSoFar {
  text: string;
  thinking: string;
}

/** What decides a prompt beside its messages. */
export interface PromptOptions {
  /** milliseconds since 1970 that a template gives the model as the time; default: the clock */
  now?: number;
  /** the answer goes on behind this, in the same turn; with the very tokens of it when it was the last one; not with a grammar */
  continueFrom?: AnswerSoFar;
}

export interface GenerateOptions extends PromptOptions {
  sampling: Sampling;
  /** JSON schema as text, or a GBNF grammar; at most one of the two */
  jsonSchema?: string;
  grammar?: string;
  stop: string[];
  /** 0: until the context is full */
  maxTokens: number;
  signal?: AbortSignal;
  /** likeliest tokens that each chunk brings; default 0: none, at no cost */
  candidates?: number;
  /** a mark of the end is a token like any other: for measuring a number of steps */
  ignoreEnd?: boolean;
  /** after each micro-batch of the prefill */
  onPrefill?: (progress: PrefillProgress) => void;
}

export interface PrefillProgress {
  promptTokens: number;
  cachedTokens: number;
  /** evaluated so far, cached ones apart */
  done: number;
  elapsedMs: number;
}

/** What one decode step added. Text holds whole characters only; a step inside a character or a possible stop string adds none. */
export interface GenerateChunk {
  text: string;
  thinking: string;
  /** answer tokens so far */
  answerTokens: number;
  /** tokens in the KV cache */
  contextUsed: number;
  /** from the call to the choice of the last token */
  elapsedMs: number;
  /** chosen in this step; left out where the chunk brings only text that was held back. The last one may end the answer */
  token?: number;
  /** likeliest first; what the model says, before temperature, penalties and grammar */
  candidates?: TokenProbability[];
}

export interface TokenProbability {
  token: number;
  /** of the softmax over the whole vocabulary */
  probability: number;
}

/** llama.cpp's own count and clock of one answer (`llama_perf_context`): evaluating only. */
export interface UpstreamTimings {
  promptMs: number;
  promptTokens: number;
  decodeMs: number;
  decodeTokens: number;
}

export interface GenerateResult {
  stopReason: 'end-of-turn' | 'stop-string' | 'max-tokens' | 'context-full' | 'cancelled';
  /** what is new, when an answer was continued */
  text: string;
  thinking: string;
  promptTokens: number;
  cachedTokens: number;
  /** were in the cache, but had to be read again: the model cannot go back to them */
  rereadTokens: number;
  answerTokens: number;
  /** from the call to the first token */
  ttftMs: number;
  promptMs: number;
  /** from the first token to the last one */
  decodeMs: number;
  /** tokens after the first one, the mark of the end included: what `decodeMs` was spent on */
  decodeTokens: number;
  /** of `decodeMs`: evaluating, by our clock; the rest is choosing tokens and making text of them */
  evalMs: number;
  upstream: UpstreamTimings;
  contextUsed: number;
  seed: number;
}

/** Figures of teacher-forced evaluation; KL figures are null without a reference. */
export interface EvaluateResult {
  tokens: number;
  perplexity: number;
  meanKld: number | null;
  /** standard error of the mean, tokens taken as independent */
  meanKldError: number | null;
  kld999: number | null;
  sameTop: number | null;
}

export interface CompareOptions {
  /** tokens of a chunk; default: as long as the shortest of the contexts */
  chunk?: number;
  /** 0..1 */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
}

export interface FileEvaluation extends CompareOptions {
  /** at most so many tokens at the end of each chunk count; default: its second half */
  score?: number;
}

export interface Comparison {
  /** this context, the reference; its KL figures are null */
  reference: EvaluateResult;
  /** in the order of the contexts */
  results: EvaluateResult[];
  /** KL divergence of each scored token, in nats, in the order of the text; for what two contexts differ by, token by token */
  klds: Float32Array[];
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
  /** log-probabilities stay inside: pass another context of the same model as reference for KL divergence */
  evaluate(tokens: Int32Array, reference?: Context, signal?: AbortSignal): Promise<EvaluateResult>;
  /** evaluates several contexts of the same model with this one as the reference, which runs once for all */
  compare(contexts: Context[], tokens: Int32Array, options?: CompareOptions): Promise<Comparison>;
  /**
   * Evaluates this context and writes the log-probabilities of the scored tokens to a file: 4 bytes for each token of the
   * vocabulary and each scored one. Code `storage-failed`.
   */
  recordEvaluation(tokens: Int32Array, path: string, options?: FileEvaluation): Promise<EvaluateResult>;
  /** with such a file as the reference: the same tokens and options, the same model. Code `data-corrupt` */
  evaluateAgainst(tokens: Int32Array, path: string, options?: FileEvaluation): Promise<EvaluateResult>;
  /** the tokens in the KV cache; code `busy` during an answer */
  tokens(): Int32Array;
  /** any number of its last tokens can be forgotten; else a prompt that does not continue them all is read from its start */
  readonly rewinds: boolean;
  /** what a session must agree in to be restored here: one "name value" a line */
  readonly sessionLabel: string;
  /** KV cache and its tokens to a file; bytes written. Code `cancelled`: there is no file */
  saveSession(path: string, signal?: AbortSignal): Promise<number>;
  /**
   * Refuses (code `data-corrupt`) a file of another model, cache type or build; tokens restored. Code `cancelled`: the
   * context is as it was, or empty.
   */
  loadSession(path: string, signal?: AbortSignal): Promise<number>;
  clear(): void;
  memory(): PartMemory;
  /** the same bytes by device */
  devices(): DeviceUse[];
  /** idempotent */
  dispose(): Promise<void>;
}

export interface Model {
  readonly info: ModelInfo;
  /** hexadecimal; the same for the same file */
  readonly fingerprint: string;
  /** a context of these options would be centred if the model had been calibrated */
  wantsCalibration(options: ContextOptions): boolean;
  /**
   * Measures the model for centred turbo caches: one prefill of the text. The bytes are for `attachCalibration`, now or
   * after a later load of the same file. Waits until no context is being made.
   */
  calibrate(options: CalibrateOptions): Promise<Uint8Array>;
  /** contexts made from now on are centred where they can be; null: not. Code `data-corrupt`: damaged, or of another model */
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
  /** the prompt that `generate` would evaluate for these messages */
  renderChat(messages: ChatMessage[], options?: PromptOptions): Promise<string>;
  /** its tokens */
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
  probeBandwidth(bytes: number, options: ProbeOptions): Promise<Bandwidth[]>;
  /** reads the header only. Codes: `model-missing`, `model-invalid` (truncated or not GGUF) */
  inspect(path: string): Promise<ModelInfo>;
  /** RAM first, then the GPUs */
  memories(): DeviceMemory[];
  /** what `loadModel` and `createContext` would allocate */
  estimate(path: string, gpuLayers: number, options: ContextOptions): Promise<MemoryPlan>;
  /** Codes: `model-missing`, `model-invalid`, `model-unsupported`, `out-of-memory`, `cancelled` */
  loadModel(path: string, options: LoadOptions): Promise<Model>;
  /** llama.cpp's log lines, level warn and above; one listener */
  onLog(listener: (level: 'warn' | 'error', text: string) => void): void;
}
