/** New versions of the app: whether they are looked for at all is a setting, off at first. */
import { z } from 'zod';
import { errorPayloadSchema } from '../../errors';
import { nothing, operation } from '../../limits';
import type { EventMap, OperationMap } from '../../rpc';

const newsSchema = z.object({
  version: z.string(),
  /** Markdown: its section of the changelog */
  text: z.string(),
});

const updateStatusSchema = z.object({
  /**
   * `none`: this build does not update itself. `waiting`: for the end of an answer, a reading or a download of a model.
   * `current`: there is nothing newer. `found`: it can be downloaded. `ready`: it is here, and checked.
   */
  state: z.enum(['none', 'off', 'idle', 'waiting', 'checking', 'current', 'found', 'downloading', 'ready', 'failed']),
  /** of what is found; null: nothing is */
  version: z.string().nullable(),
  /** of the download */
  fraction: z.number().min(0).max(1).nullable(),
  error: errorPayloadSchema.nullable(),
  /** of this version, which has replaced an older one and was not shown yet */
  news: newsSchema.nullable(),
});
export type UpdateStatus = z.infer<typeof updateStatusSchema>;

export const updateOperations = {
  'updates.status': operation(nothing, updateStatusSchema),
  'updates.check': operation(nothing, nothing),
  'updates.download': operation(nothing, nothing),
  /** ends the app and begins the new version */
  'updates.install': operation(nothing, nothing),
  /** the news were shown */
  'updates.seen': operation(nothing, nothing),
} as const satisfies OperationMap;

export const updateEvents = { onUpdates: updateStatusSchema } as const satisfies EventMap;
