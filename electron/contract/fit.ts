/**
 * What fits into the memory of this machine: the one answer that the context slider, the model list, the load check and the
 * command line use.
 */
import { z } from 'zod';
import { cacheTypeSchema } from './cacheTypes';
import { memoryEstimateSchema } from './engine';

const memoryKindSchema = z.enum(['ram', 'unified', 'gpu']);

/**
 * The memories of the machine as the engine sees them, and what its model gives back when it is unloaded. The process that
 * looks at model files has another view, of itself. Bytes.
 */
export const machineMemorySchema = z.object({
  held: z.array(
    z.object({
      name: z.string(),
      kind: memoryKindSchema,
      weights: z.number(),
      mapped: z.number(),
      context: z.number(),
      compute: z.number(),
    }),
  ),
  memories: z.array(
    z.object({ name: z.string(), kind: memoryKindSchema, free: z.number().nullable(), total: z.number() }),
  ),
  ram: z.object({
    /** that a program could still take without swapping */
    free: z.number(),
    /** of the machine, or of a control group that allows less */
    total: z.number(),
    /**
     * at most this much of the process comes back when its model is freed: the pages that it has really touched; null where
     * the system does not tell
     */
    releasable: z.number().nullable(),
  }),
});
export type MachineMemory = z.infer<typeof machineMemorySchema>;

/** One memory of the machine: what a load would take of it, and what it may take now. Bytes. */
export const budgetSchema = z.object({
  /** `unified`: one memory for processor and GPU, held to the working set that the system recommends */
  kind: memoryKindSchema,
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
