/**
 * Recognition of text in pictures (OCR): Tesseract as WebAssembly in this thread, with the data of its languages from
 * files. Nothing is fetched.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { msg } from '@lingui/core/runtime-macro';
import openTesseract, { type Tesseract, type TesseractApi } from 'tesseract.js-core/tesseract-core-simd-lstm.js';
import { ConcertinaError } from '../../contract/errors';
import { pageLabel } from '../../contract/lib/pages';
import type { ReadingFolders } from '../../contract/workerTasks';
import { PageDrawing } from './pageDrawing';
import { damaged, type Extractor, pagesNamed, SectionList, type Source } from './textSink';

/** `oem` of Tesseract: its neural network alone, as the data here has it */
const lstmOnly = 1;
/** `psm` of Tesseract: columns, tables and headings are found, a page stands upright */
const automaticLayout = 3;
/** below this mean confidence, in percent, most words of a page are wrong, often because its language is another */
const unsureBelow = 60;
const endOfData = /\.traineddata(?:\.gz)?$/;

export interface Recognized {
  /** '': none was found */
  text: string;
  /** most of its words may be wrong */
  unsure: boolean;
}

export class TextRecognition {
  private constructor(
    private readonly module: Tesseract,
    private readonly api: TesseractApi,
    /** Tesseract's names of them, English first: "eng", "deu" */
    readonly languages: readonly string[],
    private readonly languageFolder: string,
    private readonly progress: { report: (share: number) => void },
  ) {}

  static async open(folders: ReadingFolders): Promise<TextRecognition> {
    const progress = { report: (_share: number) => {} };
    const module = await openTesseract({
      wasmBinary: readFileSync(join(folders.ocr, 'tesseract.wasm')),
      TesseractProgress: (percent) => progress.report(percent / 100),
      // what it says there is for its developers
      print: () => {},
      printErr: () => {},
    });
    const files = [...dataIn(folders.ocr), ...dataIn(folders.languages)];
    const languages = [...new Set(files.map((file) => basename(file).replace(endOfData, '')))];
    for (const file of files) {
      const data = readFileSync(file);
      module.FS.writeFile(basename(file).replace(/\.gz$/, ''), file.endsWith('.gz') ? gunzipSync(data) : data);
    }
    const api = new module.TessBaseAPI();
    // of several it says nothing when one cannot be used
    const unusable = languages.length > 1 && languages.find((one) => api.Init(null, one, lstmOnly) !== 0);
    if (unusable) throw notUsable(unusable, folders.languages);
    if (api.Init(null, languages.join('+'), lstmOnly) !== 0) throw new Error('Tesseract does not start');
    api.SetPageSegMode(automaticLayout);
    return new TextRecognition(module, api, languages, folders.languages, progress);
  }

  /**
   * @param picture the bytes of a file: PNG, JPEG, WebP, TIFF, BMP, GIF or PNM
   * @param dpi null: what the file says, or else Tesseract guesses
   * @returns null: no decoder here reads this picture
   */
  read(picture: Uint8Array, dpi: number | null, onShare: (share: number) => void): Recognized | null {
    const { module, api } = this;
    module.FS.writeFile('/input', picture);
    if (api.SetImageFile(orientationOf(picture), 0) !== 0) return null;
    if (dpi !== null) api.SetSourceResolution(dpi);
    this.progress.report = onShare;
    if (api.Recognize(null) !== 0) return null;
    const text = api.GetUTF8Text().trim();
    const confidence = api.MeanTextConf();
    api.Clear();
    return /[\p{L}\p{N}]/u.test(text) ? { text, unsure: confidence < unsureBelow } : { text: '', unsure: false };
  }

  /** What a person should know about pages that were hard to read. */
  unsureNotice(pages: number[]): string[] {
    if (pages.length === 0) return [];
    const read = this.languages.length === 1 ? 'English' : `these languages: ${this.languages.join(', ')}`;
    return [
      `${pagesNamed(pages)}: OCR was unsure of most words. It reads ${read}. For another language, put Tesseract's ` +
        `.traineddata file of it into ${this.languageFolder} and attach the file again.`,
    ];
  }
}

function dataIn(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => endOfData.test(name));
    return names.sort().map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function notUsable(language: string, folder: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`OCR cannot use the data of the language "${{ language }}" in ${{ folder }}.`,
    msg`Take its file out of that folder, or get it again: only data with a neural network (LSTM) works.`,
  );
}

/** How a camera was held: the tag 0x0112 of Exif as a short, in either order of bytes; 1 to 8. */
function orientationOf(picture: Uint8Array): number {
  const head = Buffer.from(picture.buffer, picture.byteOffset, Math.min(4096, picture.byteLength));
  const big = head.indexOf('011200030000000100', 'hex');
  const little = head.indexOf('1201030001000000', 'hex');
  const found = big >= 0 ? head[big + 9] : little >= 0 ? head[little + 8] : 1;
  return found && found <= 8 ? found : 1;
}

// Pages of a PDF without text.

export class ScannedPages {
  /** numbers of those that were read by OCR and gave text */
  readonly read: number[] = [];
  readonly unsure: number[] = [];
  /** pages that OCR was asked to read: those that are not blank */
  tried = 0;

  private constructor(
    /** null: PDFium cannot read this file, of which pdf.js has read the text */
    private readonly drawing: PageDrawing | null,
    private readonly recognition: TextRecognition,
  ) {}

  static async open(source: Source): Promise<ScannedPages> {
    const pdfiumPath = join(source.folders.ocr, 'pdfium.wasm');
    const drawing = await PageDrawing.open({ ...source, pdfiumPath }, source.password).catch((error: unknown) => {
      if (error instanceof ConcertinaError) return null;
      throw error;
    });
    return new ScannedPages(drawing, await TextRecognition.open(source.folders));
  }

  /** @returns the text of the page with this number, from 1; '': OCR found none; null: nothing is on the page */
  text(page: number, onShare: (share: number) => void): string | null {
    const picture = this.drawing?.scan(page) ?? null;
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

// Pictures that are attached as documents.

/** Several pictures of one TIFF file are its pages. */
export const extractPicture: Extractor = async (source, sink, onProgress) => {
  const bytes = readFileSync(source.path);
  const recognition = await TextRecognition.open(source.folders);
  const places = isTiff(bytes) ? tiffPictures(bytes) : [0];
  const all = places.length;
  const sections = new SectionList();
  const unsure: number[] = [];
  for (const [index, place] of places.entries()) {
    const number = index + 1;
    if (sink.length > 0) sink.append('\n\n');
    if (all > 1) sections.begin('page', pageLabel(number, null), 0, sink.length, true);
    else sections.begin('lines', 'Picture', 0, 0, true);
    const report = (share: number) => onProgress((index + share) / all, { done: index, all, ocr: number });
    report(0);
    const found = recognition.read(isTiff(bytes) ? tiffFrom(bytes, place) : bytes, null, report);
    if (!found) throw unknownPicture(source.name);
    if (found.unsure) unsure.push(number);
    sink.append(found.text);
  }
  if (sink.isBlank) throw withoutWords(source.name);
  const what = all === 1 ? 'Text read from the picture by OCR' : `Text of ${all} pictures read by OCR`;
  return {
    pages: all === 1 ? null : all,
    sections: sections.finish(sink.length),
    notices: [`${what}; it can hold errors.`, ...recognition.unsureNotice(unsure)],
  };
};

function unknownPicture(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is damaged, or packed in a way that OCR does not know.`,
    msg`Open it in another program, save it as PNG or PDF and attach that.`,
  );
}

function withoutWords(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is a picture in which OCR found no text.`,
    msg`Attach a sharper picture, upright and close to the page, or a file with text.`,
  );
}

const mostPictures = 1000;

function isTiff(bytes: Buffer): boolean {
  return /^(?:II\*\0|MM\0\*)/.test(bytes.toString('latin1', 0, 4));
}

/** Places of the directories of a TIFF file (TIFF 6.0, section 2), one for each picture. */
function tiffPictures(bytes: Buffer): number[] {
  const places = new Set<number>();
  const little = bytes[0] === 0x49;
  const short = (at: number) => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const long = (at: number) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  try {
    for (let at = long(4); at !== 0 && !places.has(at); at = long(at + 2 + 12 * short(at))) {
      if (places.size === mostPictures) break;
      places.add(at);
    }
  } catch (error) {
    if (places.size === 0) throw damaged('This TIFF file', error);
  }
  return [...places];
}

/** The file with the picture of this directory as its first one, which is the one that is read. */
function tiffFrom(bytes: Buffer, place: number): Buffer {
  if (bytes[0] === 0x49) bytes.writeUInt32LE(place, 4);
  else bytes.writeUInt32BE(place, 4);
  return bytes;
}
