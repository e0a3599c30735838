/** What a fresh start has. Written out, because the schemas stay out of the window's bundle; a test compares the two. */
import type { ContextSettings, SamplingSettings } from '../../../electron/contract/settings';

export const defaultContext: ContextSettings = {
  nCtx: 8192,
  typeK: 'turbo4',
  typeV: 'turbo4',
  flashAttention: 'auto',
  threads: 0,
  gpuLayers: -1,
  batch: 512,
  rope: 'model',
};

export const defaultSampling: SamplingSettings = {
  temperature: 0.7,
  topK: 40,
  topP: 0.95,
  minP: 0.05,
  repeatPenalty: 1,
  seed: null,
  maxTokens: 0,
  stop: [],
};

/** The default context, in what the model was trained for. */
export function defaultContextFor(trained: number | null): ContextSettings {
  return { ...defaultContext, nCtx: Math.min(defaultContext.nCtx, trained ?? defaultContext.nCtx) };
}
