/** LoRA adapters: files with small matrices that a model is used with, each times a scale. */

import { z } from 'zod';

export const mostAdapterScale = 2;

export interface AdapterChoice {
  /** its id or its name on the list of models, or the whole path of its file */
  model: string;
  /** 1: as it was trained; 0: it is loaded, and changes nothing */
  scale: number;
}

/** What the header of an adapter's file says. */
export const adapterFactsSchema = z.object({
  /** of its matrices; where they differ, the largest */
  rank: z.number(),
  alpha: z.number(),
  /** model that it was made for, as its author names it */
  base: z.string().nullable(),
});
export type AdapterFacts = z.infer<typeof adapterFactsSchema>;

/** One that a context has. */
export const adapterInUseSchema = z.object({
  /** name of its file */
  file: z.string(),
  scale: z.number(),
  /** of its matrices, which are counted among the weights */
  bytes: z.number(),
  /** the same for the same content */
  fingerprint: z.string(),
  /** an option of llama-server chose it: requests of the API may change its scale */
  byOption: z.boolean(),
});
export type AdapterInUse = z.infer<typeof adapterInUseSchema>;

export function sameAdapters(a: readonly AdapterChoice[], b: readonly AdapterChoice[]): boolean {
  return a.length === b.length && a.every(({ model, scale }, i) => b[i]?.model === model && b[i]?.scale === scale);
}
