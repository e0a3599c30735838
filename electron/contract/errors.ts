/** Error codes of the contract. Every failure that reaches a person is one of these, with a message and a hint. */

import { z } from 'zod';

export const errorCodeSchema = z.enum([
  'bad-request',
  'not-found',
  'forbidden',
  'cancelled',
  'busy',
  'model-missing',
  'model-invalid',
  'model-unsupported',
  'out-of-memory',
  'context-full',
  'context-invalid',
  'cache-type-unsupported',
  'engine-unavailable',
  'engine-crashed',
  'document-invalid',
  'document-unsupported',
  'network-failed',
  'access-denied',
  'rate-limited',
  'download-damaged',
  'disk-full',
  'storage-failed',
  'data-corrupt',
  'internal',
]);
export type ErrorCode = z.infer<typeof errorCodeSchema>;

/** What crosses a process boundary in place of an exception: what happened, and what to do about it. */
export const errorPayloadSchema = z.object({
  code: errorCodeSchema,
  message: z.string(),
  hint: z.string().default(''),
});
export type ErrorPayload = z.infer<typeof errorPayloadSchema>;

export class ConcertinaError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;

  constructor(code: ErrorCode, message: string, hint = '', options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConcertinaError';
    this.code = code;
    this.hint = hint;
  }

  toPayload(): ErrorPayload {
    return { code: this.code, message: this.message, hint: this.hint };
  }

  static fromPayload(payload: ErrorPayload): ConcertinaError {
    return new ConcertinaError(payload.code, payload.message, payload.hint);
  }
}

/** Turns anything thrown into a payload; unknown errors keep their message under the code `internal`. */
export function toErrorPayload(error: unknown): ErrorPayload {
  if (error instanceof ConcertinaError) return error.toPayload();
  if (error instanceof z.ZodError) {
    return { code: 'bad-request', message: z.prettifyError(error), hint: '' };
  }
  return { code: 'internal', message: messageOf(error), hint: 'Details are in the log folder of the app.' };
}

/** What anything thrown says of itself, for sentences. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** With where it was thrown, for logs. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** The first thing that a schema found wrong: where, and what. */
export function issueText({ issues: [issue] }: z.ZodError): string {
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  return `${where}${issue?.message ?? 'invalid input'}`;
}

// Bytes in sentences that are put together outside the window, which has finer ways (renderer/ui/format.ts).

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** "512 MiB", "3.4 GiB" */
export function sizeText(bytes: number): string {
  return bytes < GiB ? `${Math.round(bytes / MiB)} MiB` : `${(bytes / GiB).toFixed(1)} GiB`;
}
