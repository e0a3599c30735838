/** Pages of a PDF without text: PDFium draws them, and OCR reads the pictures. */
import { join } from 'node:path';
import type { WrappedPdfiumModule } from '@embedpdf/pdfium';
import { type Recognized, TextRecognition } from './ocr';
import { memoryOf, openPdf, withAnnotations } from './pdfium';
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
const inGray = 0x08;

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
    private readonly drawing: ScanDrawing,
    private readonly recognition: TextRecognition,
  ) {}

  static async open(source: Source): Promise<ScannedPages> {
    return new ScannedPages(await ScanDrawing.open(source), await TextRecognition.open(source.folders));
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

/** Gray pictures of the pages of one PDF, as Tesseract reads them. */
export class ScanDrawing {
  private constructor(
    private readonly pdfium: WrappedPdfiumModule,
    private readonly document: number,
  ) {}

  static async open({ path, password, folders }: Omit<Source, 'name'>): Promise<ScanDrawing> {
    const { pdfium, document } = await openPdf(join(folders.ocr, 'pdfium.wasm'), path, password);
    return new ScanDrawing(pdfium, document);
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
