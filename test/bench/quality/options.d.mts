import type { Result } from './report.mjs';

export interface Settings {
  help: boolean;
  model: string;
  text: string;
  from: string | undefined;
  types: string[];
  sides: string[];
  depths: number[];
  /** null: as many as `read` tokens hold */
  chunks: number | null;
  /** of turbo caches */
  centring: 'both' | 'on' | 'off';
  read: number;
  /** seconds */
  budget: number;
  documents: number;
  threads: number;
  quick: boolean;
  json: boolean;
  out: string | undefined;
  writeDocs: boolean;
}

export interface Pair {
  /** K/V, or one name for both */
  name: string;
  typeK: string;
  typeV: string;
  centred: boolean;
}

export const REFERENCE: string;
export const HELP: string;
export class OptionError extends Error {}
export function parseOptions(args: string[]): Settings;
export function readResult(file: string): Result;
export function pairsOf(settings: Pick<Settings, 'types' | 'sides' | 'centring'>, known: string[]): Pair[];
