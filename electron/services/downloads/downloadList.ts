/** downloads.json: what was asked for and how far it is, so that it goes on after a restart. */

import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { errorPayloadSchema } from '../../contract/errors';
import { downloadStateSchema } from '../../contract/hub';
import { countSchema, idSchema } from '../../contract/limits';
import { readTextIfThere, setAside, sweepTemporary, writeFileAtomic } from '../lib/files';
import { placeOf } from './download';
import { type Origin, originSchema, partPath, readSidecar, sidecarPath } from './partFile';

const entrySchema = originSchema.extend({
  id: idSchema,
  state: downloadStateSchema,
  done: countSchema,
  error: errorPayloadSchema.nullable(),
  addedAt: z.number(),
});
export type Entry = z.infer<typeof entrySchema>;

const listSchema = z.object({ version: z.literal(1), downloads: z.array(entrySchema) });

export class DownloadList {
  readonly notices: string[] = [];
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly now: () => Date = () => new Date(),
  ) {}

  async load(): Promise<Entry[]> {
    await sweepTemporary(this.path);
    const text = await readTextIfThere(this.path);
    if (text === null) return [];
    try {
      return listSchema.parse(JSON.parse(text)).downloads;
    } catch {
      const aside = await setAside(this.path, this.now());
      // what is half there is found again by the logs beside the files
      this.notices.push(`The list of downloads could not be read. It was kept as ${basename(aside)}.`);
      return [];
    }
  }

  /** Writes follow each other; the last one wins. */
  save(entries: readonly Entry[]): Promise<void> {
    const text = `${JSON.stringify({ version: 1, downloads: entries }, null, 2)}\n`;
    const result = this.writing.then(() => writeFileAtomic(this.path, text));
    this.writing = result.catch(() => undefined);
    return result;
  }
}

// Downloads that no list knows: the list was lost, or the folder came from another computer. Their logs tell what they are.

const maxDepth = 6;
const ending = '.part.log';

/** One for each model file, with the bytes that are there. */
export async function findOrphans(folder: string): Promise<{ origin: Origin; done: number }[]> {
  const origins = new Map<string, Origin>();
  for (const path of await logsIn(folder, 0)) {
    const known = await readSidecar(path).catch(() => null);
    if (!known) continue;
    const { origin } = known.head;
    // a log that lies elsewhere than its file would be written is not ours to use
    const place = placeOf(folder, origin.repo, known.head.path);
    if (sidecarPath(place) !== path) continue;
    if (await isLeftover(place, known.head.path, origin)) await rm(path, { force: true });
    else origins.set(`${origin.repo} ${origin.file}`, origin);
  }
  return Promise.all([...origins.values()].map(async (origin) => ({ origin, done: await bytesThere(folder, origin) })));
}

export async function bytesThere(folder: string, { repo, parts }: Origin): Promise<number> {
  let sum = 0;
  for (const { path, bytes } of parts) {
    const place = placeOf(folder, repo, path);
    const there = (await sizeOf(place)) === bytes ? bytes : ((await sizeOf(partPath(place))) ?? 0);
    sum += Math.min(bytes, there);
  }
  return sum;
}

/** The app died after the file was put in its place, before its log was removed. */
async function isLeftover(place: string, path: string, { parts }: Origin): Promise<boolean> {
  const part = parts.find((one) => one.path === path);
  return (await sizeOf(partPath(place))) === null && (await sizeOf(place)) === part?.bytes && parts.length === 1;
}

async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(() => null))?.size ?? null;
}

async function logsIn(folder: string, depth: number): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth < maxDepth ? logsIn(path, depth + 1) : [];
    return entry.name.endsWith(ending) ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}
