/** Errors of the addon carry `code` and `hint` as plain properties; here they become the one error class of the app. */
import { ConcertinaError, errorCodeSchema } from '../../contract/errors';

export function toCodedError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ConcertinaError) return error;
  const { code, hint } = error as Error & { code?: unknown; hint?: unknown };
  const known = errorCodeSchema.safeParse(code);
  if (!known.success) return error;
  return new ConcertinaError(known.data, error.message, typeof hint === 'string' ? hint : '', { cause: error });
}

export function coded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toCodedError(error);
  }
}

export async function codedAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toCodedError(error);
  }
}
