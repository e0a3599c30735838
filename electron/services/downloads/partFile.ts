/**
 * One file that is being downloaded: `NAME.part`, and beside it `NAME.part.log`. Its checksum is computed while it is written,
 * and once from the disk when a download goes on after a restart.
 */

import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { type HubPart, hubPartSchema, repoPathSchema, repoSchema, revisionSchema } from '../../contract/hub';
import { countSchema } from '../../contract/limits';
import { appendText, isMissing, readTextIfThere, replaceFile, sweepTemporary, writeFileAtomic } from '../lib/files';
import { diskError } from './disk';

const chunkBytes = 16 * 1024 * 1024;
const readBytes = 1024 * 1024;

export const partPath = (path: string) => `${path}.part`;
export const sidecarPath = (path: string) => `${path}.part.log`;

export class PartFile {
  private hash = createHash('sha256');
  /** false: behind `known.end` lie bytes of a run that was killed; the disk may have lost them with the power */
  private certain: boolean;

  private constructor(
    /** where it will lie when it is whole */
    readonly path: string,
    readonly part: HubPart,
    private readonly handle: FileHandle,
    private readonly known: Known,
    /** bytes that are there, from the first on */
    public have: number,
    /** bytes after which those that were written are flushed, and the log says so */
    private readonly chunk: number,
  ) {
    this.certain = have === known.end;
  }

  /** Goes on with what is there, when it is the beginning of the same file; otherwise starts over. Then call `readAgain`. */
  static async open(path: string, head: Head, chunk = chunkBytes): Promise<PartFile> {
    const part = head.origin.parts.find((one) => one.path === head.path);
    if (!part) throw new Error(`${head.path} is no part of ${head.origin.file}`);
    try {
      await mkdir(dirname(path), { recursive: true });
      await sweepTemporary(sidecarPath(path));
      const known = await readSidecar(sidecarPath(path));
      const same = known !== null && isSame(known.head, part);
      const handle = await openFile(partPath(path));
      if (known !== null && !same) await handle.truncate(0);
      // a file without its log is used: what it is, the checksum tells
      if (!same) await writeFileAtomic(sidecarPath(path), headText(head));
      // whole and not below zero, whatever the hub said
      const size = Math.min((await handle.stat()).size, Math.max(0, Math.floor(part.bytes)));
      await handle.truncate(size);
      const facts = same ? { ...known, end: Math.min(known.end, size) } : nothingKnown(head);
      return new PartFile(path, part, handle, facts, size, chunk);
    } catch (error) {
      throw diskError(error, path);
    }
  }

  get complete(): boolean {
    return this.have === this.part.bytes;
  }

  get etag(): string | null {
    return this.known.etag;
  }

  get verified(): boolean {
    return this.known.verified;
  }

  /** Takes what is on the disk into the checksum. */
  async readAgain(signal?: AbortSignal): Promise<void> {
    this.hash = createHash('sha256');
    const buffer = Buffer.alloc(Math.min(readBytes, this.have));
    for (let position = 0; position < this.have; ) {
      signal?.throwIfAborted();
      const most = Math.min(buffer.length, this.have - position);
      const { bytesRead } = await this.guarded(() => this.handle.read(buffer, 0, most, position));
      if (bytesRead === 0) throw new Error(`${partPath(this.path)} became shorter while it was read`);
      this.hash.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
  }

  async rememberEtag(etag: string): Promise<void> {
    if (etag !== this.known.etag) await this.tell({ etag });
  }

  async write(data: Buffer): Promise<void> {
    await this.guarded(async () => {
      for (let done = 0; done < data.length; ) {
        const { bytesWritten } = await this.handle.write(data, done, data.length - done, this.have + done);
        done += bytesWritten;
      }
    });
    this.hash.update(data);
    this.have += data.length;
    if (this.have - this.known.end >= this.chunk) await this.flush();
  }

  /** All that was received is on the disk, and the log says so. */
  async flush(): Promise<void> {
    if (!this.certain || this.have === this.known.end) return;
    await this.guarded(() => this.handle.datasync());
    await this.tell({ end: this.have });
  }

  /** What is there is what the hub promised, as far as it did. */
  matches(): boolean {
    return this.part.sha256 === null || this.hash.copy().digest('hex') === this.part.sha256;
  }

  /** The checksum is wrong: drops what may never have been flushed, or all. Returns whether something is left. */
  async goBack(signal: AbortSignal): Promise<boolean> {
    const end = this.certain ? 0 : this.known.end;
    await this.cutTo(end);
    await this.readAgain(signal);
    return end > 0;
  }

  /** From the first byte on. */
  async restart(): Promise<void> {
    await this.cutTo(0);
    await this.readAgain();
  }

  async header(bytes: number): Promise<Buffer> {
    const length = Math.min(bytes, this.part.bytes);
    const { buffer, bytesRead } = await this.handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  }

  async markVerified(): Promise<void> {
    await this.guarded(() => this.handle.datasync());
    await this.tell({ verified: true });
  }

  async close(): Promise<void> {
    await this.handle.close().catch(() => undefined);
  }

  private async cutTo(end: number): Promise<void> {
    const { head } = this.known;
    await this.guarded(async () => {
      await this.handle.truncate(end);
      await writeFileAtomic(sidecarPath(this.path), headText(head) + (end > 0 ? lineText({ end }) : ''));
    });
    Object.assign(this.known, nothingKnown(head), { end });
    this.have = end;
    this.certain = true;
  }

  private async tell(line: Line): Promise<void> {
    await this.guarded(() => appendText(sidecarPath(this.path), lineText(line), false));
    Object.assign(this.known, line);
  }

  private async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw diskError(error, this.path);
    }
  }
}

function nothingKnown(head: Head): Known {
  return { head, end: 0, etag: null, verified: false };
}

function isSame(head: Head, part: HubPart): boolean {
  const there = head.origin.parts.find((one) => one.path === head.path);
  return there !== undefined && there.bytes === part.bytes && there.sha256 === part.sha256;
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if (!isMissing(error)) throw error;
    return open(path, 'w+', 0o600);
  }
}

/** Puts a verified file in its place; its log goes after it, so that a crash in between loses nothing. */
export async function putInPlace(path: string): Promise<void> {
  await replaceFile(partPath(path), path);
  await rm(sidecarPath(path), { force: true });
}

export async function discardPart(path: string): Promise<void> {
  await rm(partPath(path), { force: true });
  await rm(sidecarPath(path), { force: true });
}

// What is known of a file that is half there, in `NAME.part.log` beside `NAME.part`: first what it is to become, then a line for
// each piece of news. Lines are only added, so a crash costs the last one at most.

/** What every part of a model file has in common: enough to take up the download of a file that no list knows. */
export const originSchema = z.object({
  repo: repoSchema,
  revision: revisionSchema,
  /** path of the first part */
  file: repoPathSchema,
  title: z.string(),
  quant: z.string().nullable(),
  parts: z.array(hubPartSchema).min(1),
});
export type Origin = z.infer<typeof originSchema>;

const headSchema = z.object({ version: z.literal(1), origin: originSchema, path: repoPathSchema });
type Head = z.infer<typeof headSchema>;

/** The last of each kind counts. Earlier versions wrote more, which is not needed any more. */
const lineSchema = z.object({
  /** up to here the file is on the disk */
  end: countSchema.optional(),
  /** entity tag of the host that gave the file out */
  etag: z.string().optional(),
  /** size, checksum and header were right */
  verified: z.literal(true).optional(),
});
type Line = z.infer<typeof lineSchema>;

interface Known {
  head: Head;
  end: number;
  etag: string | null;
  verified: boolean;
}

/** null: there is none, or its first line cannot be read. */
export async function readSidecar(path: string): Promise<Known | null> {
  const [first, ...rest] = (await readTextIfThere(path))?.split('\n') ?? [];
  const head = headSchema.safeParse(parsed(first ?? ''));
  if (!head.success) return null;
  const known = nothingKnown(head.data);
  for (const text of rest) Object.assign(known, lineSchema.safeParse(parsed(text)).data);
  return known;
}

/** After a torn line this one must stand alone. */
function lineText(line: Line): string {
  return `\n${JSON.stringify(line)}\n`;
}

function headText(head: Head): string {
  return `${JSON.stringify(head)}\n`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
