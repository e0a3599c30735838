/** What a model and its context take of the memory, by part. */
import { z } from 'zod';

/** Of what drafts beside the text: a model and its context, or a context of layers of the model itself, whose weights are the model's. */
const draftMemorySchema = z.object({ weights: z.number(), kv: z.number(), compute: z.number() });
export type DraftMemory = z.infer<typeof draftMemorySchema>;

/** Bytes by part, the draft's apart. KV figures are the allocation of the engine, to the byte. */
export const partMemorySchema = z.object({
  weights: z.number(),
  kvK: z.number(),
  kvV: z.number(),
  /** what the same cache would take at f16 */
  kvF16: z.number(),
  compute: z.number(),
  draft: draftMemorySchema,
  /** what requests of the API leave behind for the next ones, in RAM: at most. 0: nothing is kept */
  promptCache: z.number(),
  /** of that, what there is now; 0 in an estimate */
  promptCacheUsed: z.number(),
});
export type PartMemory = z.infer<typeof partMemorySchema>;

/** All that is allocated, without what the prompt cache may take: it fills as requests come. */
export function allocatedBytes({
  weights,
  kvK,
  kvV,
  compute,
  draft,
}: Pick<PartMemory, 'weights' | 'kvK' | 'kvV' | 'compute'> & Partial<Pick<PartMemory, 'draft'>>): number {
  return weights + kvK + kvV + compute + (draft ? draftBytes(draft) : 0);
}

export function draftBytes({ weights, kv, compute }: DraftMemory): number {
  return weights + kv + compute;
}
