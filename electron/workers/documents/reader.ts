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

function tell(message: DocumentWorkMessage): void {
  parentPort?.postMessage(message);
}

function reporter(): OnProgress {
  let last = Number.NEGATIVE_INFINITY;
  return (fraction, pages) => {
    const now = performance.now();
    if (now - last < msBetweenReports) return;
    last = now;
    tell({ type: 'progress', fraction, pages: pages ?? null });
  };
}

function tellAll({ sections, ...extraction }: Extraction): void {
  for (let at = 0; at < sections.length; at += sectionsPerSlice) {
    tell({ type: 'sections', sections: sections.slice(at, at + sectionsPerSlice) });
  }
  tell({ type: 'done', extraction });
}

extractDocument(workerData as DocumentTask, reporter()).then(tellAll, (error: unknown) =>
  tell({ type: 'failed', error: toErrorPayload(error) }),
);
