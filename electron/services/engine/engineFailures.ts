/** What a person is told about an engine process that cannot start or has ended. */
import { ConcertinaError } from '../../contract/errors';
import type { ProcessExit } from './engineTransport';

export const unavailableHint = 'Build the engine again with `npm run build:engine`, or reinstall the app.';

export function nameOf(exit: ProcessExit): string {
  return exit.signal ?? `code ${exit.code}`;
}

/** Linux ends a process that takes too much memory with SIGKILL. */
export function isKill(exit: ProcessExit): boolean {
  return exit.signal === 'SIGKILL' || exit.code === 137;
}

export function crashError(exit: ProcessExit, whileStarting: boolean, retryInMs: number | null): ConcertinaError {
  const what = whileStarting ? 'The engine could not start' : 'The engine stopped unexpectedly';
  return new ConcertinaError('engine-crashed', `${what} (${nameOf(exit)}).`, crashHint(retryInMs));
}

export function endedWhenAsked(loading: boolean): ConcertinaError {
  return loading
    ? new ConcertinaError(
        'engine-crashed',
        'The engine did not answer while it loaded the model, and was restarted.',
        'Try again, or choose other settings or another model.',
      )
    : new ConcertinaError(
        'engine-crashed',
        'The engine did not answer and was restarted.',
        'Nothing that was written is lost.',
      );
}

function crashHint(retryInMs: number | null): string {
  if (retryInMs === null) return 'It stopped like this before. Choose other settings or another model and try again.';
  if (retryInMs < 1000) return 'It is started again now; nothing that was written is lost.';
  return `It is started again in ${Math.ceil(retryInMs / 1000)} seconds, or as soon as you send a message.`;
}

export function killedWhileLoading(): ConcertinaError {
  return new ConcertinaError(
    'out-of-memory',
    'The system ended the engine while it loaded the model, most likely for want of memory.',
    'Choose a shorter context, a smaller cache type or a smaller model, or close other programs.',
  );
}
