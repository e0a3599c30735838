/**
 * The headers of model files that are still on the hub, kept on this disk as files of the full length that hold nothing else (a
 * hole takes no room). The engine looks at such a file as at any other: what it says of memory is exact.
 */
import { createHash } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { HubPart } from '../../contract/hub';
import { storageError } from '../lib/files';
import { resolvePath } from './api';
import { type HeaderEnd, readGgufHeader, requireRoom } from './ggufHeader';
import { connectionError, HubError, type HubHttp } from './http';

const firstBytes = 512 * 1024;
const maxTries = 5;
const keptModels = 40;

export interface RemoteModel {
  repo: string;
  revision: string;
  parts: readonly HubPart[];
}

export class HeaderStore {
  private readonly running = new Map<string, Promise<{ path: string; fetched: number }>>();

  constructor(
    private readonly folder: string,
    private readonly http: HubHttp,
  ) {}

  /** Path of the first part for the engine, and the bytes that were read for it. */
  get(model: RemoteModel): Promise<{ path: string; fetched: number }> {
    const key = keyOf(model);
    const running = this.running.get(key) ?? this.make(model, join(this.folder, key));
    this.running.set(key, running);
    const forget = () => void this.running.delete(key);
    running.then(forget, forget);
    return running;
  }

  private async make(model: RemoteModel, folder: string): Promise<{ path: string; fetched: number }> {
    const path = join(folder, basename(model.parts[0]?.path ?? ''));
    const now = new Date();
    if (await stat(path).catch(() => null)) {
      await utimes(folder, now, now).catch(() => undefined);
      return { path, fetched: 0 };
    }
    const fresh = `${folder}.new`;
    await rm(fresh, { recursive: true, force: true });
    let fetched = 0;
    try {
      for (const part of model.parts) {
        const header = await this.fetch(model, part);
        fetched += header.length;
        await writeHollow(join(fresh, basename(part.path)), header, part.bytes);
      }
      await rename(fresh, folder);
    } catch (error) {
      await rm(fresh, { recursive: true, force: true }).catch(() => undefined);
      throw error instanceof Error && 'syscall' in error
        ? storageError('The header of the model could not be kept', error)
        : error;
    }
    await this.forgetOldest();
    return { path, fetched };
  }

  /** One question for all of it; the answer is ended as soon as the header is here. */
  private async fetch({ repo, revision }: RemoteModel, { path, bytes }: HubPart): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let have = 0;
    let lookAt = firstBytes;
    for (let attempt = 1; ; attempt++) {
      try {
        const headers = { range: `bytes=${have}-` };
        const { body, status } = await this.http.open(resolvePath(repo, revision, path), { headers, repo });
        // a server that knows no ranges begins at the beginning
        if (status !== 206) pieces.length = have = 0;
        for await (const piece of body as AsyncIterable<Buffer>) {
          pieces.push(piece);
          have += piece.length;
          const whole = have >= bytes;
          if (have < lookAt && !whole) continue;
          lookAt = have * 2;
          const header = this.headerIn(pieces, bytes, whole);
          if (header) return header;
        }
        throw new HubError('network-failed', `${this.http.endpoint.host}: the connection was cut.`, '', {
          retriable: true,
        });
      } catch (error) {
        const failure = error instanceof Error && 'code' in error && 'hint' in error ? error : null;
        const known = failure ?? connectionError(error, this.http.endpoint.host);
        if (attempt === maxTries || !(known instanceof HubError && known.retriable)) throw known;
      }
    }
  }

  private headerIn(pieces: Buffer[], bytes: number, whole: boolean): Buffer | null {
    const data = Buffer.concat(pieces);
    pieces.splice(0, pieces.length, data);
    const header: HeaderEnd | null = readGgufHeader(data);
    if (header) requireRoom(header, bytes);
    else if (whole) requireRoom({ dataStart: bytes, tensors: 1, lastOffset: 0 }, bytes);
    return header && data.subarray(0, Math.min(header.dataStart, data.length));
  }

  private async forgetOldest(): Promise<void> {
    const names = await readdir(this.folder);
    const aged = await Promise.all(
      names.map(async (name) => ({ name, at: (await stat(join(this.folder, name)).catch(() => null))?.mtimeMs ?? 0 })),
    );
    const oldest = aged.sort((a, b) => b.at - a.at).slice(keptModels);
    for (const { name } of oldest) await rm(join(this.folder, name), { recursive: true, force: true });
  }
}

/** By content where the hub tells it: two names of one file share what is known of it. */
function keyOf({ repo, revision, parts }: RemoteModel): string {
  const facts = parts.map(({ path, bytes, sha256 }) => sha256 ?? `${repo} ${revision} ${path} ${bytes}`);
  return createHash('sha256').update(facts.join('\n')).digest('hex').slice(0, 24);
}

async function writeHollow(path: string, header: Buffer, bytes: number): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, header, { mode: 0o600 });
  await truncate(path, bytes);
}
