/** What a model and its context take of the memory, by part. */
import { z } from 'zod';

/** Of what drafts beside the text: a model and its context, or a context of layers of the model itself, whose weights are the model's. */
const draftMemorySchema = z.object({ weights: z.number(), kv: z.number(), compute: z.number() });
export type DraftMemory = z.infer<typeof draftMemorySchema>;

/** Of what makes images and sound readable. Upstream allocates its buffers with the first image. */
const projectorMemorySchema = z.object({ weights: z.number(), compute: z.number() });

/** Bytes by part, those of the draft and of the projector apart. KV figures are the allocation of the engine, to the byte. */
export const partMemorySchema = z.object({
  weights: z.number(),
  kvK: z.number(),
  kvV: z.number(),
  /** what the same cache would take at f16 */
  kvF16: z.number(),
  compute: z.number(),
  draft: draftMemorySchema,
  projector: projectorMemorySchema.default({ weights: 0, compute: 0 }),
  /** what requests of the API leave behind for the next ones, in RAM: at most. 0: nothing is kept */
  promptCache: z.number(),
  /** of that, what there is now; 0 in an estimate */
  promptCacheUsed: z.number(),
});
export type PartMemory = z.infer<typeof partMemorySchema>;

/** What of a model and its context lies in a GPU's own memory or at a device of another machine; it is counted among the parts, too. */
export const placeMemorySchema = z.object({
  name: z.string(),
  weights: z.number(),
  /** the KV cache of its layers */
  context: z.number(),
  compute: z.number(),
});

/** All that is allocated, without what the prompt cache may take: it fills as requests come. */
export function allocatedBytes({
  weights,
  kvK,
  kvV,
  compute,
  draft,
  projector,
}: Pick<PartMemory, 'weights' | 'kvK' | 'kvV' | 'compute'> & Partial<Pick<PartMemory, 'draft' | 'projector'>>): number {
  const beside = (draft ? draftBytes(draft) : 0) + (projector ? projectorBytes(projector) : 0);
  return weights + kvK + kvV + compute + beside;
}

export function draftBytes({ weights, kv, compute }: DraftMemory): number {
  return weights + kv + compute;
}

export function projectorBytes({ weights, compute }: PartMemory['projector']): number {
  return weights + compute;
}
