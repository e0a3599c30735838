/** Documents on disk: documents/<id>/, each written in a folder beside and moved into place when it is whole. */

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { type DocumentInfo, documentSchema, type Section, sectionSchema } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { type Extraction, sectionsPerSlice } from '../../contract/workerTasks';
import { isMissing, readTextIfThere, sha256Of, storageError, writeFileAtomic } from '../lib/files';
import type { Logger } from '../lib/logger';

const unfinished = '.new-';
/** and the id: of a document whose files are not what was written */
const damaged = 'damaged-';

export interface SweepLimits {
  /** no others */
  only?: ReadonlySet<string>;
  /** milliseconds since 1970: those that were attached later stay */
  before?: number;
}

export class DocumentStore {
  /** written, or read and checked, in this run of the app */
  private readonly known = new Map<string, DocumentMeta>();
  /** asked for in this run: a message that is being written may need them */
  private readonly attached = new Set<string>();

  constructor(
    private readonly folder: string,
    private readonly log: Logger,
    /** `aside`: where its files are now */
    private readonly onDamaged: (id: string, aside: string) => void = () => undefined,
  ) {}

  /** Removes what a former run left half done. */
  async load(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const names = await readdir(this.folder);
    for (const name of names.filter((one) => one.startsWith(unfinished))) await this.discard(join(this.folder, name));
  }

  /** A folder for files on their way; whoever asks for it discards it. */
  temporary(): Promise<string> {
    return mkdtemp(join(this.folder, unfinished)).catch((error: unknown) => {
      throw storageError('The document could not be stored', error);
    });
  }

  async discard(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true }).catch((error: unknown) => this.log.warn(String(error)));
  }

  /** null: not here, or damaged and now set aside. The first look in a run reads the whole text to check it. */
  async find(id: string): Promise<DocumentInfo | null> {
    const meta = await this.meta(id);
    if (!meta) return null;
    this.attached.add(id);
    const now = new Date();
    await utimes(this.place(id), now, now).catch((error: unknown) => this.log.warn(String(error)));
    return meta.document;
  }

  /** Takes over the folder that holds the finished text. */
  async put(folder: string, document: DocumentInfo, extraction: Extraction): Promise<void> {
    const { sections, textBytes, textSha256, marks } = extraction;
    const meta = { document, sections, textBytes, textSha256, marks };
    await writeMeta(folder, meta);
    const place = this.place(document.id);
    try {
      await rm(place, { recursive: true, force: true });
      await rename(folder, place);
    } catch (error) {
      throw storageError('The document could not be stored', error);
    }
    this.known.set(document.id, { version: 1, ...meta });
    this.attached.add(document.id);
    // what was set aside is whole again
    await this.discard(this.aside(document.id));
  }

  async get(id: string): Promise<DocumentInfo> {
    return (await this.required(id)).document;
  }

  async sections(id: string): Promise<Section[]> {
    return (await this.required(id)).sections;
  }

  /** UTF-8; the same for as long as the document is stored. */
  async textPath(id: string): Promise<string> {
    await this.required(id);
    return textPath(this.place(id));
  }

  /** Where the vectors of its passages are or will be; they go with the document. */
  async vectorsPath(id: string): Promise<string> {
    await this.required(id);
    return join(this.place(id), 'vectors.bin');
  }

  /** The copy of the file; rejects with `not-found` where none is kept. */
  async originalPath(id: string): Promise<string> {
    const { document } = await this.required(id);
    const path = originalPath(this.place(id));
    if (document.original && existsSync(path)) return path;
    throw new ConcertinaError('not-found', msg`The file of this document is not kept.`, msg`Attach the file again.`);
  }

  /** The file of a page that was drawn, which is kept with the document. */
  async drawnPage(id: string, sheet: number, draw: () => Promise<Uint8Array>): Promise<string> {
    await this.required(id);
    const path = join(this.place(id), `page-${sheet}.png`);
    if (existsSync(path)) return path;
    const picture = await draw();
    const folder = await this.temporary();
    try {
      await writeFile(join(folder, 'page'), picture, { mode: 0o600 });
      await rename(join(folder, 'page'), path);
    } catch (error) {
      throw storageError('The picture of a page could not be stored', error);
    } finally {
      await this.discard(folder);
    }
    return path;
  }

  /** Takes over a copy of the file, of a document that was stored without one. */
  async addOriginal(id: string, copy: string): Promise<DocumentInfo> {
    const meta = await this.required(id);
    const { version: _, ...rest } = { ...meta, document: { ...meta.document, original: true } };
    await rename(copy, originalPath(this.place(id)));
    await writeMeta(this.place(id), rest);
    this.known.set(id, { version: 1, ...rest });
    return rest.document;
  }

  /** At most `limits.maxDocumentSlice` characters. */
  async text(id: string, start: number, end: number): Promise<string> {
    const meta = await this.required(id);
    const last = Math.min(end, meta.document.characters, start + limits.maxDocumentSlice);
    if (last <= start) return '';
    try {
      return await readSlice(this.place(id), meta, start, last);
    } catch (error) {
      this.known.delete(id);
      throw isMissing(error) ? gone() : storageError('The text of the document could not be read', error);
    }
  }

  /** Bytes on disk, by id. */
  async sizes(): Promise<Map<string, number>> {
    const ids = (await readdir(this.folder)).filter(isId);
    return new Map(await Promise.all(ids.map(async (id) => [id, await bytesIn(this.place(id))] as const)));
  }

  /** Ids of documents that are not in use and were not attached in this run. */
  async unused(inUse: ReadonlySet<string>, { only, before = Date.now() }: SweepLimits = {}): Promise<string[]> {
    const names = (await readdir(this.folder)).filter((name) => isId(name) && !inUse.has(name));
    const unused: string[] = [];
    for (const id of only ? names.filter((name) => only.has(name)) : names) {
      if (!this.attached.has(id) && (await usedAt(this.place(id))) <= before) unused.push(id);
    }
    return unused;
  }

  /** Removes those. @returns how many */
  async sweep(inUse: ReadonlySet<string>, sweepLimits: SweepLimits = {}): Promise<number> {
    const ids = await this.unused(inUse, sweepLimits);
    for (const id of ids) {
      this.known.delete(id);
      await this.discard(this.place(id));
    }
    const asides = (await readdir(this.folder)).filter((name) => name.startsWith(damaged));
    for (const name of asides) {
      if (!inUse.has(name.slice(damaged.length))) await this.discard(join(this.folder, name));
    }
    return ids.length;
  }

  private async required(id: string): Promise<DocumentMeta> {
    const meta = await this.meta(id);
    if (!meta) throw existsSync(this.aside(id)) ? isDamaged(this.aside(id)) : gone();
    return meta;
  }

  private async meta(id: string): Promise<DocumentMeta | null> {
    if (!isId(id)) return null;
    const known = this.known.get(id);
    if (known) return known;
    try {
      const meta = await readMeta(this.place(id), id);
      if (meta) this.known.set(id, meta);
      return meta;
    } catch (error) {
      if (error instanceof ConcertinaError) throw error;
      await this.setAside(id, error);
      return null;
    }
  }

  /** Nothing is thrown away: most of a text with one wrong byte is right, and the file that it came from may lie beside it. */
  private async setAside(id: string, why: unknown): Promise<void> {
    this.log.warn(`The document ${id} is damaged and was set aside: ${String(why)}`);
    await this.discard(this.aside(id));
    try {
      await rename(this.place(id), this.aside(id));
    } catch (error) {
      throw storageError('A damaged document could not be set aside', error);
    }
    this.onDamaged(id, this.aside(id));
  }

  private aside(id: string): string {
    return join(this.folder, damaged + id);
  }

  private place(id: string): string {
    return join(this.folder, id);
  }
}

/** Milliseconds since 1970: when it was attached last; 0: it is gone. */
async function usedAt(place: string): Promise<number> {
  return stat(place).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}

/** 0: it is gone. */
async function bytesIn(place: string): Promise<number> {
  const names = await readdir(place).catch(() => []);
  const sizes = names.map((name) =>
    stat(join(place, name)).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

function isId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function gone(): ConcertinaError {
  return new ConcertinaError(
    'not-found',
    msg`The text of this document is not stored any more.`,
    msg`Attach the file again.`,
  );
}

function isDamaged(aside: string): ConcertinaError {
  return new ConcertinaError(
    'not-found',
    msg`The stored text of this document was changed on the disk, so it is not used.`,
    msg`Attach the file again; one whose copy is kept is read again by itself. What was stored is in ${{ aside }}.`,
  );
}

// The files of one stored document: meta.json with what is known about it, text.txt, a copy of its file where its pages can be drawn, and the vectors of its passages.

const metaVersion = 1;
const metaSchema = z.object({
  version: z.literal(metaVersion),
  document: documentSchema,
  /** checked for themselves, some at a time */
  sections: z.array(z.unknown()),
  textBytes: z.number().int(),
  textSha256: z.string(),
  /** see `TextMark` */
  marks: z.array(z.object({ at: z.number().int(), byte: z.number().int() })),
});
type DocumentMeta = Omit<z.infer<typeof metaSchema>, 'sections'> & { sections: Section[] };

export const textPath = (folder: string) => join(folder, 'text.txt');
export const originalPath = (folder: string) => join(folder, 'original');
const metaPath = (folder: string) => join(folder, 'meta.json');

/** Of a document that was set aside; null: not even that can be read. */
export async function storedName(aside: string): Promise<string | null> {
  try {
    return metaSchema.parse(JSON.parse((await readTextIfThere(metaPath(aside))) ?? '')).document.name;
  } catch {
    return null;
  }
}

function writeMeta(folder: string, meta: Omit<DocumentMeta, 'version'>): Promise<void> {
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
async function readMeta(folder: string, id: string): Promise<DocumentMeta | null> {
  const json = await readTextIfThere(metaPath(folder));
  if (json === null) return null;
  const stored = metaSchema.parse(refuseNewer(JSON.parse(json)));
  const meta = { ...stored, sections: await checkedSections(stored.sections) };
  if (meta.document.id !== id) throw new Error('it belongs to another document');
  const { size } = await stat(textPath(folder));
  if (size !== meta.textBytes) throw new Error(`the text has ${size} bytes instead of ${meta.textBytes}`);
  if ((await sha256Of(textPath(folder))) !== meta.textSha256) throw new Error('the text was changed');
  return meta;
}

/** What a newer app wrote is not damaged: it stays for the day on which that is used again. */
function refuseNewer(json: unknown): unknown {
  const { version } = z.object({ version: z.number() }).parse(json);
  if (version <= metaVersion) return json;
  throw new ConcertinaError(
    'data-corrupt',
    msg`This document was stored by a newer version of Concertina.`,
    msg`Use that version for it: nothing of the document is lost.`,
  );
}

/** Characters `start` to `end` of the text, as `String.slice` would give them; reads no more than is needed. */
async function readSlice(folder: string, meta: DocumentMeta, start: number, end: number): Promise<string> {
  const { marks, textBytes } = meta;
  const first = marks[lastAtOrBefore(marks, start, ({ at }) => at)] ?? { at: 0, byte: 0 };
  const after = marks[lastAtOrBefore(marks, Math.max(start, end - 1), ({ at }) => at) + 1];
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

/** Of places in ascending order. @returns index of the last one at or before `at`; 0 when there is none */
export function lastAtOrBefore<T>(places: readonly T[], at: number, placeOf: (one: T) => number): number {
  let low = 0;
  let high = places.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (placeOf(places[middle] as T) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}
