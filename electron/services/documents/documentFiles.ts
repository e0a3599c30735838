/** The files of one stored document: meta.json with what is known about it, and text.txt. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { z } from 'zod';
import { documentSchema, type Section, sectionSchema } from '../../contract/documents';
import { sectionsPerSlice, type TextMark } from '../../contract/documentWork';
import { readTextIfThere, writeFileAtomic } from '../lib/files';

const metaSchema = z.object({
  version: z.literal(1),
  document: documentSchema,
  /** checked for themselves, some at a time */
  sections: z.array(z.unknown()),
  textBytes: z.number().int(),
  textSha256: z.string(),
  /** see `TextMark` */
  marks: z.array(z.object({ at: z.number().int(), byte: z.number().int() })),
});
export type DocumentMeta = Omit<z.infer<typeof metaSchema>, 'sections'> & { sections: Section[] };

export const textPath = (folder: string) => join(folder, 'text.txt');
const metaPath = (folder: string) => join(folder, 'meta.json');

export function writeMeta(folder: string, meta: Omit<DocumentMeta, 'version'>): Promise<void> {
  return writeFileAtomic(metaPath(folder), metaText(meta));
}

async function* metaText({ sections, ...meta }: Omit<DocumentMeta, 'version'>): AsyncGenerator<string> {
  yield `${JSON.stringify({ version: 1, ...meta }).slice(0, -1)},"sections":[`;
  let separator = '';
  for (const slice of slices(sections)) {
    yield separator + JSON.stringify(slice).slice(1, -1);
    separator = ',';
  }
  yield ']}';
}

/**
 * Throws on what is no section. The thread that serves the windows does other things between the slices.
 * @see sectionsPerSlice
 */
export async function checkedSections(list: readonly unknown[]): Promise<Section[]> {
  const sections: Section[] = [];
  for (const slice of slices(list)) {
    sections.push(...slice.map((section) => sectionSchema.parse(section)));
    await nextTurn();
  }
  return sections;
}

function* slices<T>(list: readonly T[]): Generator<T[]> {
  for (let at = 0; at < list.length; at += sectionsPerSlice) yield list.slice(at, at + sectionsPerSlice);
}

/** null: there is no such document. Throws when its files are not what was written, the text to the last byte. */
export async function readMeta(folder: string, id: string): Promise<DocumentMeta | null> {
  const json = await readTextIfThere(metaPath(folder));
  if (json === null) return null;
  const stored = metaSchema.parse(JSON.parse(json));
  const meta = { ...stored, sections: await checkedSections(stored.sections) };
  if (meta.document.id !== id) throw new Error('it belongs to another document');
  const { size } = await stat(textPath(folder));
  if (size !== meta.textBytes) throw new Error(`the text has ${size} bytes instead of ${meta.textBytes}`);
  const hash = createHash('sha256');
  for await (const piece of createReadStream(textPath(folder), { highWaterMark: 256 * 1024 }))
    hash.update(piece as Buffer);
  if (hash.digest('hex') !== meta.textSha256) throw new Error('the text was changed');
  return meta;
}

/** Characters `start` to `end` of the text, as `String.slice` would give them; reads no more than is needed. */
export async function readSlice(folder: string, meta: DocumentMeta, start: number, end: number): Promise<string> {
  const { marks, textBytes } = meta;
  const first = marks[lastAtOrBefore(marks, start)] ?? { at: 0, byte: 0 };
  const after = marks[lastAtOrBefore(marks, Math.max(start, end - 1)) + 1];
  const bytes = Buffer.alloc((after?.byte ?? textBytes) - first.byte);
  const handle = await open(textPath(folder), 'r');
  try {
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await handle.read(bytes, done, bytes.length - done, first.byte + done);
      if (bytesRead === 0) throw new Error('the text ends too early');
      done += bytesRead;
    }
  } finally {
    await handle.close();
  }
  return bytes.toString('utf8').slice(start - first.at, Math.max(start, end) - first.at);
}

/** Marks are in order. @returns index of the last one that does not lie behind `at`; 0 when there is none */
function lastAtOrBefore(marks: TextMark[], at: number): number {
  let low = 0;
  let high = marks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((marks[middle]?.at ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
