/** Entry of the worker thread that computes hashes of model files: gigabytes, which the main process has no time for. */
import { parentPort } from 'node:worker_threads';
import type { FromHashWorker, HashTask } from '../shared/hashWork';
import { hashFiles } from './hashFiles';

let last: Promise<void> = Promise.resolve();

/** One after the other: the disk is no faster with two. */
parentPort?.on('message', ({ id, paths, sample }: HashTask) => {
  last = last.then(() =>
    hashFiles(paths, sample).then(
      (sha256) => tell({ id, sha256 }),
      (error: unknown) => tell({ id, problem: error instanceof Error ? error.message : String(error) }),
    ),
  );
});

function tell(message: FromHashWorker): void {
  parentPort?.postMessage(message);
}
