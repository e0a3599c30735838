/** Downloads of models, as a window sees them. A split file is one. */
import { z } from 'zod';
import { errorPayloadSchema } from './errors';
import { countSchema, repoPathSchema, repoSchema, revisionSchema } from './hub';
import { idSchema } from './limits';

/**
 * `queued`: others go first. `active`: bytes arrive. `waiting`: the connection failed, it is tried again at `retryAt`.
 * `checking`: all is here and is compared with what the hub promised. `paused`: by a person, or because the disk is full
 * (`error` says so). `failed`: it was tried often enough, or cannot go on; `error` says why; resuming tries again.
 * `done`: in the model list.
 */
export const downloadStateSchema = z.enum(['queued', 'active', 'waiting', 'checking', 'paused', 'failed', 'done']);
export type DownloadState = z.infer<typeof downloadStateSchema>;

export const downloadSchema = z.object({
  id: idSchema,
  repo: repoSchema,
  revision: revisionSchema,
  /** path of the first part, as in `hubFileSchema` */
  file: repoPathSchema,
  title: z.string(),
  quant: z.string().nullable(),
  parts: z.number().int(),
  bytes: countSchema,
  /** of `bytes`, on the disk; while it is checked they count again from zero */
  done: countSchema,
  state: downloadStateSchema,
  /** bytes a second over the last seconds; 0 while nothing arrives */
  speed: z.number(),
  /** null: not known */
  secondsLeft: z.number().nullable(),
  /** why it waits, is paused or failed; null: nothing is wrong */
  error: errorPayloadSchema.nullable(),
  /** ms since 1970; null: it does not wait */
  retryAt: z.number().nullable(),
  /** ms since 1970 */
  addedAt: z.number(),
  /** of the model list, once it is done */
  modelId: idSchema.nullable(),
});
export type Download = z.infer<typeof downloadSchema>;

export const downloadRequestSchema = z.object({
  repo: repoSchema,
  /** commit of the page that the person looked at; `main`: as it is now */
  revision: revisionSchema.default('main'),
  file: repoPathSchema,
});
export type DownloadRequest = z.input<typeof downloadRequestSchema>;
