/**
 * Entry of the process that reads one document, or draws one of its pages. A thread does the reading; this one, which stays free whatever the thread
 * is busy with, passes on what it says, watches what it costs and ends the process when that is too much.
 */
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type DocumentOrder, type DocumentWorkMessage, documentExits } from '../../contract/workerTasks';
import { openParentPort } from '../parentPort';
import { watchCost } from './cost';

const parent = openParentPort();

parent.onMessage((message) => read(message as DocumentOrder));

function read({ task, limits }: DocumentOrder): void {
  const reader = new Worker(join(__dirname, 'documentReader.cjs'), {
    workerData: task,
    // nothing of ours is for a library that reads foreign files
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
  });
  // pdf.js tells there what it cannot draw
  for (const stream of [reader.stdout, reader.stderr]) stream.resume();
  const cost = watchCost(limits, (exceeded) => process.exit(documentExits[exceeded]));
  let ended = false;

  function report(message: DocumentWorkMessage): void {
    if (ended) return;
    ended = message.type !== 'progress' && message.type !== 'sections';
    cost.progressed(message.type === 'progress' ? message.pages?.ocr : undefined);
    // the parent ends this process when it has heard the last one
    parent.send(message);
  }

  reader.on('message', report);
  reader.on('error', (error: Error & { code?: unknown }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') process.exit(documentExits.memory);
    report({ type: 'crashed', reason: error.message });
  });
  reader.on('exit', (code) => report({ type: 'crashed', reason: `exit code ${code}` }));
}
