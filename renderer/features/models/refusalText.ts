import type { ErrorPayload } from '../../../electron/contract/errors';

/** Why a file was not added, in whole sentences that name it once: "a.gguf: it is truncated. Download it again." */
export function refusalText({ name, error }: { name: string; error: ErrorPayload }): string {
  const [first = '', ...rest] = error.message.split(' ');
  const aboutIt = first === name || first.endsWith(`/${name}`) || first.endsWith(`\\${name}`);
  const message = `${name}: ${aboutIt ? ['it', ...rest].join(' ') : error.message}`;
  const ended = /[.!?]$/.test(message) ? message : `${message}.`;
  return error.hint ? `${ended} ${error.hint}` : ended;
}
