/** Entry of the worker threads: one bundle for all of them, and `workerData` says which work a thread is for. */
import { workerData } from 'node:worker_threads';
import { SerialQueue } from '../contract/lib/serialQueue';
import type { HashTask, WorkerName } from '../contract/workerTasks';
import { answerTasks } from './answerTasks';
import { hashFiles } from './hashFiles';
import { readFiles } from './imports/readFiles';
import { PassageIndexes } from './passages/passageIndexes';
import { Searcher } from './searcher';

const start: Record<WorkerName, () => void> = {
  chatSearch() {
    const searcher = new Searcher();
    answerTasks(searcher.search.bind(searcher));
  },
  hashes() {
    const wholeFiles = new SerialQueue();
    // Whole files one after the other: the disk is no faster with two. A sample does not wait for them.
    answerTasks(({ paths, sample }: HashTask) => {
      const hash = () => hashFiles(paths, sample);
      return sample ? hash() : wholeFiles.run(hash);
    });
  },
  imports() {
    answerTasks(readFiles);
  },
  passages() {
    const indexes = new PassageIndexes();
    answerTasks(indexes.search.bind(indexes));
  },
};

start[workerData as WorkerName]();
