/** Error codes of the contract. Every failure that reaches a person is one of these, with a message and a hint. */

import { z } from 'zod';
import { type SystemTrouble, subjectOf, troubleOf } from './lib/systemErrors';

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
  /** a password opens it */
  'document-locked',
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

/** Turns anything thrown into a payload; what is no trouble of the system keeps its message under the code `internal`. */
export function toErrorPayload(error: unknown): ErrorPayload {
  if (error instanceof ConcertinaError) return error.toPayload();
  if (error instanceof z.ZodError) {
    return { code: 'bad-request', message: z.prettifyError(error), hint: '' };
  }
  const trouble = troubleOf(error);
  if (!trouble)
    return { code: 'internal', message: messageOf(error), hint: 'Details are in the log folder of the app.' };
  const subject = subjectOf(error);
  const message =
    subject === null ? `${trouble.why.charAt(0).toUpperCase()}${trouble.why.slice(1)}.` : `${subject}: ${trouble.why}.`;
  return { code: codes[trouble.kind], message, hint: trouble.remedy };
}

const codes: Record<SystemTrouble['kind'], ErrorCode> = {
  full: 'disk-full',
  storage: 'storage-failed',
  network: 'network-failed',
  certificate: 'network-failed',
};

/** What anything thrown says of itself, for sentences: trouble of the system in words. */
export function messageOf(error: unknown): string {
  const trouble = error instanceof ConcertinaError ? null : troubleOf(error);
  return trouble?.why ?? (error instanceof Error ? error.message : String(error));
}

/** With where it was thrown and what the system called it, for logs. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${stack}\ncaused by ${stackOf(error.cause)}`;
}

/** The first thing that a schema found wrong: where, and what. */
export function issueText({ issues: [issue] }: z.ZodError): string {
  const where = issue?.path.length ? `${issue.path.join('.')}: ` : '';
  return `${where}${issue?.message ?? 'invalid input'}`;
}

// Text of a foreign file as it may be shown, logged and stored: short, and nothing in it that steers a terminal or turns the
// order of what stands around it.

const shownLength = 200;

/** Control characters, controls of the writing direction, separators, the byte order mark, and what was no UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd\p{Cs}]/gu;

/** At most `most` characters of it, up to a zero, without what is hidden and without spaces around the rest. */
export function shownText(text: string, most = shownLength): string {
  // what is looked at is bounded, too: a character is two units at most, and few of a fair text are left out
  const [whole = ''] = text.split('\0', 1);
  const clean = whole.replace(hidden, '').replace(/^ +/, '');
  return [...clean.slice(0, 2 * most)].slice(0, most).join('').replace(/ +$/, '');
}

/** A message that quotes such texts, with its line breaks. */
export function shownMessage(message: string): string {
  return message.replace(hidden, (character) => (character === '\n' ? character : ''));
}

// Bytes in sentences that are put together outside the window, which has finer ways (renderer/ui/format.ts).

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** "512 MiB", "3.4 GiB" */
export function sizeText(bytes: number): string {
  return bytes < GiB ? `${Math.round(bytes / MiB)} MiB` : `${(bytes / GiB).toFixed(1)} GiB`;
}
