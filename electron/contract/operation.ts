/** The one shape of every declared operation, whichever two processes it joins. */
import type { z } from 'zod';
import type { ErrorPayload } from './errors';

/** An operation: what goes in and what comes out, both checked at the boundary. */
export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly input: I;
  readonly output: O;
}

export function operation<I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Operation<I, O> {
  return { input, output };
}

export type OperationMap = Record<string, Operation>;
export type EventMap = Record<string, z.ZodType>;

/** What a caller may pass (defaults not filled in yet). */
export type InputOf<O extends Operation> = z.input<O['input']>;
/** What a handler receives (checked, defaults filled in). */
export type ParsedInputOf<O extends Operation> = z.output<O['input']>;
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

/** What travels back for a call, on every carrier. */
export type Envelope = { ok: true; value: unknown } | { ok: false; error: ErrorPayload };
