import type { Capabilities } from '../../../electron/contract/engine';
import type { ModelInfo } from '../../../electron/contract/models';
import type { ByDepth, Figures, Row } from './measure.mjs';
import type { Settings } from './options.mjs';

export interface Measured {
  rows: Row[];
  depths: { depth: number; chunks: number; tokens: number }[];
  command: string;
  settings: Pick<Settings, 'text' | 'documents' | 'quick'>;
  model: Pick<ModelInfo, 'name' | 'fileBytes' | 'quantization'> & { file: string };
  engine: Pick<Capabilities, 'upstream' | 'simd' | 'kernelVariant'>;
  date: string;
  seconds: number;
  cpu: string;
}

/** `effective` and `reasons` where the engine took other types than asked for */
export type TypeFigures = Figures & {
  bits: number;
  /** what is centred; absent: nothing */
  centring?: Row['centring'];
  effective?: string;
  reasons?: string[];
};

/** What `npm run quality -- --json` prints. */
export interface Result {
  types: Record<string, TypeFigures>;
  /** by K/V */
  pairs: Record<string, TypeFigures>;
  /** turbo types once more without centring; empty where they were measured in one way only */
  uncentred: Record<string, TypeFigures>;
  depths: ByDepth<{ chunks: number; tokens: number }>;
  reference: string;
  model: { name: string; file: string; bytes: number; quantization: string };
  text: string;
  documents: number;
  quick: boolean;
  engine: Measured['engine'];
  cpu: string;
  command: string;
  date: string;
  seconds: number;
}

export function resultOf(measured: Measured): Result;
export function markdown(result: Result): string;
export function charts(result: Result): string;
export function depthName(depth: string | number): string;
