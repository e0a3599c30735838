/** The `.node` as it is (native/addon/addon.cpp). Only this folder sees it; everyone else uses `types.ts`. */
import type { Quality } from '../../contract/compare/figures';
import type { Capabilities } from '../../contract/engine';
import type { ApiPart, ApiRequest } from '../../contract/engineContract';
import type { Bandwidth } from '../../contract/machine';
import type { PromptCall } from '../../contract/tools/tools';
import type {
  ApiResponse,
  CalibrateOptions,
  Comparison,
  Context,
  ContextOptions,
  DeviceRoom,
  DeviceServer,
  Engine,
  GenerateResult,
  MemoryPlan,
  Model,
  Spread,
} from './types';

export interface RawCancellation {
  cancel(): void;
}

/** `klds`: of each scored token, in nats */
export type RawEvaluation = Quality & { klds: Comparison['klds'][number] };

/** chunk left out: as long as the contexts; files of log-probabilities that are written, or stand in for a reference */
export interface EvaluationOptions {
  chunk?: number | undefined;
  score?: number | undefined;
  record?: string;
  against?: string;
}

/** Of each file that a context may load beside its model the path, or why it may not be loaded; empty: none. */
export interface OtherFiles {
  draft: string;
  projector: string;
  adapters: string[];
}

interface CellBytes {
  state: number;
  checkpoints: number;
}

type OnProgress = (fractions: number[]) => void;

/** `result`: a line of the stream of POST /completion; `elapsedMs`: from the call to the choice of its token; `end`: a mark of the end */
export interface RawCompletionStep {
  result: string;
  elapsedMs: number;
  end: boolean;
}

/** Of the options it reads what is data. */
export interface RawContext
  extends Pick<
    Context,
    'effective' | 'contextUsed' | 'rewinds' | 'sharesCells' | 'checkpoints' | 'tokens' | 'clear' | 'memory' | 'dispose'
  > {
  /**
   * Tokens of a prompt that has `mediaMarker` for each file, see `Context.chatTokens`. `keep`: for `complete`, which can be given
   * them, and others behind them. Without it, it may run beside a job.
   */
  readMedia(prompt: string, files: Uint8Array[], keep: boolean): Promise<Int32Array>;
  /** `params`: JSON of llama-server's POST /completion; `draft`: whether tokens are drafted from the first one on */
  complete(
    tokens: Int32Array,
    params: string,
    draft: boolean,
    onSteps: (steps: RawCompletionStep[]) => void,
    cancellation: RawCancellation,
  ): Promise<{ kept: number; upstream: GenerateResult['upstream'] }>;
  /** during `complete`: how many tokens of the answer were written before; -1: not now */
  speculate(on: boolean): Promise<number>;
  respond(request: ApiRequest, onParts: (parts: ApiPart[]) => void, cancellation: RawCancellation): ApiResponse;
  /** of these contexts with this one as their reference, whose figures come last; without any, of this one */
  evaluate(
    tokens: Int32Array,
    contexts: RawContext[],
    options: EvaluationOptions,
    onProgress: OnProgress,
    cancellation: RawCancellation,
  ): Promise<RawEvaluation[]>;
  /** hexadecimal, of the measurements that cells are centered with; 0: none */
  readonly centringHash: string;
  /** bytes of two parts, one behind the other; see native/addon/context/Session.h for both */
  saveCells(path: string, from: number, to: number, cancellation: RawCancellation): Promise<CellBytes>;
  restoreCells(path: string, parts: CellBytes, from: number, cancellation: RawCancellation): Promise<number>;
}

export interface RawModel
  extends Pick<Model, 'fingerprint' | 'wantsCalibration' | 'detokenize' | 'splitsAtLines' | 'countTexts' | 'dispose'> {
  calibrate(options: CalibrateOptions, onProgress: OnProgress, cancellation: RawCancellation): Promise<Uint8Array>;
  attachCalibration(bytes: Uint8Array): void;
  /** `problems`: why each of `otherFiles` may not be read */
  createContext(options: ContextOptions, problems: OtherFiles): Promise<RawContext>;
  /** `body`: JSON of POST /v1/chat/completions, and `now`; the parameters of its completion, with `prompt` */
  renderChat(body: string, cancellation: RawCancellation): Promise<string>;
  /** the same without `prompt`, and its tokens */
  chatTokens(body: string, cancellation: RawCancellation): Promise<{ params: string; tokens: Int32Array }>;
  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean): Int32Array;
}

/** the rest is made of them and of what Node knows */
type Derived = 'backend' | 'device' | 'chipFamily' | 'kernelVariant' | 'totalMemoryBytes';

/** What llama.cpp's loader takes. It ends the process over some of what it does not take: see inspect.ts. */
interface ModelLimits {
  /** by ggml's id; a block of 0 values: files with this type are not read any more */
  types: { name: string; blockSize: number; blockBytes: number }[];
  maxLayers: number;
  maxExperts: number;
}

export interface RawAddon
  extends Pick<Engine, 'selfTest' | 'memories'>,
    Omit<DeviceServer, 'capabilities' | 'memories'> {
  Cancellation: new () => RawCancellation;
  readonly modelLimits: ModelLimits;
  /** "Q4_K - Medium"; `fileType`: `general.file_type` of a header */
  fileTypeName(fileType: number): string;
  /** stands in a prompt for an image or sound; another one in each process */
  readonly mediaMarker: string;
  /** what such a context would load beside its model */
  otherFiles(options: ContextOptions): OtherFiles;
  /** `problems`: as in `createContext` */
  estimate(path: string, spread: Spread, options: ContextOptions, problems: OtherFiles): Promise<MemoryPlan>;
  fit(
    path: string,
    spread: Spread,
    options: ContextOptions,
    problems: OtherFiles,
    rooms: DeviceRoom[],
    cancellation: RawCancellation,
  ): Promise<Required<Spread>>;
  /** `cpu`: its name; `chipFamily`: empty where there is none */
  capabilities(): Omit<Capabilities, Derived> & { cpu: string; chipFamily: string };
  /** "name value" lines of a session's label: llama.cpp and the code of the cache types */
  readonly cellsMadeBy: string;
  /** hexadecimal, 64 bits, of the first `bytes` of a file; 0: they cannot be read */
  checksum(path: string, bytes: number, cancellation: RawCancellation): Promise<string>;
  probeBandwidth(bytes: number, onProgress: OnProgress, cancellation: RawCancellation): Promise<Bandwidth[]>;
  loadModel(
    path: string,
    spread: Spread,
    onProgress: OnProgress,
    cancellation: RawCancellation,
    mtp?: boolean,
  ): Promise<RawModel>;
  setLogListener(
    listener: (level: 'info' | 'warn' | 'error', text: string) => void,
    minimum: 'info' | 'warn' | 'error',
  ): void;
  /** `renderChat` of a template (Jinja) that no model has */
  applyTemplate(template: string, body: string): string;
  /** what an answer so far shows; `params`: JSON of what `renderChat` says of the parser. Throws when it does not follow the template */
  parseAnswer(
    params: string,
    text: string,
    partial: boolean,
  ): { text: string; thinking: string; toolCalls: PromptCall[] };
}
