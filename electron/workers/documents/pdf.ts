/** PDF, page by page, through pdf.js. */
import { readFileSync } from 'node:fs';
import 'pdfjs-dist/legacy/build/pdf.worker.mjs';
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { Extractor, OnProgress, Source } from './extractor';
import { damaged, locked, withoutText } from './failures';
import { surroundings } from './pdfFiles';
import { PdfLayout } from './pdfLayout';
import { PdfLog } from './pdfLog';
import { pageNotices } from './pdfNotices';
import { SectionList } from './sections';
import type { TextSink } from './textSink';

/** pdf.js keeps fonts of every page it has seen until it is told to let go */
const pagesBetweenCleanups = 100;
const alsoWarnings = 1;

export const extractPdf: Extractor = async (source, sink, onProgress) => {
  const { buffer, byteOffset, byteLength } = readFileSync(source.path);
  const log = new PdfLog();
  const task = getDocument({
    // as it is: pdf.js takes the memory of a large file over without a copy
    data: new Uint8Array(buffer, byteOffset, byteLength),
    verbosity: alsoWarnings,
    ...surroundings(source.cMapFolder),
  });
  try {
    const pdf = await task.promise.catch((error: unknown) => {
      throw isAboutPassword(error) ? locked(source.name) : damaged(source.name, error);
    });
    return await readPages(pdf, source, sink, onProgress, log);
  } finally {
    await task.destroy();
    log.close();
  }
};

async function readPages(pdf: PDFDocumentProxy, { name }: Source, sink: TextSink, onProgress: OnProgress, log: PdfLog) {
  const all = pdf.numPages;
  if (all > limits.maxDocumentPages) throw tooManyPages(name, all);
  const sections = new SectionList();
  const layout = new PdfLayout();
  const empty: number[] = [];
  const unreadable: number[] = [];
  for (let number = 1; number <= all; number++) {
    if (sink.length > 0) sink.append('\n\n');
    sections.begin('page', `Page ${number}`, 0, sink.length);
    const text = await readPage(pdf, number, layout).catch(() => null);
    if (text === null) unreadable.push(number);
    else if (text === '') empty.push(number);
    sink.append(text ?? '');
    if (number % pagesBetweenCleanups === 0) await pdf.cleanup();
    onProgress(number / all, { done: number, all });
  }
  if (unreadable.length === all) throw damaged(name, 'none of its pages can be read');
  if (empty.length + unreadable.length === all) throw withoutText(name, all);
  return {
    pages: all,
    sections: sections.finish(sink.length),
    notices: pageNotices({ empty, unreadable, unknownLetters: layout.unknownLetters, missing: log.missing(all) }),
  };
}

async function readPage(pdf: PDFDocumentProxy, number: number, layout: PdfLayout): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  return layout.text(items.filter((item) => 'str' in item));
}

function isAboutPassword(error: unknown): boolean {
  return error instanceof Error && error.name === 'PasswordException';
}

function tooManyPages(name: string, pages: number): ConcertinaError {
  const most = limits.maxDocumentPages.toLocaleString('en');
  return new ConcertinaError(
    'document-unsupported',
    `${name} has ${pages.toLocaleString('en')} pages; ${most} is the most that can be attached.`,
    'Split it and attach the parts that you need.',
  );
}
