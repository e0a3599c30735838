/** The API for other programs: whether it listens, and who asks. What a person sets for it: `lib/localApi.ts`. */
import { z } from 'zod';
import { errorPayloadSchema } from './errors';
import { idSchema, nothing, operation } from './limits';
import type { EventMap, OperationMap } from './rpc';

/** A request that runs or waits. */
const apiRequestSchema = z.object({
  id: idSchema,
  path: z.string(),
  /** as the client names it; null: it names none */
  model: z.string().nullable(),
  /** milliseconds since 1970 */
  since: z.number(),
  /** of the client's `User-Agent` */
  client: z.string(),
  /** bytes (UTF-8) of the response so far */
  bytes: z.number(),
});
export type RunningRequest = z.infer<typeof apiRequestSchema>;

const apiStatusSchema = z.object({
  /** who decides: a person in the window, or the line that started `concertina serve` */
  by: z.enum(['window', 'serve']),
  /** for clients of OpenAI; null: it does not listen */
  address: z.string().nullable(),
  /** why it does not listen although it should */
  problem: errorPayloadSchema.nullable(),
  /** file of the key that clients show; null: they show none, or one that the line gave */
  keyFile: z.string().nullable(),
  needsKey: z.boolean(),
  /** what it listens with, or would */
  rules: z.object({
    slots: z.number().int(),
    origins: z.array(z.string()),
    loadOnRequest: z.boolean(),
    idleMinutes: z.number().nullable(),
  }),
  /** the oldest first */
  requests: z.array(apiRequestSchema),
});
export type ApiStatus = z.infer<typeof apiStatusSchema>;

const keySchema = z.object({ key: z.string() });

export const apiOperations = {
  'api.status': operation(nothing, apiStatusSchema),
  /** of the API in the window; made when it is first asked for */
  'api.key': operation(nothing, keySchema),
  /** clients that show the one before are refused from now on */
  'api.renewKey': operation(nothing, keySchema),
  /** one that has ended already is no error */
  'api.endRequest': operation(z.object({ id: idSchema }), nothing),
} as const satisfies OperationMap;

export const apiEvents = {
  /** it begins or ends to listen, requests begin and end, and a few times a second while they get their answers */
  onApi: apiStatusSchema,
} as const satisfies EventMap;
