/** The `.node` as it is (native/addon/addon.cpp). Only this folder sees it; everyone else uses `types.ts`. */
import type { Capabilities, EffectiveContext } from '../../contract/engine';
import type { Bandwidth } from '../../contract/machine';
import type { ModelInfo } from '../../contract/models';
import type {
  AnswerSoFar,
  CalibrateOptions,
  ChatMessage,
  Comparison,
  ContextOptions,
  DeviceMemory,
  DeviceUse,
  EvaluateResult,
  GenerateChunk,
  GenerateOptions,
  GenerateResult,
  MemoryPlan,
  PartMemory,
  PrefillProgress,
} from './types';

export interface RawCancellation {
  cancel(): void;
}

export interface RawContext {
  readonly effective: EffectiveContext;
  readonly contextUsed: number;
  memory(): PartMemory;
  devices(): DeviceUse[];
  clear(): void;
  generate(
    prompt: ChatMessage[] | Int32Array,
    options: Omit<GenerateOptions, 'signal' | 'onPrefill'>,
    onChunks: (chunks: GenerateChunk[]) => void,
    onPrefill: (progress: PrefillProgress[]) => void,
    cancellation: RawCancellation,
  ): Promise<GenerateResult>;
  evaluate(tokens: Int32Array, reference: RawContext | null, cancellation: RawCancellation): Promise<EvaluateResult>;
  /** this context is the reference; chunk 0: as long as the contexts */
  compare(
    contexts: RawContext[],
    tokens: Int32Array,
    chunk: number,
    onProgress: (fractions: number[]) => void,
    cancellation: RawCancellation,
  ): Promise<Comparison>;
  /** chunk 0: as long as the context; score 0: the second half of each chunk */
  evaluateFile(
    tokens: Int32Array,
    options: { chunk: number; score: number; record?: string; against?: string },
    onProgress: (fractions: number[]) => void,
    cancellation: RawCancellation,
  ): Promise<EvaluateResult>;
  readonly rewinds: boolean;
  readonly sessionLabel: string;
  tokens(): Int32Array;
  saveSession(path: string, cancellation: RawCancellation): Promise<number>;
  loadSession(path: string, cancellation: RawCancellation): Promise<number>;
  dispose(): Promise<void>;
}

export interface RawModel {
  readonly info: ModelInfo;
  /** hexadecimal; identifies a model file */
  readonly fingerprint: string;
  calibrate(
    options: Omit<CalibrateOptions, 'signal' | 'onProgress'>,
    onProgress: (fractions: number[]) => void,
    cancellation: RawCancellation,
  ): Promise<Uint8Array>;
  wantsCalibration(options: ContextOptions): boolean;
  attachCalibration(bytes: Uint8Array): void;
  createContext(options: ContextOptions): Promise<RawContext>;
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean): Int32Array;
  detokenize(tokens: Int32Array): string;
  splitsAtLines(): Promise<boolean>;
  countTexts(texts: string[]): Promise<Int32Array>;
  renderChat(messages: ChatMessage[], now?: number, continueFrom?: AnswerSoFar): Promise<string>;
  chatTokens(messages: ChatMessage[], now?: number, continueFrom?: AnswerSoFar): Promise<Int32Array>;
  dispose(): Promise<void>;
}

export interface RawAddon {
  Cancellation: new () => RawCancellation;
  capabilities(): Capabilities;
  selfTest(folder: string): Promise<void>;
  probeBandwidth(
    bytes: number,
    onProgress: (fractions: number[]) => void,
    cancellation: RawCancellation,
  ): Promise<Bandwidth[]>;
  memories(): DeviceMemory[];
  inspect(path: string): Promise<ModelInfo>;
  estimate(path: string, gpuLayers: number, options: ContextOptions): Promise<MemoryPlan>;
  loadModel(
    path: string,
    gpuLayers: number,
    onProgress: (fractions: number[]) => void,
    cancellation: RawCancellation,
  ): Promise<RawModel>;
  setLogListener(
    listener: (level: 'info' | 'warn' | 'error', text: string) => void,
    minimum: 'info' | 'warn' | 'error',
  ): void;
  /** how an answer that arrives in these pieces is shown; `template`: Jinja, or '' for none */
  splitAnswer(
    template: string,
    messages: ChatMessage[],
    pieces: Uint8Array[],
    stops: string[],
    now?: number,
    continueFrom?: AnswerSoFar,
  ): { prompt: string; chunks: GenerateChunk[]; stopped: boolean };
}
