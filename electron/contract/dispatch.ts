/** The serving side of a contract, the same for every carrier: check the input, run the handler, check the output. */
import type { z } from 'zod';
import { ConcertinaError, issueText, toErrorPayload } from './errors';
import type { Envelope, HandlersOf, OperationMap } from './operation';

/**
 * Runs one call. Never throws: whatever goes wrong becomes the error of the envelope.
 * `report` hears of errors that are our mistake, with their stack.
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
      throw new ConcertinaError('bad-request', `There is no operation named ${JSON.stringify(name)}.`);
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
    if (payload.code === 'internal') report(error);
    return { ok: false, error: payload };
  }
}

function invalid(what: string, error: z.ZodError): ConcertinaError {
  return new ConcertinaError('bad-request', `${what}: ${issueText(error)}.`);
}
