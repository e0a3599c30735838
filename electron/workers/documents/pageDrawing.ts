/**
 * Pictures of the pages of a PDF: for people, with the words marked that they came for, and for OCR. PDFium draws them, as
 * WebAssembly in the thread that reads foreign files. pdf.js, which reads the text, needs a canvas to draw on: there is none
 * here, and a native one would be a library for each platform.
 */

import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import { QuotedText } from '../../contract/lib/quotes';
import type { PageMark, PagePicture, PageTask } from '../../contract/workerTasks';
import { damaged, locked } from './textSink';

// of PDFium's public header fpdfview.h
const wrongPassword = 4;
const withAnnotations = 0x01;
/** of a bitmap, the flag with which it is drawn, and its bytes for a dot */
const inColor = { format: 4, flag: 0x10, bytes: 4 };
const inGray = { format: 1, flag: 0x08, bytes: 1 };
const white = 0xffffffff;
/** a plan, or a page that is enlarged a lot, is drawn coarser: the pixels alone take 4 bytes each, twice */
const mostPixels = 12e6;

const pointsPerInch = 72;
/** what Tesseract's networks were trained with */
const scanDpi = 300;
/** a larger page, like a plan, is drawn with fewer dots to the inch */
const mostScanPixels = 20e6;
/** darker than this, of 255, is ink, or the noise of a scanner: one page of paper has none of it */
const paper = 250;

interface Drawing {
  width: number;
  height: number;
  /** red, green, blue and 255, or one byte of gray, row by row; PDFium's own memory */
  pixels: Uint8Array;
}

/** What OCR reads. */
export interface PageScan {
  /** PGM, 8 bits */
  file: Uint8Array;
  dpi: number;
}

/** One open PDF. The process ends with it, so what PDFium holds of the document is not given back. */
export class PageDrawing {
  private constructor(
    private readonly pdfium: WrappedPdfiumModule,
    private readonly document: number,
    /** for the values of forms */
    private readonly form: number,
  ) {}

  /** `password`: null where none was given. Rejects with a `ConcertinaError`. */
  static async open(
    { path, name, pdfiumPath }: Pick<PageTask, 'path' | 'name' | 'pdfiumPath'>,
    password: string | null = null,
  ): Promise<PageDrawing> {
    const { buffer } = Uint8Array.from(readFileSync(pdfiumPath));
    const pdfium = await init({ wasmBinary: buffer });
    pdfium.PDFiumExt_Init();
    const { place, bytes } = fileInMemory(pdfium, path);
    const document = pdfium.FPDF_LoadMemDocument(place, bytes, password ?? '');
    if (document === 0 && pdfium.FPDF_GetLastError() === wrongPassword) throw locked(name, password !== null);
    if (document === 0) throw damaged(name, 'its pages cannot be drawn');
    const form = pdfium.PDFiumExt_InitFormFillEnvironment(document, pdfium.PDFiumExt_OpenFormFillInfo());
    return new PageDrawing(pdfium, document, form);
  }

  /** @param sheet its number, from 1. @param width in pixels, when the page is not too large for it */
  page({ sheet, width, words, name }: Pick<PageTask, 'sheet' | 'width' | 'words' | 'name'>): PagePicture {
    const { pdfium, document } = this;
    const page = pdfium.FPDF_LoadPage(document, sheet - 1);
    if (page === 0) throw undrawable(name, sheet);
    const [across, down] = this.pointsOf(page);
    const scale = Math.min(width / across, Math.sqrt(mostPixels / (across * down)));
    const size = [across, down].map((one) => Math.max(1, Math.round(one * scale)));
    const picture = this.draw(page, size[0] ?? 1, size[1] ?? 1, inColor, (drawing) => {
      return { png: pngOf(drawing), width: drawing.width, height: drawing.height, marks: this.marks(page, words) };
    });
    if (!picture) throw undrawable(name, sheet);
    return picture;
  }

  /** A page as a scanner gives it. @param sheet its number, from 1. @returns null: it cannot be drawn */
  scan(sheet: number): PageScan | 'blank' | null {
    const { pdfium, document } = this;
    const page = pdfium.FPDF_LoadPage(document, sheet - 1);
    if (page === 0) return null;
    const [across, down] = this.pointsOf(page);
    const scale = Math.min(scanDpi / pointsPerInch, Math.sqrt(mostScanPixels / (across * down)));
    // PDFium begins lines at multiples of four bytes
    const width = 4 * Math.ceil((across * scale) / 4);
    const scan = this.draw(page, width, Math.ceil(down * scale), inGray, ({ pixels, height }) => {
      if (pixels.every((dot) => dot >= paper)) return 'blank';
      const file = Buffer.concat([Buffer.from(`P5\n${width} ${height}\n255\n`), pixels]);
      return { file, dpi: Math.round(scale * pointsPerInch) };
    });
    // a document may have a thousand
    pdfium.FPDF_ClosePage(page);
    return scan;
  }

  private pointsOf(page: number): [across: number, down: number] {
    return [this.pdfium.FPDF_GetPageWidthF(page), this.pdfium.FPDF_GetPageHeightF(page)];
  }

  /** `use`: takes what it wants of the pixels, which are gone afterwards. */
  private draw<T>(
    page: number,
    width: number,
    height: number,
    { format, flag, bytes }: typeof inColor,
    use: (drawing: Drawing) => T,
  ): T | null {
    const { pdfium, form } = this;
    const bitmap = pdfium.FPDFBitmap_CreateEx(width, height, format, 0, 0);
    if (bitmap === 0) return null;
    const flags = withAnnotations | flag;
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, white);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags);
    pdfium.FPDF_FFLDraw(form, bitmap, page, 0, 0, width, height, 0, flags);
    const start = pdfium.FPDFBitmap_GetBuffer(bitmap);
    const used = use({ width, height, pixels: memoryOf(pdfium).subarray(start, start + width * height * bytes) });
    pdfium.FPDFBitmap_Destroy(bitmap);
    return used;
  }

  /** Where the words stand; when they are not there as a whole, where their lines do. */
  private marks(page: number, words: string): PageMark[] {
    const { pdfium } = this;
    const textPage = words === '' ? 0 : pdfium.FPDFText_LoadPage(page);
    if (textPage === 0) return [];
    const count = Math.max(0, pdfium.FPDFText_CountChars(textPage));
    let text = '';
    // PDFium counts characters, not UTF-16 units
    const characters: number[] = [];
    for (let index = 0; index < count; index++) {
      const code = pdfium.FPDFText_GetUnicode(textPage, index);
      // also the sign that it puts at the end of a line where a word is broken
      const character = code < 0x20 ? ' ' : String.fromCodePoint(Math.min(code, 0x10ffff));
      for (const _ of character.split('')) characters.push(index);
      text += character;
    }
    const searched = new QuotedText(text);
    const whole = searched.find(words);
    const found = whole ? [whole] : words.split('\n').flatMap((line) => (isTelling(line) && searched.find(line)) || []);
    return found.flatMap(({ start, end }) => {
      const first = characters[start] ?? 0;
      return this.rectangles(page, textPage, first, (characters[end - 1] ?? first) - first + 1);
    });
  }

  /** Of characters of a page, line by line, in shares of the page. */
  private rectangles(page: number, textPage: number, first: number, count: number): PageMark[] {
    const { pdfium } = this;
    const { wasmExports, getValue } = pdfium.pdfium;
    const lines = Math.min(mostMarks, pdfium.FPDFText_CountRects(textPage, first, count));
    const room = wasmExports.malloc(32);
    const doubles = [room, room + 8, room + 16, room + 24] as const;
    return Array.from({ length: Math.max(0, lines) }, (_, line) => {
      pdfium.FPDFText_GetRect(textPage, line, ...doubles);
      const [left = 0, top = 0, right = 0, bottom = 0] = doubles.map((at) => getValue(at, 'double') as number);
      const corners = [this.shareOf(page, left, top, room), this.shareOf(page, right, bottom, room)];
      // a page may be turned
      const [x0 = 0, x1 = 0] = corners.map(([x]) => x).sort((a, b) => a - b);
      const [y0 = 0, y1 = 0] = corners.map(([, y]) => y).sort((a, b) => a - b);
      return { x: x0, y: y0, width: x1 - x0, height: y1 - y0 };
    });
  }

  /** Of a place in points, which count from the lower left of the page as it is stored. */
  private shareOf(page: number, x: number, y: number, room: number): [number, number] {
    const { pdfium } = this;
    pdfium.FPDF_PageToDevice(page, 0, 0, fine, fine, 0, x, y, room, room + 4);
    const share = (at: number) => Math.min(1, Math.max(0, pdfium.pdfium.getValue(at, 'i32') / fine));
    return [share(room), share(room + 4)];
  }
}

/** The whole memory, as it is now: it is another array after it grew. Missing in PDFium's types. */
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

/** PDFium rounds places to pixels of a page so large. */
const fine = 100_000;
const mostMarks = 200;

/** A shorter line stands on a page by chance. */
function isTelling(line: string): boolean {
  return line.replace(/\W/g, '').length > 11 || line.trim().length > 15;
}

function undrawable(name: string, sheet: number): ConcertinaError {
  return new ConcertinaError(
    'document-invalid',
    msg`Sheet ${{ sheet }} of ${{ name }} cannot be drawn: the file is damaged there.`,
    msg`Its text is in the tab Text.`,
  );
}

// PNG (ISO/IEC 15948): of all that it can, what a page needs.

const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const eightBitRedGreenBlueAlpha = [8, 6, 0, 0, 0];
/** pages are mostly paper: more costs time and saves little */
const deflateLevel = 3;

function pngOf({ width, height, pixels }: Drawing): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set(eightBitRedGreenBlueAlpha, 8);
  const row = width * 4;
  // each row begins with how it was filtered: 0 is not at all
  const rows = Buffer.alloc(height * (row + 1));
  for (let y = 0; y < height; y++) rows.set(pixels.subarray(y * row, (y + 1) * row), y * (row + 1) + 1);
  const data = deflateSync(rows, { level: deflateLevel });
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
