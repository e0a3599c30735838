/**
 * PDFium, as WebAssembly in the thread that reads foreign files: it draws pages, for people and for OCR. pdf.js, which reads
 * the text, needs a canvas to draw on: there is none here, and a native one would be a library for each platform.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { init, type WrappedPdfiumModule } from '@embedpdf/pdfium';

// of PDFium's public header fpdfview.h
const wrongPassword = 4;
export const withAnnotations = 0x01;

/** An open PDF. The process ends with it, so what PDFium holds of it is not given back. */
export interface OpenPdf {
  pdfium: WrappedPdfiumModule;
  /** 0: PDFium cannot read the file */
  document: number;
  /** no password was given, or another one */
  locked: boolean;
}

/** `wasmPath`: `pdfium.wasm`. Rejects where a file cannot be read. */
export async function openPdf(wasmPath: string, path: string, password: string | null): Promise<OpenPdf> {
  const { buffer } = Uint8Array.from(await readFile(wasmPath));
  const pdfium = await init({ wasmBinary: buffer });
  pdfium.PDFiumExt_Init();
  const { place, bytes } = fileInMemory(pdfium, path);
  const document = pdfium.FPDF_LoadMemDocument(place, bytes, password ?? '');
  return { pdfium, document, locked: document === 0 && pdfium.FPDF_GetLastError() === wrongPassword };
}

/** The whole memory, as it is now: it is another array after it grew. Missing in PDFium's types. */
export function memoryOf({ pdfium }: WrappedPdfiumModule): Uint8Array {
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
