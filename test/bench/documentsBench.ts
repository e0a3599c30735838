/** Attaches each document of the bench through the service of the app: this thread has the part of the main process. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { DocumentJob } from '@/electron/contract/documents';
import { limits } from '@/electron/contract/limits';
import { DocumentService } from '@/electron/services/documents/documentService';
import { forkProcess } from '@/electron/services/engine/engineTransport';
import { makeDocx, paragraph } from '@/test/fixtures/documents/docx';
import { makePdf } from '@/test/fixtures/documents/pdf';

const resolutionMs = 1;
const [processFile = '', cMaps = '', ...wanted] = process.argv.slice(2);

// The documents, made here so that everybody measures the same ones.

const words =
  'the lamp stood on the northern wall and nobody who came from the harbour could say when it had last been lit'.split(
    ' ',
  );

/** A line of words that differs from the ones around it. */
function line(seed: number): string {
  return Array.from({ length: 14 }, (_, index) => words[(seed * 7 + index * (1 + (seed % 5))) % words.length]).join(
    ' ',
  );
}

function lines(count: number, first = 0): string[] {
  return Array.from({ length: count }, (_, index) => line(first + index));
}

/** `count` bytes of text in lines; every block of it is different. */
function text(count: number, lineOf: (seed: number) => string): Buffer {
  const block = Array.from({ length: 20_000 }, (_, index) => `${lineOf(index)}\n`).join('');
  const parts: string[] = [];
  for (let length = 0; length < count; length += block.length) parts.push(`Part ${parts.length}\n`, block);
  return Buffer.from(parts.join('')).subarray(0, count);
}

const cases: Record<string, { file: string; make: () => Buffer }> = {
  'PDF, 2,000 pages': {
    file: 'pages.pdf',
    make: () => makePdf(Array.from({ length: 2000 }, (_, page) => ({ lines: lines(45, page * 45) }))),
  },
  'text, 100 MB': { file: 'long.txt', make: () => text(100e6, line) },
  'CSV, 100 MB': { file: 'rows.csv', make: () => text(100e6, (seed) => `${seed},"${line(seed)}",${seed % 97}`) },
  'HTML, 20 MB': {
    file: 'page.html',
    make: () => text(20e6, (seed) => (seed % 50 === 0 ? `<h2>${seed}</h2>` : `<p>${line(seed)} &amp; more</p>`)),
  },
  'Markdown, 1,500,000 headings': { file: 'headings.md', make: () => Buffer.from('#\n'.repeat(1_500_000)) },
  'text, one line': { file: 'line.txt', make: () => Buffer.from('One line.') },
  'Word, 20,000 paragraphs': {
    file: 'report.docx',
    make: () => makeDocx(lines(20_000).map((one, index) => paragraph(one, index % 100 === 0 ? 'Heading 1' : ''))),
  },
};

interface Measured<T> {
  value: T;
  seconds: number;
  /** the longest time for which the event loop of this thread was held up */
  blockMs: number;
  /** the same without the time in which other programs had the processor; null where the system does not tell */
  busyMs: number | null;
}

/** Nanoseconds that this thread has been on a processor (Linux: proc(5), schedstat). */
function processorTime(): number | null {
  try {
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]);
  } catch {
    return null;
  }
}

/** Looks at every turn of the event loop how much of the processor the turn took. */
function watchProcessor(): () => number | null {
  let last = processorTime();
  let longest = 0;
  const timer = setInterval(() => {
    const now = processorTime();
    if (now !== null && last !== null) longest = Math.max(longest, now - last);
    last = now;
  }, resolutionMs);
  return () => {
    clearInterval(timer);
    return last === null ? null : longest / 1e6;
  };
}

async function measured<T>(task: () => Promise<T>): Promise<Measured<T>> {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  // what came before must not count
  await new Promise((resolve) => setTimeout(resolve, 200));
  delay.enable();
  const watched = watchProcessor();
  const start = performance.now();
  const value = await task();
  const seconds = (performance.now() - start) / 1000;
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  return { value, seconds, blockMs: Math.max(0, delay.max / 1e6 - resolutionMs), busyMs: watched() };
}

async function attach(service: DocumentService, path: string): Promise<DocumentJob> {
  const [id] = service.addPaths([path]);
  return new Promise((resolve) => {
    const stop = service.jobs.changed.on((jobs) => {
      const job = jobs.find((one) => one.id === id);
      if (!job || job.state === 'waiting' || job.state === 'reading') return;
      stop();
      resolve(job);
    });
  });
}

function report(what: string, { seconds, blockMs, busyMs }: Measured<unknown>, detail: string): void {
  const columns = [
    `${seconds.toFixed(2)} s`,
    `${blockMs.toFixed(1)} ms`,
    busyMs === null ? '-' : `${busyMs.toFixed(1)} ms`,
  ];
  console.log(`${what.padEnd(26)} ${columns.map((column) => column.padStart(10)).join(' ')}  ${detail}`);
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(os.tmpdir(), 'concertina-bench-'));
  const log = { info: console.log, warn: console.warn, error: console.error };
  const openProcess = () => forkProcess(processFile);
  // each of its documents has text: nothing is there for OCR
  const folders = { cMaps, ocr: '', languages: '' };
  const service = new DocumentService({ folder: join(folder, 'documents'), openProcess, folders, log });
  await service.load();
  console.log(
    'longest block of the event loop: by the clock, and of the processor (what other programs took left out)',
  );
  console.log(
    `Node ${process.versions.node}, ${os.cpus()[0]?.model}, ${os.cpus().length} processors, load ${os.loadavg()[0]?.toFixed(1)}`,
  );
  report('nothing, 5 s', await measured(() => new Promise((resolve) => setTimeout(resolve, 5000))), 'for comparison');
  try {
    for (const [name, { file, make }] of Object.entries(cases)) {
      if (wanted.length > 0 && !wanted.some((one) => name.toLowerCase().includes(one.toLowerCase()))) continue;
      const path = join(folder, file);
      writeFileSync(path, make());
      await measureOne(service, name, path);
      rmSync(path);
    }
  } finally {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureOne(service: DocumentService, name: string, path: string): Promise<void> {
  const first = await measured(() => attach(service, path));
  const { document, error } = first.value;
  if (!document) throw new Error(`${name}: ${error?.message}`);
  const size = `${(document.bytes / 1e6).toFixed(1)} MB`;
  report(name, first, `${size}, ${document.characters} characters, ${document.sections} sections`);
  report('  attached again', await measured(() => attach(service, path)), 'found by its content');
  const middle = Math.floor(document.characters / 2);
  const slice = await measured(() => service.store.text(document.id, middle, middle + limits.maxDocumentSlice));
  report('  a slice of its text', slice, `${slice.value.length} characters`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
