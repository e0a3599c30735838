/** Entry of the worker thread that finds passages of documents. It answers each task once, in their order. */
import { parentPort } from 'node:worker_threads';
import { toErrorPayload } from '../shared/errors';
import type { FromPassageWorker, PassageTask } from '../shared/passageWork';
import { PassageIndexes } from './passageIndexes';

const indexes = new PassageIndexes();

parentPort?.on('message', (task: PassageTask) => parentPort?.postMessage(answer(task)));

function answer(task: PassageTask): FromPassageWorker {
  try {
    return { id: task.id, passages: indexes.search(task) };
  } catch (error) {
    return { id: task.id, error: toErrorPayload(error) };
  }
}
