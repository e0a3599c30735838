/** Entry of the thread that takes the words out of one document, then ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorPayload } from '../../contract/errors';
import {
  type DocumentTask,
  type DocumentWorkMessage,
  type Extraction,
  sectionsPerSlice,
} from '../../contract/workerTasks';
import { extractDocument } from './extract';
import type { OnProgress } from './textSink';

const msBetweenReports = 50;

function post(message: DocumentWorkMessage): void {
  parentPort?.postMessage(message);
}

function reporter(): OnProgress {
  let last = Number.NEGATIVE_INFINITY;
  return (fraction, pages) => {
    const now = performance.now();
    if (now - last < msBetweenReports) return;
    last = now;
    post({ type: 'progress', fraction, pages: pages ?? null });
  };
}

function postAll({ sections, ...extraction }: Extraction): void {
  for (let at = 0; at < sections.length; at += sectionsPerSlice) {
    post({ type: 'sections', sections: sections.slice(at, at + sectionsPerSlice) });
  }
  post({ type: 'done', extraction });
}

extractDocument(workerData as DocumentTask, reporter()).then(postAll, (error: unknown) =>
  post({ type: 'failed', error: toErrorPayload(error) }),
);
