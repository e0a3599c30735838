export interface Settings {
  help: boolean;
  model: string | undefined;
  shape: string | undefined;
  layers: number;
  gpuLayers: number;
  types: string[];
  depths: number[];
  prompts: number[];
  rounds: number;
  batch: number;
  threads: number;
  parts: string[];
  budget: number;
  quick: boolean;
  json: boolean;
  out: string | undefined;
  writeDocs: boolean;
}

export interface Variant {
  name: string;
  typeK: string;
  typeV: string;
  stock: boolean;
}

export const SHAPES: string[];
export const REFERENCE: string;
export const HELP: string;
export class OptionError extends Error {}
export function parseOptions(args: string[]): Settings;
export function variantsOf(settings: Pick<Settings, 'types' | 'quick'> & Partial<Pick<Settings, 'gpuLayers'>>): Variant[];
export function stockName(type: string): string;
