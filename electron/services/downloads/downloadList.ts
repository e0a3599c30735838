/** downloads.json: what was asked for and how far it is, so that it goes on after a restart. */
import { basename } from 'node:path';
import { z } from 'zod';
import { downloadStateSchema } from '../../contract/downloads';
import { errorPayloadSchema } from '../../contract/errors';
import { countSchema } from '../../contract/hub';
import { idSchema } from '../../contract/limits';
import { readTextIfThere, setAside, sweepTemporary, writeFileAtomic } from '../lib/files';
import { originSchema } from './sidecar';

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
