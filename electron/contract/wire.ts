/**
 * What travels between two ends of a contract on a message carrier: the WebSocket of headless mode (as JSON text) and the
 * channel to the engine process (as structured clones). The caller numbers its calls; answers name the same number.
 *
 * Headless mode: the page opens `/ws` on its own host and offers the token of its own URL as a subprotocol (channels.ts).
 */
import { z } from 'zod';
import { errorPayloadSchema } from './errors';

const callMessageSchema = z.object({
  type: z.literal('call'),
  id: z.number().int(),
  name: z.string().max(100),
  input: z.unknown().optional(),
});

const envelopeSchema = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), value: z.unknown().optional() }),
  z.object({ ok: z.literal(false), error: errorPayloadSchema }),
]);

const answerMessageSchema = z.object({ type: z.literal('answer'), id: z.number().int(), envelope: envelopeSchema });

const eventMessageSchema = z.object({
  type: z.literal('event'),
  name: z.string().max(100),
  payload: z.unknown().optional(),
});

/** From the caller to the server. */
export const toServerSchema = callMessageSchema;
/** From the server to the caller. */
export const toClientSchema = z.discriminatedUnion('type', [answerMessageSchema, eventMessageSchema]);

export type CallMessage = z.infer<typeof callMessageSchema>;
export type AnswerMessage = z.infer<typeof answerMessageSchema>;
export type EventMessage = z.infer<typeof eventMessageSchema>;
