/** KV cache types that a person can choose, in the order of their size. Bytes come from the engine, never from here. */
import { z } from 'zod';

export const cacheTypeSchema = z.enum(['f16', 'q8_0', 'q5_0', 'iq4_nl', 'q4_0', 'turbo4', 'turbo3']);
export type CacheType = z.infer<typeof cacheTypeSchema>;
export const cacheTypes = cacheTypeSchema.options;

/**
 * The type a cache really has: a chosen one, or the 64-value turbo layout that the engine uses at head_dim 64
 * (`turbo4_64`, `turbo3_64`), or another type that it fell back to.
 */
export const effectiveCacheTypeSchema = z.string();
