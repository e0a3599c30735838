/**
 * Calls between two processes, whichever two: what an operation is, what travels for it, the calling side and the serving
 * side. What the operations are is declared once each: `contract.ts` (window) and `engineContract.ts` (engine) join them.
 */

import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError, type ErrorPayload, errorPayloadSchema, issueText, toErrorPayload } from './errors';
import { troubleOf } from './lib/systemErrors';
import type { Operation } from './limits';

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface Remote<M extends OperationMap, E extends EventMap> {
  readonly client: ClientOf<M, E>;
  /** give it every message that arrives; a malformed one is ignored */
  receive(message: unknown): void;
  /** the connection is gone: every open call rejects with this error */
  fail(error: ConcertinaError): void;
}

/**
 * Numbers calls, matches answers to them, and hands events to listeners after checking their payload.
 * `refused` is called for an event whose payload the contract does not allow: the other end is of another version.
 * Name the operations as the first type argument: `createRemote<Operations, Events>(events, send)`.
 */
export function createRemote<M extends OperationMap, E extends EventMap>(
  events: E,
  send: (message: CallMessage) => void,
  refused: (event: string, problem: string) => void = () => undefined,
): Remote<M, E> {
  const pending = new Map<number, Pending>();
  const listeners = new Map<string, Set<(payload: unknown) => void>>();
  let nextId = 1;

  function call(name: string, input: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = nextId++;
      pending.set(id, { resolve, reject });
      try {
        send({ type: 'call', id, name, input });
      } catch (error) {
        pending.delete(id);
        reject(error);
      }
    });
  }

  function on(name: string, listener: (payload: unknown) => void): () => void {
    const set = listeners.get(name) ?? new Set();
    listeners.set(name, set.add(listener));
    return () => void set.delete(listener);
  }

  function settle(id: number, envelope: AnswerMessage['envelope']): void {
    const open = pending.get(id);
    pending.delete(id);
    if (envelope.ok) open?.resolve(envelope.value);
    else open?.reject(ConcertinaError.fromPayload(envelope.error));
  }

  function receive(raw: unknown): void {
    const parsed = toClientSchema.safeParse(raw);
    if (!parsed.success) return;
    const message = parsed.data;
    if (message.type === 'event') emit(message.name, message.payload);
    else settle(message.id, message.envelope);
  }

  function emit(name: string, payload: unknown): void {
    const schema = Object.hasOwn(events, name) ? events[name] : undefined;
    if (!schema) return;
    const parsed = schema.safeParse(payload);
    if (!parsed.success) {
      refused(name, issueText(parsed.error));
      return;
    }
    for (const listener of listeners.get(name) ?? []) listener(parsed.data);
  }

  function fail(error: ConcertinaError): void {
    const open = [...pending.values()];
    pending.clear();
    for (const one of open) one.reject(error);
  }

  return { client: { call, on } as unknown as ClientOf<M, E>, receive, fail };
}

export type OperationMap = Record<string, Operation>;
export type EventMap = Record<string, z.ZodType>;

/** What a caller may pass (defaults not filled in yet). */
export type InputOf<O extends Operation> = z.input<O['input']>;
/** What a handler receives (checked, defaults filled in). */
type ParsedInputOf<O extends Operation> = z.output<O['input']>;
export type OutputOf<O extends Operation> = z.output<O['output']>;

/** The serving side of a map: one handler for each operation; a missing one is a type error. */
export type HandlersOf<M extends OperationMap> = {
  [N in keyof M]: (input: ParsedInputOf<M[N]>) => Promise<OutputOf<M[N]>>;
};

/** The calling side of a map, whatever carries it. */
export interface ClientOf<M extends OperationMap, E extends EventMap> {
  call<N extends keyof M & string>(name: N, input: InputOf<M[N]>): Promise<OutputOf<M[N]>>;
  on<N extends keyof E & string>(name: N, listener: (payload: z.output<E[N]>) => void): () => void;
}

/** What travels back for a call, on every connection. */
export type Envelope = { ok: true; value: unknown } | { ok: false; error: ErrorPayload };

// What travels between two ends of a contract on a message channel: the WebSocket of headless mode (as JSON text) and the
// channel to the engine process (as structured clones). The caller numbers its calls; answers name the same number.
//
// Headless mode: the page opens `/ws` on its own host and offers the token of its own URL as a subprotocol (`socketProtocols`).

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
const toClientSchema = z.discriminatedUnion('type', [answerMessageSchema, eventMessageSchema]);

export type CallMessage = z.infer<typeof callMessageSchema>;
export type AnswerMessage = z.infer<typeof answerMessageSchema>;
export type EventMessage = z.infer<typeof eventMessageSchema>;

// The serving side of a contract, the same for every connection: check the input, run the handler, check the output.

/**
 * Runs one call. Never throws: whatever goes wrong becomes the error of the envelope.
 * `report` gets the errors that are our mistake, and those of the system, whose codes people do not see.
 */
export async function dispatch<M extends OperationMap>(
  operations: M,
  handlers: HandlersOf<M>,
  name: unknown,
  input: unknown,
  report: (error: unknown) => void = () => undefined,
): Promise<Envelope> {
  try {
    if (typeof name !== 'string' || !Object.hasOwn(operations, name)) {
      throw new ConcertinaError('bad-request', msg`There is no operation named ${{ name: JSON.stringify(name) }}.`);
    }
    const declared = operations[name] as OperationMap[string];
    const parsed = declared.input.safeParse(input);
    if (!parsed.success) throw invalid(`The call ${name} was refused`, parsed.error);
    const handler = handlers[name] as (input: unknown) => Promise<unknown>;
    const value = declared.output.safeParse(await handler(parsed.data));
    if (!value.success)
      throw new Error(`${name} gave an answer that its contract does not allow: ${value.error.message}`);
    return { ok: true, value: value.data };
  } catch (error) {
    const payload = toErrorPayload(error);
    if (payload.code === 'internal' || troubleOf(error)) report(error);
    return { ok: false, error: payload };
  }
}

function invalid(what: string, error: z.ZodError): ConcertinaError {
  return new ConcertinaError('bad-request', `${what}: ${issueText(error)}.`);
}

/** Subprotocol of headless mode's WebSocket: what the server answers with; the key that comes beside it is never sent back. */
export const socketProtocol = 'concertina';

/**
 * What a page offers when it opens the WebSocket: the one header that it may choose. A cookie would go to every other server on
 * this machine as well, since cookies do not keep ports apart, and an address is written to logs and histories.
 * @param token letters, digits, `-` and `_`; null: the page has none, and the server refuses it
 */
export function socketProtocols(token: string | null): string[] {
  return token === null ? [socketProtocol] : [socketProtocol, `key.${token}`];
}
