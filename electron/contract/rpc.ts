/** The calling side of a contract over any message carrier (see `wire.ts`). */
import { ConcertinaError, issueText } from './errors';
import type { ClientOf, EventMap, OperationMap } from './operation';
import { type AnswerMessage, type CallMessage, toClientSchema } from './wire';

interface Pending {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

export interface Remote<M extends OperationMap, E extends EventMap> {
  readonly client: ClientOf<M, E>;
  /** give it every message that the carrier delivers; a malformed one is ignored */
  receive(message: unknown): void;
  /** the carrier is gone: every open call rejects with this error */
  fail(error: ConcertinaError): void;
}

/**
 * Numbers calls, matches answers to them, and hands events to listeners after checking their payload.
 * `refused` hears of an event whose payload the contract does not allow: the other end is of another version.
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
