/** Entry of the worker thread that searches the chats. It answers each task once, unless the task was cancelled. */
import { parentPort } from 'node:worker_threads';
import type { FromSearchWorker, ToSearchWorker } from '../shared/chatSearch';
import { toErrorPayload } from '../shared/errors';
import { Searcher } from './searcher';

const searcher = new Searcher();
const running = new Map<number, AbortController>();

function tell(message: FromSearchWorker): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', (message: ToSearchWorker) => {
  if (message.type === 'cancel') return running.get(message.id)?.abort();
  const { task } = message;
  const stop = new AbortController();
  running.set(task.id, stop);
  searcher
    .search(task, stop.signal)
    .then(
      (answer) => answer && tell({ id: task.id, answer }),
      (error: unknown) => tell({ id: task.id, error: toErrorPayload(error) }),
    )
    .finally(() => running.delete(task.id));
});
