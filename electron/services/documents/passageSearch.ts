/** Finds passages of documents, in a worker thread that keeps the indexes: none of this holds up the main process. */
import { ConcertinaError } from '../../contract/errors';
import type { FoundPassages, PassageTask } from '../../contract/passageWork';
import { TaskThread } from '../lib/taskThread';

const idleMs = 300_000;

/** Answers with the best first; for an empty query with the first of the document. */
export class PassageSearch extends TaskThread<PassageTask, FoundPassages> {
  /** the bundle of electron/workers/passages */
  constructor(workerFile: string) {
    super({ workerFile, idleMs, lost });
  }
}

function lost(cause: Error): ConcertinaError {
  const message = `The search for passages ended unexpectedly (${cause.message}).`;
  return new ConcertinaError('internal', message, 'Try again, or attach pages or headings instead.', { cause });
}
