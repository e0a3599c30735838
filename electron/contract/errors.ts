/** Error codes of the contract. Every failure that reaches a person is one of these, with a message and a hint. */

import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { say, type Translatable, translatableSchema } from './lib/language';
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
  /** a machine that holds a part of the model does not answer, or is of another build */
  'worker-lost',
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
  /** what both are made of, where the window can say them in its own language */
  said: z.object({ message: translatableSchema, hint: translatableSchema }).optional(),
});
export type ErrorPayload = z.infer<typeof errorPayloadSchema>;

export class ConcertinaError extends Error {
  readonly code: ErrorCode;
  readonly hint: string;
  /** undefined: neither can be translated */
  readonly said: ErrorPayload['said'];

  constructor(code: ErrorCode, message: Translatable, hint: Translatable = '', options?: ErrorOptions) {
    super(say(message), options);
    this.name = 'ConcertinaError';
    this.code = code;
    this.hint = say(hint);
    this.said = typeof message === 'string' && typeof hint === 'string' ? undefined : { message, hint };
  }

  toPayload(): ErrorPayload {
    const { code, message, hint, said } = this;
    return { code, message, hint, ...(said && { said }) };
  }

  static fromPayload({ code, message, hint, said }: ErrorPayload): ConcertinaError {
    return new ConcertinaError(code, said?.message ?? message, said?.hint ?? hint);
  }
}

/** Turns anything thrown into a payload; what is no trouble of the system keeps its message under the code `internal`. */
export function toErrorPayload(error: unknown): ErrorPayload {
  if (error instanceof ConcertinaError) return error.toPayload();
  if (error instanceof z.ZodError) {
    return { code: 'bad-request', message: z.prettifyError(error), hint: '' };
  }
  const trouble = troubleOf(error);
  if (!trouble) {
    return new ConcertinaError(
      'internal',
      messageOf(error),
      msg`Details are in the log folder of the app.`,
    ).toPayload();
  }
  const { kind, why, remedy } = trouble;
  const subject = subjectOf(error);
  const message = subject === null ? msg`It failed: ${{ why }}.` : msg`${{ subject }}: ${{ why }}.`;
  const payload = new ConcertinaError(codes[kind], message, remedy).toPayload();
  return subject === null ? { ...payload, message: `${capitalized(say(why))}.` } : payload;
}

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const codes: Record<SystemTrouble['kind'], ErrorCode> = {
  full: 'disk-full',
  storage: 'storage-failed',
  network: 'network-failed',
  certificate: 'network-failed',
};

/** What anything thrown says of itself, for sentences: trouble of the system in words. */
export function messageOf(error: unknown): string {
  return say(reasonOf(error));
}

/** The same as a part of a text that can be translated. */
export function reasonOf(error: unknown): Translatable {
  if (error instanceof ConcertinaError) return error.said?.message ?? error.message;
  const trouble = troubleOf(error);
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
