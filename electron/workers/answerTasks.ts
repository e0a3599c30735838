/** The thread's end of a `TaskThread`. Tasks run side by side as far as they wait for something. */
import { parentPort } from 'node:worker_threads';
import { toErrorPayload } from '../contract/errors';
import type { FromThread, ToThread } from '../contract/workerTasks';

/** what is done by then needs no progress */
const quietMs = 400;
const reportEveryMs = 200;

/** `work` answers, or null once `signal` fired; it may report as often as it likes how much is done. */
export function answerTasks<Task, Answer>(
  work: (task: Task, signal: AbortSignal, report: (fraction: number) => void) => Promise<Answer | null>,
): void {
  const running = new Map<number, AbortController>();
  const post = (message: FromThread<Answer>) => parentPort?.postMessage(message);

  parentPort?.on('message', (message: ToThread<Task>) => {
    const { id } = message;
    if ('cancel' in message) return running.get(id)?.abort();
    const stop = new AbortController();
    running.set(id, stop);
    let next = performance.now() + quietMs;
    const report = (fraction: number) => {
      if (performance.now() < next) return;
      next = performance.now() + reportEveryMs;
      post({ id, fraction });
    };
    work(message.task, stop.signal, report)
      .then(
        (answer) => answer !== null && post({ id, answer }),
        (error: unknown) => post({ id, error: toErrorPayload(error) }),
      )
      .finally(() => running.delete(id));
  });
}
