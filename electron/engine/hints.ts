/** What to do about an engine error: the binding says what happened, this says what helps. */
import { ConcertinaError, type ErrorCode, errorCodeSchema, messageOf, toErrorPayload } from '../contract/errors';
import { troubleOf } from '../contract/lib/systemErrors';

const hints: Partial<Record<ErrorCode, string>> = {
  'model-missing': 'Check that the file is still there, or choose another model.',
  'model-invalid': 'The file is damaged or not a GGUF model. Download it again, or choose another model.',
  'model-unsupported': 'This version of the engine does not know this kind of model. Choose another one.',
  'out-of-memory': 'Choose a shorter context, a smaller cache type or a smaller model, or close other programs.',
  'context-full': 'Raise the context length in the settings, or start a new chat.',
  'context-invalid': 'Choose another context length in the settings.',
  'cache-type-unsupported': 'Choose another cache type in the settings.',
  internal: 'Details are in the log folder of the app.',
  'engine-unavailable': 'Build the engine again with `npm run build:engine`, or reinstall the app.',
};

/** Makes a coded error of anything that the binding throws, with a hint. */
export function toEngineError(error: unknown): ConcertinaError {
  const code = errorCodeSchema.safeParse((error as { code?: unknown } | null)?.code);
  // of the system: a path that is too long, a disk that is full
  if (!code.success && troubleOf(error)) return ConcertinaError.fromPayload(toErrorPayload(error));
  const message = messageOf(error);
  const known = code.success ? code.data : 'internal';
  const hint = (error as { hint?: unknown } | null)?.hint;
  return new ConcertinaError(known, message, typeof hint === 'string' && hint ? hint : (hints[known] ?? ''), {
    cause: error,
  });
}

/** The same handlers, which throw nothing but coded errors. */
export function withCodedErrors<H extends object>(handlers: H): H {
  const wrapped = Object.entries(handlers).map(([name, handler]) => [
    name,
    async (input: never) => {
      try {
        return await (handler as (input: never) => Promise<unknown>)(input);
      } catch (error) {
        throw toEngineError(error);
      }
    },
  ]);
  return Object.fromEntries(wrapped) as H;
}
