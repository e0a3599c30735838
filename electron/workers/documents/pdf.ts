/** PDF, page by page, through pdf.js. Pages without text are pictures, which OCR reads (ocr.ts). */

import { readFileSync } from 'node:fs';
import { msg } from '@lingui/core/runtime-macro';
import 'pdfjs-dist/legacy/build/pdf.worker.mjs';
import { join } from 'node:path';
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { ConcertinaError, shownText } from '../../contract/errors';
import { pageLabel } from '../../contract/lib/pages';
import { limits } from '../../contract/limits';
import type { ScannedPages } from './ocr';
import { PdfLayout } from './pdfLayout';
import {
  damaged,
  type Extractor,
  locked,
  type OnProgress,
  pagesNamed,
  SectionList,
  type Source,
  type TextSink,
  withoutText,
} from './textSink';

/** pdf.js keeps fonts of every page it has seen until it is asked to release them */
const pagesBetweenCleanups = 100;
const alsoWarnings = 1;

export const extractPdf: Extractor = async (source, sink, onProgress) => {
  const { buffer, byteOffset, byteLength } = readFileSync(source.path);
  const log = new PdfLog();
  const task = getDocument({
    // as it is: pdf.js takes the memory of a large file over without a copy
    data: new Uint8Array(buffer, byteOffset, byteLength),
    verbosity: alsoWarnings,
    ...(source.password !== null && { password: source.password }),
    ...surroundings(source.folders.cMaps),
  });
  try {
    const pdf = await task.promise.catch((error: unknown) => {
      throw isAboutPassword(error) ? locked(source.name, source.password !== null) : damaged(source.name, error);
    });
    return await readPages(pdf, source, sink, onProgress, log);
  } finally {
    await task.destroy();
    log.close();
  }
};

async function readPages(pdf: PDFDocumentProxy, source: Source, sink: TextSink, onProgress: OnProgress, log: PdfLog) {
  const { name } = source;
  const all = pdf.numPages;
  if (all > limits.maxDocumentPages) throw tooManyPages(name, all);
  // a tree of them that is damaged costs nothing but the names
  const labels = await pdf.getPageLabels().catch(() => null);
  const sections = new SectionList();
  const layout = new PdfLayout();
  const empty: number[] = [];
  const unreadable: number[] = [];
  const unread: number[] = [];
  let withText = 0;
  // its libraries are started only when a page needs them
  let scanned: ScannedPages | null = null;
  for (let number = 1; number <= all; number++) {
    if (sink.length > 0) sink.append('\n\n');
    let text = await readPage(pdf, number, layout).catch(() => null);
    if (text === '' && (scanned?.tried ?? 0) < limits.maxOcrPages) {
      const report = (share: number) => onProgress((number - 1 + share) / all, { done: number - 1, all, ocr: number });
      report(0);
      scanned ??= await (await import('./ocr')).ScannedPages.open(source);
      text = scanned.text(number, report);
      if (text === '') empty.push(number);
      text ??= '';
    } else if (text === '') unread.push(number);
    else if (text === null) unreadable.push(number);
    const label = pageLabel(number, labels && printedOn(labels[number - 1]));
    sections.begin('page', label, 0, sink.length, scanned?.read.at(-1) === number || undefined);
    if (text) withText += 1;
    sink.append(text ?? '');
    if (number % pagesBetweenCleanups === 0) await pdf.cleanup();
    onProgress(number / all, { done: number, all });
  }
  if (unreadable.length === all) throw damaged(name, 'none of its pages can be read');
  if (withText === 0) throw withoutText(name, all);
  return {
    pages: all,
    sections: sections.finish(sink.length),
    notices: [
      ...(scanned?.notices(all) ?? []),
      ...pageNotices({ empty, unread, unreadable, unknownLetters: layout.unknownLetters, missing: log.missing(all) }),
    ],
  };
}

async function readPage(pdf: PDFDocumentProxy, number: number, layout: PdfLayout): Promise<string> {
  const page = await pdf.getPage(number);
  const { items } = await page.getTextContent();
  page.cleanup();
  return layout.text(items.filter((item) => 'str' in item));
}

/** A label as it can stand in a mark: short, and without what ends one. */
function printedOn(label = ''): string {
  return shownText(label.replace(/[[\]()]/g, ''), 20);
}

function isAboutPassword(error: unknown): boolean {
  return error instanceof Error && error.name === 'PasswordException';
}

function tooManyPages(name: string, pages: number): ConcertinaError {
  const most = limits.maxDocumentPages.toLocaleString('en');
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} has ${{ pages: pages }} pages; ${{ most }} is the most that can be attached.`,
    msg`Split it and attach the parts that you need.`,
  );
}

// What pdf.js asks of its surroundings, answered without a network, a canvas or fonts.

/**
 * The parts of `getDocument` that reach outside. `cMapFolder` holds the packed character maps (*.bcmap). Standard fonts
 * are refused: their widths and letters are built in, their outlines serve drawing only. So is WebAssembly, which
 * decodes pictures and computes colors.
 */
export function surroundings(cMapFolder: string) {
  class CharacterMaps {
    async fetch({ kind, filename }: { kind: string; filename: string }) {
      if (kind !== 'cMapUrl' || !/^[\w-]+\.bcmap$/.test(filename)) throw new Error(`There is no ${filename} here.`);
      return new Uint8Array(readFileSync(join(cMapFolder, filename)));
    }
  }
  return {
    BinaryDataFactory: CharacterMaps,
    CanvasFactory: Nothing,
    FilterFactory: Nothing,
    useWorkerFetch: false,
    useWasm: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    enableXfa: false,
  };
}

class Nothing {
  destroy(): void {}
}

/**
 * What pdf.js tells in its log and nowhere else: that the tree of pages breaks off, and how many pages it should have. It
 * then goes on with those that it finds. Nothing else of the log is of use to anyone, so it goes no further.
 */
const brokenTree = /invalid \/Pages tree \/Count: (\d+)/;

export class PdfLog {
  private readonly original = console.warn;
  private declared = 0;

  constructor() {
    console.warn = (text: unknown) => {
      this.declared ||= Number(brokenTree.exec(String(text))?.[1] ?? 0);
    };
  }

  /** Pages that the file names beyond those that were found. */
  missing(found: number): number {
    return Math.max(0, this.declared - found);
  }

  close(): void {
    console.warn = this.original;
  }
}

// Sentences about pages that gave no text, or text that may be wrong.

export interface PageFindings {
  /** numbers of pages, in order */
  empty: number[];
  /** without text, behind the most that OCR reads */
  unread: number[];
  unreadable: number[];
  /** how many more the file says it has */
  missing: number;
  /** share of letters that the fonts of the file leave unnamed, 0 to 1 */
  unknownLetters: number;
}

export function pageNotices({ empty, unread, unreadable, missing, unknownLetters }: PageFindings): string[] {
  const notices: string[] = [];
  if (empty.length > 0) {
    const [verb, whose] = empty.length === 1 ? ['holds', 'its picture'] : ['hold', 'their pictures'];
    notices.push(`${pagesNamed(empty)} ${verb} no text, and OCR found none in ${whose}.`);
  }
  if (unread.length > 0) {
    const most = limits.maxOcrPages.toLocaleString('en');
    notices.push(`${pagesNamed(unread)} left out: OCR reads at most ${most} pages of a document. Split the file.`);
  }
  if (unreadable.length > 0) notices.push(`${pagesNamed(unreadable)} could not be read: the file is damaged there.`);
  if (missing > 0) {
    const pages = missing === 1 ? 'page is' : 'pages are';
    notices.push(
      `${missing.toLocaleString('en')} ${pages} missing: the file is damaged. Page numbers behind the gap may be off.`,
    );
  }
  if (unknownLetters > 0.1) {
    const share = Math.round(unknownLetters * 100);
    notices.push(
      `The fonts of this file do not say which letters they draw: about ${share}% of the text is unreadable.`,
    );
  }
  return notices;
}
