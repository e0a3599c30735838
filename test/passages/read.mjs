// The manuals as the app reads them: got where they are missing, and their words taken out of the PDF.

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundleForNode, copyOcrFiles } from '../../electron/build.mjs';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { fetchManuals, manuals } from './fetch.mjs';

export const FOLDER = path.join(BUILD, 'passages');

/**
 * `sections`: the pages, from and to in UTF-16 units of `text`, which is what the file at `textPath` holds.
 * @returns {Promise<(import('./fetch.mjs').Manual & {textPath: string, text: string, sections: {start: number, end: number}[]})[]>}
 */
export async function readManuals() {
  await fetchManuals();
  await bundleForNode('extract', 'electron/workers/documents/extract.ts', FOLDER);
  // pdf.js tells there that it cannot draw
  console.warn = () => {};
  const { extractDocument } = createRequire(import.meta.url)(path.join(FOLDER, 'extract.cjs'));
  const ocr = path.join(FOLDER, 'ocr');
  copyOcrFiles(ocr);
  const folders = { cMaps: path.join(ROOT, 'node_modules', 'pdfjs-dist', 'cmaps'), ocr, languages: ocr };
  const read = [];
  for (const manual of manuals()) {
    const { name, pdf } = manual;
    const textPath = path.join(FOLDER, `${name}.txt`);
    fs.rmSync(textPath, { force: true });
    const task = { path: pdf, name, kind: 'pdf', textPath, folders, password: null };
    const { sections } = await extractDocument(task, () => {});
    read.push({ ...manual, textPath, text: fs.readFileSync(textPath, 'utf8'), sections });
  }
  return read;
}
