/** PDF, page by page, through pdf.js. */

import { readFileSync } from 'node:fs';
import 'pdfjs-dist/legacy/build/pdf.worker.mjs';
import { join } from 'node:path';
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { ConcertinaError, shownText } from '../../contract/errors';
import { pageLabel } from '../../contract/lib/pages';
import { limits } from '../../contract/limits';
import { PdfLayout } from './pdfLayout';
import {
  damaged,
  type Extractor,
  locked,
  type OnProgress,
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
    ...surroundings(source.cMapFolder),
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

async function readPages(pdf: PDFDocumentProxy, { name }: Source, sink: TextSink, onProgress: OnProgress, log: PdfLog) {
  const all = pdf.numPages;
  if (all > limits.maxDocumentPages) throw tooManyPages(name, all);
  // a tree of them that is damaged costs nothing but the names
  const labels = await pdf.getPageLabels().catch(() => null);
  const sections = new SectionList();
  const layout = new PdfLayout();
  const empty: number[] = [];
  const unreadable: number[] = [];
  for (let number = 1; number <= all; number++) {
    if (sink.length > 0) sink.append('\n\n');
    sections.begin('page', pageLabel(number, labels && printedOn(labels[number - 1])), 0, sink.length);
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
    `${name} has ${pages.toLocaleString('en')} pages; ${most} is the most that can be attached.`,
    'Split it and attach the parts that you need.',
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
  unreadable: number[];
  /** how many more the file says it has */
  missing: number;
  /** share of letters that the fonts of the file leave unnamed, 0 to 1 */
  unknownLetters: number;
}

export function pageNotices({ empty, unreadable, missing, unknownLetters }: PageFindings): string[] {
  const notices: string[] = [];
  if (empty.length > 0) {
    const [verb, what] =
      empty.length === 1 ? ['holds', 'it is a scanned picture'] : ['hold', 'they are scanned pictures'];
    notices.push(`${pagesNamed(empty)} ${verb} no text: ${what} or empty. Concertina cannot read pictures.`);
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

const mostRanges = 8;

/** "Page 3", "Pages 3 to 7", "Pages 1, 3 to 7 and 9" */
export function pagesNamed(pages: number[]): string {
  const ranges: [number, number][] = [];
  for (const page of pages) {
    const last = ranges.at(-1);
    if (last && last[1] === page - 1) last[1] = page;
    else ranges.push([page, page]);
  }
  const named = ranges.slice(0, mostRanges).map(([first, last]) => nameOf(first, last));
  if (ranges.length > mostRanges) named.push(`${ranges.length - mostRanges} more`);
  const list = named.length > 1 ? `${named.slice(0, -1).join(', ')} and ${named.at(-1)}` : named.join('');
  return `${pages.length === 1 ? 'Page' : 'Pages'} ${list}`;
}

function nameOf(first: number, last: number): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first}, ${last}` : `${first} to ${last}`;
}
