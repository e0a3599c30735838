/**
 * What fits into the memory of this machine: the one answer that the context slider, the model list, the load check and the
 * command line use.
 */
import { z } from 'zod';
import { cacheTypeSchema } from './cacheTypes';
import { memoryEstimateSchema } from './engine';

/** One memory of the machine: what a load would take of it, and what it may take now. Bytes. */
export const budgetSchema = z.object({
  /** `unified`: one memory for processor and GPU, held to the working set that the system recommends */
  kind: z.enum(['ram', 'unified', 'gpu']),
  name: z.string(),
  needed: z.number(),
  /** what is free, what unloading the present model gives back, less a reserve for everything else */
  available: z.number(),
  total: z.number(),
});
export type Budget = z.infer<typeof budgetSchema>;

/** The longest context that fits with these cache types. */
export const fitMarkSchema = z.object({
  typeK: cacheTypeSchema,
  typeV: cacheTypeSchema,
  /** types as the model would get them; a fallback makes marks equal */
  effectiveK: z.string(),
  effectiveV: z.string(),
  /** tokens, at most what is asked for as the longest; 0: not even the shortest context fits */
  nCtx: z.number().int(),
  /** weights, cache and buffers at that length; 0 where nothing fits */
  bytes: z.number(),
});
export type FitMark = z.infer<typeof fitMarkSchema>;

export const contextFitSchema = z.object({
  /** what the asked settings would take */
  estimate: memoryEstimateSchema,
  /** every budget holds what is needed of it */
  fits: z.boolean(),
  budgets: z.array(budgetSchema).min(1),
  /** tokens that the model was trained for; 0: its file does not say */
  trained: z.number().int(),
  /** for the asked pair first, then f16, q8_0, turbo4, turbo3 on both sides */
  marks: z.array(fitMarkSchema),
});
export type ContextFit = z.infer<typeof contextFitSchema>;
