/**
 * One file that is being downloaded: `NAME.part`, its checksum so far, and `NAME.part.log`. The state of SHA-256 is kept at the
 * end of each chunk, so that going on after a restart reads one chunk again and not the file, and so that one chunk can be
 * compared with what the hub sends for it later.
 */

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createSHA256, type IHasher } from 'hash-wasm';
import { z } from 'zod';
import {
  countSchema,
  type HubPart,
  hubPartSchema,
  repoPathSchema,
  repoSchema,
  revisionSchema,
} from '../../contract/hub';
import { appendText, isMissing, readTextIfThere, sweepTemporary, writeFileAtomic } from '../lib/files';
import { diskError } from './disk';

const chunkBytes = 16 * 1024 * 1024;
const readBytes = 1024 * 1024;

export const partPath = (path: string) => `${path}.part`;
export const sidecarPath = (path: string) => `${path}.part.log`;

export class PartFile {
  /** on the disk and in the checksum */
  have = 0;

  private constructor(
    /** where it will lie when it is whole */
    readonly path: string,
    readonly part: HubPart,
    private readonly handle: FileHandle,
    private readonly known: Known,
    private readonly hash: IHasher,
    private readonly chunk: number,
  ) {}

  /** Goes on with what is there, when it is the beginning of the same file; else begins anew. */
  static async open(
    path: string,
    head: Head,
    { chunk = chunkBytes, signal }: { chunk?: number; signal?: AbortSignal } = {},
  ): Promise<PartFile> {
    const part = head.origin.parts.find((one) => one.path === head.path);
    if (!part) throw new Error(`${head.path} is no part of ${head.origin.file}`);
    try {
      await mkdir(dirname(path), { recursive: true });
      await sweepTemporary(sidecarPath(path));
      const known = await readSidecar(sidecarPath(path));
      const same = known !== null && isSame(known.head, part);
      const handle = await openFile(partPath(path));
      if (known !== null && !same) await handle.truncate(0);
      // a file without its log is read again from its beginning: what it is, the checksum tells
      if (!same) await writeFileAtomic(sidecarPath(path), headText(head));
      const facts = same ? known : nothingKnown(head);
      const file = new PartFile(path, part, handle, facts, await createSHA256(), chunk);
      try {
        await file.catchUp(signal);
      } catch (error) {
        await file.close();
        throw error;
      }
      return file;
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

  async rememberEtag(etag: string): Promise<void> {
    if (etag !== this.known.etag) await this.tell({ etag });
  }

  /** A connection begins or ends here, or the app died. */
  async markSeam(): Promise<void> {
    for (const seam of new Set([
      Math.floor(Math.max(0, this.have - 1) / this.chunk),
      Math.floor(this.have / this.chunk),
    ])) {
      if (!this.known.seams.has(seam)) await this.tell({ seam });
    }
  }

  async write(data: Buffer): Promise<void> {
    for (let start = 0; start < data.length; ) {
      const room = this.chunk - (this.have % this.chunk);
      const piece = data.subarray(start, start + room);
      await this.put(piece, this.have);
      this.hash.update(piece);
      this.have += piece.length;
      start += piece.length;
      if (this.have % this.chunk === 0) await this.checkpoint();
    }
  }

  /** All that was received is on the disk and in the log. */
  async sync(): Promise<void> {
    await this.guarded(() => this.handle.datasync());
  }

  /** Chunks were put in the place of others: the checksum of what was received is not that of the file. */
  get wasMended(): boolean {
    return this.known.checked.size > 0;
  }

  /** Of everything that was received, hexadecimal. */
  digest(): string {
    const state = this.hash.save();
    const digest = this.hash.digest('hex');
    this.hash.load(state);
    return digest;
  }

  /** Of what lies on the disk. */
  async digestOnDisk(onBytes: (bytes: number) => void, signal: AbortSignal): Promise<string> {
    await this.sync();
    const hash = createHash('sha256');
    for await (const data of createReadStream(partPath(this.path), { highWaterMark: readBytes, signal })) {
      hash.update(data as Buffer);
      onBytes((data as Buffer).length);
    }
    return hash.digest('hex');
  }

  /** Chunks that were not fetched a second time yet, those where connections met first. */
  unchecked(): number[] {
    const all = Array.from({ length: Math.ceil(this.part.bytes / this.chunk) }, (_, index) => index);
    const left = all.filter((index) => !this.known.checked.has(index));
    return [
      ...left.filter((index) => this.known.seams.has(index)),
      ...left.filter((index) => !this.known.seams.has(index)),
    ];
  }

  range(index: number): { start: number; end: number } {
    return { start: index * this.chunk, end: Math.min(this.part.bytes, (index + 1) * this.chunk) };
  }

  /** Puts a chunk in the place of what was received first. Returns whether it was another one. */
  async replaceIfOther(index: number, data: Buffer): Promise<boolean> {
    const { start, end } = this.range(index);
    const before = this.stateAt(start);
    const after = end === this.part.bytes ? this.hash.save() : this.stateAt(end);
    const hash = await createSHA256();
    const digestAfter = hash.load(after ?? hash.init().save()).digest('hex');
    hash.init();
    if (before) hash.load(before);
    const other = after === null || hash.update(data).digest('hex') !== digestAfter;
    if (other) {
      await this.put(data, start);
      await this.sync();
    }
    await this.tell({ checked: index });
    return other;
  }

  async header(bytes: number): Promise<Buffer> {
    const length = Math.min(bytes, this.part.bytes);
    const { buffer, bytesRead } = await this.handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  }

  async markVerified(): Promise<void> {
    await this.sync();
    await this.tell({ verified: true });
  }

  /** From the first byte on. */
  async restart(): Promise<void> {
    const { head } = this.known;
    await this.guarded(async () => {
      await this.handle.truncate(0);
      await writeFileAtomic(sidecarPath(this.path), headText(head));
    });
    Object.assign(this.known, nothingKnown(head));
    this.hash.init();
    this.have = 0;
  }

  async close(): Promise<void> {
    await this.handle.close().catch(() => undefined);
  }

  /** Takes what is on the disk into the checksum, from the last checkpoint on. */
  private async catchUp(signal: AbortSignal | undefined): Promise<void> {
    // whole and not below zero, whatever the hub said
    const size = Math.min((await this.handle.stat()).size, Math.max(0, Math.floor(this.part.bytes)));
    await this.handle.truncate(size);
    this.known.checkpoints = this.known.checkpoints.filter(({ end }) => end <= size);
    const last = this.known.checkpoints.at(-1);
    this.hash.init();
    if (last) this.hash.load(last.state);
    this.have = last?.end ?? 0;
    // these bytes may not have reached the disk before the power went
    if (this.have < size) await this.markSeam();
    const buffer = Buffer.alloc(Math.min(readBytes, this.chunk));
    while (this.have < size) {
      signal?.throwIfAborted();
      const most = Math.min(buffer.length, size - this.have, this.chunk - (this.have % this.chunk));
      const { bytesRead } = await this.handle.read(buffer, 0, most, this.have);
      if (bytesRead === 0) break;
      this.hash.update(buffer.subarray(0, bytesRead));
      this.have += bytesRead;
      if (this.have % this.chunk === 0) await this.checkpoint();
    }
  }

  private async checkpoint(): Promise<void> {
    await this.sync();
    const state = this.hash.save();
    await this.tell({ end: this.have, state: Buffer.from(state).toString('base64') });
  }

  private stateAt(end: number): Uint8Array | null {
    return this.known.checkpoints.find((one) => one.end === end)?.state ?? null;
  }

  private async put(data: Buffer, position: number): Promise<void> {
    await this.guarded(async () => {
      for (let done = 0; done < data.length; ) {
        const { bytesWritten } = await this.handle.write(data, done, data.length - done, position + done);
        done += bytesWritten;
      }
    });
  }

  private async tell(line: Line): Promise<void> {
    await this.guarded(() => addLine(sidecarPath(this.path), line));
    if ('end' in line) this.known.checkpoints.push({ end: line.end, state: Buffer.from(line.state, 'base64') });
    else if ('etag' in line) this.known.etag = line.etag;
    else if ('seam' in line) this.known.seams.add(line.seam);
    else if ('checked' in line) this.known.checked.add(line.checked);
    else this.known.verified = true;
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
  return { head, checkpoints: [], etag: null, seams: new Set(), checked: new Set(), verified: false };
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
  await rename(partPath(path), path);
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

const lineSchema = z.union([
  /** up to here the file is on the disk; `state`: of SHA-256 over all of it, base64 */
  z.object({ end: countSchema.min(1), state: z.string() }),
  /** entity tag of the host that gave the file out */
  z.object({ etag: z.string() }),
  /** two connections met in this chunk, or the app died in it: the first to be suspected */
  z.object({ seam: countSchema }),
  /** this chunk was fetched again and is what the hub sends */
  z.object({ checked: countSchema }),
  /** size, checksum and header were right */
  z.object({ verified: z.literal(true) }),
]);
type Line = z.infer<typeof lineSchema>;

interface Known {
  head: Head;
  /** `end` and state of each checkpoint, in order */
  checkpoints: { end: number; state: Uint8Array }[];
  etag: string | null;
  seams: Set<number>;
  checked: Set<number>;
  verified: boolean;
}

/** null: there is none, or its first line cannot be read. */
export async function readSidecar(path: string): Promise<Known | null> {
  const [first, ...rest] = (await readTextIfThere(path))?.split('\n') ?? [];
  const head = headSchema.safeParse(parsed(first ?? ''));
  if (!head.success) return null;
  const known: Known = {
    head: head.data,
    checkpoints: [],
    etag: null,
    seams: new Set(),
    checked: new Set(),
    verified: false,
  };
  for (const text of rest) {
    const line = lineSchema.safeParse(parsed(text));
    if (line.success) apply(known, line.data);
  }
  return known;
}

function apply(known: Known, line: Line): void {
  if ('end' in line) {
    const last = known.checkpoints.at(-1)?.end ?? 0;
    if (line.end > last) known.checkpoints.push({ end: line.end, state: Buffer.from(line.state, 'base64') });
  } else if ('etag' in line) known.etag = line.etag;
  else if ('seam' in line) known.seams.add(line.seam);
  else if ('checked' in line) known.checked.add(line.checked);
  else known.verified = true;
}

function addLine(path: string, line: Line): Promise<void> {
  // after a torn line this one must stand alone
  return appendText(path, `\n${JSON.stringify(line)}\n`, false);
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
