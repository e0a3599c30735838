import type { WorkTree } from './git-tree.mjs';

export interface Pin {
  package: string;
  version: string;
  integrity: string;
  bundle: string;
  commit: string;
  llama: string;
  ggml: string;
}
export type OnProgress = (progress: { stage: string; fraction: number }) => void;

export function readPin(): Pin;
export function seriesHash(): string;
export function prepareUpstream(options?: {
  onProgress?: OnProgress;
}): Promise<{ folder: string; commit: string; changed: boolean }>;
export function applySeries(
  work: WorkTree,
  series: { name: string; file: string }[],
  onProgress: OnProgress,
): Promise<void>;
export function adoptTree(): Promise<void>;
