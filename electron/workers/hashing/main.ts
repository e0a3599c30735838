/** Entry of the worker thread that computes hashes of model files: gigabytes, which the main process has no time for. */
import type { HashTask } from '../../contract/workerTasks';
import { answerTasks } from '../answerTasks';
import { hashFiles } from './hashFiles';

let last: Promise<unknown> = Promise.resolve();

/** Whole files one after the other: the disk is no faster with two. A sample does not wait for them. */
answerTasks(({ paths, sample }: HashTask) => {
  if (sample) return hashFiles(paths, true);
  const hash = last.then(() => hashFiles(paths, false));
  last = hash.catch(() => undefined);
  return hash;
});
