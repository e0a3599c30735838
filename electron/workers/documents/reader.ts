/** Entry of the thread that takes the words out of one document, or draws one of its pages, then ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { toErrorPayload } from '../../contract/errors';
import {
  type DocumentTask,
  type DocumentWorkMessage,
  type Extraction,
  type PageTask,
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
  let lastPage: number | undefined;
  return (fraction, pages) => {
    const now = performance.now();
    // each page that OCR begins has time of its own, which is counted from this report on
    if (now - last < msBetweenReports && pages?.ocr === lastPage) return;
    last = now;
    lastPage = pages?.ocr;
    post({ type: 'progress', fraction, pages: pages ?? null });
  };
}

function postAll({ sections, ...extraction }: Extraction): void {
  for (let at = 0; at < sections.length; at += sectionsPerSlice) {
    post({ type: 'sections', sections: sections.slice(at, at + sectionsPerSlice) });
  }
  post({ type: 'done', extraction });
}

/** PDFium is started only when a page is drawn. */
async function draw(task: PageTask): Promise<void> {
  const { PageDrawing } = await import('./pageDrawing');
  const drawing = await PageDrawing.open(task);
  post({ type: 'drawn', picture: drawing.page(task) });
}

function work(task: DocumentTask | PageTask): Promise<void> {
  return 'sheet' in task ? draw(task) : extractDocument(task, reporter()).then(postAll);
}

work(workerData as DocumentTask | PageTask).catch((error: unknown) =>
  post({ type: 'failed', error: toErrorPayload(error) }),
);
