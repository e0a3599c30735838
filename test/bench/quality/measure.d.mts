import type { Context, Engine, Model } from '../../../electron/engine/native/types';
import type { Pair, Settings } from './options.mjs';

export type ByDepth<T = number> = Record<string, T>;

/** Figures by depth; KLD in nats, shares from 0 to 1. */
export interface Figures {
  ppl: ByDepth;
  kld: ByDepth;
  kldError: ByDepth;
  kld999: ByDepth;
  sameTop: ByDepth;
  needles?: ByDepth<{ right: number; of: number }>;
}

export interface Row extends Pair, Figures {
  bits: number;
  effective: string;
  reasons: string[];
  /** what is centred in truth */
  centring: { k: boolean; v: boolean };
}

export interface Setting {
  engine: Engine;
  model: Model;
  modelFile: string;
  tokens: Int32Array;
  /** of the model; null: nothing is centred */
  calibration: (nCtx: number) => Promise<Uint8Array | null>;
  threads: number;
}

export function newRow(pair: Pair): Row;
export function plan(
  settings: Pick<Settings, 'depths' | 'chunks' | 'read'>,
  available: number,
  longest: number,
): { depth: number; chunks: number }[];
export function fitInto<T extends { depth: number; chunks: number }>(
  done: T[],
  ahead: T[],
  spent: number,
  left: number,
): T[];
export function groupsOf<T>(sized: { row: T; bytes: number }[], budget?: number): T[][];
export function describe(
  context: Pick<Context, 'memory' | 'effective'>,
): Pick<Row, 'bits' | 'effective' | 'reasons' | 'centring'>;
export function createContext(
  setting: Pick<Setting, 'model' | 'calibration' | 'threads'>,
  row: Pick<Pair, 'typeK' | 'typeV' | 'centred'>,
  nCtx: number,
): Promise<Context>;
export function evaluateDepth(
  setting: Setting,
  rows: Row[],
  depth: number,
  chunks: number,
  onProgress: (progress: { fraction: number }) => void,
): Promise<number>;
