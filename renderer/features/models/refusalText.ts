import type { ErrorPayload } from '../../../electron/shared/errors';

/** Why a file was not added, in whole sentences that name it once. */
export function refusalText({ name, error }: { name: string; error: ErrorPayload }): string {
  const message = error.message.includes(name) ? error.message : `${name}: ${error.message}`;
  const ended = /[.!?]$/.test(message) ? message : `${message}.`;
  return error.hint ? `${ended} ${error.hint}` : ended;
}
