/** Hashes of files, computed in a worker thread that is there while there is something to do. */
import { ConcertinaError } from '../../contract/errors';
import type { HashTask } from '../../contract/hashWork';
import { TaskThread } from '../lib/taskThread';

/** Answers with the SHA-256 of the files one after the other. */
export class HashWorker extends TaskThread<HashTask, string> {
  /** the bundle of electron/workers/hashing */
  constructor(workerFile: string) {
    super({ workerFile, idleMs: 0, lost });
  }
}

function lost(cause: Error): ConcertinaError {
  const message = `The reading of model files ended unexpectedly (${cause.message}).`;
  return new ConcertinaError('internal', message, '', { cause });
}
