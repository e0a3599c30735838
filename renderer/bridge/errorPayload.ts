/** Reads the payload out of anything that a call may reject with. */
import type { ErrorCode, ErrorPayload } from '../../electron/contract/errors';

export function errorPayloadOf(error: unknown): ErrorPayload {
  if (error instanceof Error) {
    const { code, hint } = error as Partial<ErrorPayload>;
    return {
      code: typeof code === 'string' ? (code as ErrorCode) : 'internal',
      message: error.message,
      hint: typeof hint === 'string' ? hint : '',
    };
  }
  return { code: 'internal', message: String(error), hint: '' };
}
