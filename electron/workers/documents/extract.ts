/** One document from its file to its text: chooses the extractor and turns what goes wrong into sentences. */

import { statSync } from 'node:fs';
import { msg } from '@lingui/core/runtime-macro';
import type { TextKind } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { DocumentTask, Extraction } from '../../contract/workerTasks';
import { extractHtml } from './htmlText';
import type { OfficeType } from './office';
import { extractCsv, extractLines, extractMarkdown } from './plainText';
import { damaged, type Extractor, empty, type OnProgress, TextSink, TooMuchTextError } from './textSink';

/** The large libraries are started only when a document needs them. */
const office =
  (type: OfficeType): Extractor =>
  async (...task) =>
    (await import('./office')).officeExtractor(type)(...task);

const extractors: Record<TextKind, Extractor> = {
  pdf: async (...task) => (await import('./pdf')).extractPdf(...task),
  docx: async (...task) => (await import('./docx')).extractDocx(...task),
  odt: office('odt'),
  rtf: office('rtf'),
  epub: office('epub'),
  pptx: office('pptx'),
  odp: office('odp'),
  xlsx: async (...task) => (await import('./office')).extractXlsx(...task),
  ods: office('ods'),
  eml: async (...task) => (await import('./mail')).extractMail(...task),
  html: extractHtml,
  markdown: extractMarkdown,
  text: extractLines,
  code: extractLines,
  csv: extractCsv,
  picture: async (...task) => (await import('./ocr')).extractPicture(...task),
};

/** Writes the text of the task. Rejects with a `ConcertinaError`; what it wrote then is of no use. */
export async function extractDocument(task: DocumentTask, onProgress: OnProgress): Promise<Extraction> {
  const { name } = task;
  const before = versionOf(task.path);
  try {
    const sink = new TextSink(task.textPath, limits.maxDocumentCharacters);
    const extracted = await extractors[task.kind](task, sink, onProgress);
    const text = sink.finish();
    if (sink.isBlank) throw empty(name);
    if (versionOf(task.path) !== before) throw changed(name);
    return { ...text, ...extracted };
  } catch (error) {
    if (error instanceof ConcertinaError) throw error;
    throw error instanceof TooMuchTextError ? tooMuch(name) : damaged(name, error);
  }
}

function versionOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}

function changed(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-invalid',
    msg`${{ name }} was changed while it was read.`,
    msg`Attach it again.`,
  );
}

function tooMuch(name: string): ConcertinaError {
  const most = (limits.maxDocumentCharacters / 1e6).toLocaleString('en');
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} holds more than ${{ most }} million characters, the most that can be attached.`,
    msg`Split it and attach the parts that you need.`,
  );
}
