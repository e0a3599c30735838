/**
 * Pages of a PDF without text: PDFium, as WebAssembly in this thread, draws them, and OCR reads the pictures. pdf.js, which
 * reads the text of the others, needs a canvas to draw on: there is none here, and a native one would be a library for
 * each platform, open to foreign files.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { type Recognized, TextRecognition } from './ocr';
import type { Source } from './textSink';

/** what Tesseract's networks were trained with */
const usualDpi = 300;
const pointsPerInch = 72;
/** a larger page, like a plan, is drawn with fewer dots to the inch */
const mostPixels = 20e6;
/** darker than this, of 255, is ink, or the noise of a scanner: one page of paper has none of it */
const paper = 250;
// of PDFium's fpdfview.h
const grayBitmap = 1;
const [withAnnotations, inGray] = [0x01, 0x08];

export interface PagePicture {
  /** PGM, 8 bits */
  file: Uint8Array;
  dpi: number;
}

export class ScannedPages {
  /** numbers of those that were read by OCR and gave text */
  readonly read: number[] = [];
  readonly unsure: number[] = [];
  /** pages that OCR was asked to read: those that are not blank */
  tried = 0;

  private constructor(
    private readonly drawing: PageDrawing,
    private readonly recognition: TextRecognition,
  ) {}

  static async open(source: Source): Promise<ScannedPages> {
    return new ScannedPages(await PageDrawing.open(source), await TextRecognition.open(source.folders));
  }

  /** @returns the text of the page with this number, from 1; '': OCR found none; null: nothing is on the page */
  text(page: number, onShare: (share: number) => void): string | null {
    const picture = this.drawing.draw(page);
    if (picture === 'blank') return null;
    this.tried += 1;
    const found: Recognized | null = picture && this.recognition.read(picture.file, picture.dpi, onShare);
    if (!found || found.text === '') return '';
    this.read.push(page);
    if (found.unsure) this.unsure.push(page);
    return found.text;
  }

  /** `all`: pages of the document */
  notices(all: number): string[] {
    const { read, unsure } = this;
    if (read.length === 0) return [];
    const which =
      read.length === all
        ? all === 1
          ? 'its page'
          : `all ${format(all)} pages`
        : `${format(read.length)} of ${format(all)} pages`;
    return [`Text of ${which} read by OCR; it can hold errors.`, ...this.recognition.unsureNotice(unsure)];
  }
}

const format = (count: number) => count.toLocaleString('en');

/** Pictures of the pages of one PDF. The process ends with it, so nothing is given back. */
export class PageDrawing {
  private constructor(
    private readonly pdfium: WrappedPdfiumModule,
    private readonly document: number,
  ) {}

  static async open({ path, password, folders }: Omit<Source, 'name'>): Promise<PageDrawing> {
    const { buffer } = Uint8Array.from(await readFile(join(folders.ocr, 'pdfium.wasm')));
    const pdfium = await init({ wasmBinary: buffer });
    pdfium.PDFiumExt_Init();
    const { place, bytes } = fileInMemory(pdfium, path);
    return new PageDrawing(pdfium, pdfium.FPDF_LoadMemDocument(place, bytes, password ?? ''));
  }

  /** @returns null: it cannot be drawn */
  draw(page: number): PagePicture | 'blank' | null {
    const { pdfium } = this;
    const loaded = this.document && pdfium.FPDF_LoadPage(this.document, page - 1);
    if (!loaded) return null;
    try {
      return this.drawLoaded(loaded);
    } finally {
      pdfium.FPDF_ClosePage(loaded);
    }
  }

  private drawLoaded(page: number): PagePicture | 'blank' | null {
    const { pdfium } = this;
    const inches = [pdfium.FPDF_GetPageWidthF(page), pdfium.FPDF_GetPageHeightF(page)].map(
      (one) => one / pointsPerInch,
    );
    const [across = 0, down = 0] = inches;
    const dpi = Math.min(usualDpi, Math.sqrt(mostPixels / (across * down)));
    // lines of a bitmap begin at multiples of four bytes
    const width = 4 * Math.ceil((across * dpi) / 4);
    const height = Math.ceil(down * dpi);
    const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, grayBitmap, 0, 0);
    if (!bitmap) return null;
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xffffffff);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, withAnnotations | inGray);
    const start = pdfium.FPDFBitmap_GetBuffer(bitmap);
    const dots = memoryOf(pdfium).subarray(start, start + width * height);
    const blank = dots.every((dot) => dot >= paper);
    const file = blank ? null : Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), dots]);
    pdfium.FPDFBitmap_Destroy(bitmap);
    return file ? { file, dpi: Math.round(dpi) } : 'blank';
  }
}

/** Its types leave it out. It is another array after each growth. */
function memoryOf({ pdfium }: WrappedPdfiumModule): Uint8Array {
  return (pdfium as unknown as { HEAPU8: Uint8Array }).HEAPU8;
}

/** Straight into the memory of WebAssembly: one copy of a large file is enough. */
function fileInMemory(wrapped: WrappedPdfiumModule, path: string): { place: number; bytes: number } {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const place = wrapped.pdfium.wasmExports.malloc(size);
    const memory = memoryOf(wrapped);
    for (let done = 0; done < size; ) {
      const read = readSync(file, memory, place + done, size - done, done);
      if (read === 0) break;
      done += read;
    }
    return { place, bytes: size };
  } finally {
    closeSync(file);
  }
}
