import type { Figures } from './figures.mjs';
import type { Settings } from './options.mjs';

export interface Machine {
  cpu: string;
  cores: number;
  memoryBytes: number;
  platform: string;
  loadBefore: number;
  loadAfter: number;
}

/** What `npm run bench -- --json` prints. */
export interface Result extends Figures {
  date: string;
  command: string;
  settings: Pick<Settings, 'threads' | 'rounds' | 'batch' | 'quick'> & Partial<Pick<Settings, 'gpuLayers'>>;
  machine: Machine;
}

export function depthName(depth: string | number): string;
export function markdown(result: Result): string;
export function charts(result: Result): string;
