/** Runs an extractor as the worker does, in this thread. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Section, TextKind } from '@/electron/contract/documents';
import type { ErrorCode } from '@/electron/contract/errors';
import type { Extraction } from '@/electron/contract/workerTasks';
import { extractDocument } from '@/electron/workers/documents/extract';
import { readingFolders } from '@/test/fixtures/documents/scans';
import { temporaryFolder } from '@/test/fixtures/temporary';

const folders = readingFolders();

export interface Extracted extends Extraction {
  text: string;
  progress: number[];
  /** pages that OCR read, in the order of the reports */
  recognized: number[];
  /** the section's own text, by label */
  section(label: string): string;
}

export async function extract(
  kind: TextKind,
  content: Buffer | string,
  password: string | null = null,
  languages = folders.languages,
): Promise<Extracted> {
  const folder = await temporaryFolder();
  const path = join(folder, 'file');
  const textPath = join(folder, 'text.txt');
  await writeFile(path, content);
  const progress: number[] = [];
  const recognized = new Set<number>();
  const task = {
    path,
    name: 'file',
    kind,
    bytes: content.length,
    textPath,
    folders: { ...folders, languages },
    password,
  };
  const extraction = await extractDocument(task, (fraction, pages) => {
    progress.push(fraction);
    if (pages?.ocr) recognized.add(pages.ocr);
  });
  const text = await readFile(textPath, 'utf8');
  return {
    ...extraction,
    text,
    progress,
    recognized: [...recognized],
    section: (label) => sectionText(text, extraction.sections, label),
  };
}

/** The name of the document is "file". */
export async function expectRefused(kind: TextKind, content: Buffer | string, code: ErrorCode, message: RegExp) {
  await expect(extract(kind, content)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
}

function sectionText(text: string, sections: Section[], label: string): string {
  const found = sections.find((section) => section.label === label);
  if (!found) throw new Error(`There is no section ${label}: ${sections.map((one) => one.label).join(', ')}`);
  return text.slice(found.start, found.end);
}
