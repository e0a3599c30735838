/** Entry of the worker thread that computes hashes of model files: gigabytes, which the main process has no time for. */
import type { HashTask } from '../shared/hashWork';
import { answerTasks } from '../threads/answerTasks';
import { hashFiles } from './hashFiles';

let last: Promise<unknown> = Promise.resolve();

/** One after the other: the disk is no faster with two. */
answerTasks(({ paths, sample }: HashTask) => {
  const hash = last.then(() => hashFiles(paths, sample));
  last = hash.catch(() => undefined);
  return hash;
});
