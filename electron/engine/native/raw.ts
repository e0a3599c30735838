/** The `.node` as it is (native/addon/addon.cpp). Only this folder sees it; everyone else uses `types.ts`. */
import type { Quality } from '../../contract/compareFigures';
import type { ApiPart, ApiRequest } from '../../contract/engineContract';
import type { Bandwidth } from '../../contract/machine';
import type {
  ApiResponse,
  CalibrateOptions,
  ChatMessage,
  Comparison,
  Context,
  ContextOptions,
  Engine,
  GenerateChunk,
  GenerateOptions,
  GenerateResult,
  Model,
  PrefillProgress,
  PromptOptions,
} from './types';

export interface RawCancellation {
  cancel(): void;
}

type OnProgress = (fractions: number[]) => void;

/** Of the options it reads what is data. */
export interface RawContext
  extends Pick<
    Context,
    | 'effective'
    | 'contextUsed'
    | 'rewinds'
    | 'checkpoints'
    | 'sessionLabel'
    | 'tokens'
    | 'clear'
    | 'memory'
    | 'devices'
    | 'dispose'
  > {
  generate(
    prompt: ChatMessage[] | Int32Array,
    options: GenerateOptions,
    onChunks: (chunks: GenerateChunk[]) => void,
    onPrefill: (progress: PrefillProgress[]) => void,
    cancellation: RawCancellation,
  ): Promise<GenerateResult>;
  respond(request: ApiRequest, onParts: (parts: ApiPart[]) => void, cancellation: RawCancellation): ApiResponse;
  evaluate(tokens: Int32Array, reference: RawContext | null, cancellation: RawCancellation): Promise<Quality>;
  /** this context is the reference; chunk 0: as long as the contexts */
  compare(
    contexts: RawContext[],
    tokens: Int32Array,
    chunk: number,
    onProgress: OnProgress,
    cancellation: RawCancellation,
  ): Promise<Comparison>;
  evaluateFile(
    tokens: Int32Array,
    options: { chunk?: number; score?: number; record?: string; against?: string },
    onProgress: OnProgress,
    cancellation: RawCancellation,
  ): Promise<Quality>;
  saveSession(path: string, cancellation: RawCancellation): Promise<number>;
  loadSession(path: string, cancellation: RawCancellation): Promise<number>;
}

export interface RawModel
  extends Pick<
    Model,
    | 'info'
    | 'fingerprint'
    | 'wantsCalibration'
    | 'detokenize'
    | 'splitsAtLines'
    | 'countTexts'
    | 'renderChat'
    | 'chatTokens'
    | 'dispose'
  > {
  calibrate(options: CalibrateOptions, onProgress: OnProgress, cancellation: RawCancellation): Promise<Uint8Array>;
  attachCalibration(bytes: Uint8Array): void;
  createContext(options: ContextOptions): Promise<RawContext>;
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean): Int32Array;
}

export interface RawAddon extends Pick<Engine, 'capabilities' | 'selfTest' | 'memories' | 'inspect' | 'estimate'> {
  Cancellation: new () => RawCancellation;
  probeBandwidth(bytes: number, onProgress: OnProgress, cancellation: RawCancellation): Promise<Bandwidth[]>;
  loadModel(path: string, gpuLayers: number, onProgress: OnProgress, cancellation: RawCancellation): Promise<RawModel>;
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
    options?: PromptOptions,
  ): { prompt: string; chunks: GenerateChunk[]; stopped: boolean };
}
