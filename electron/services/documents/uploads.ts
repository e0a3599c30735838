/** Files that a browser sends in parts, because a page does not know their paths. */

import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { UploadPart } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { storageError } from '../lib/files';
import { tooLarge } from './source';

/** A page that sends nothing for so long is gone. */
const idleMs = 600_000;
const mostAtOnce = 16;
/** Where all places are taken, one that sent nothing for so long gives its own to the next. */
const givesWayMs = 10_000;

interface Upload {
  folder: string;
  path: string;
  bytes: number;
  received: number;
  writing: boolean;
  lastAt: number;
}

interface Folders {
  temporary(): Promise<string>;
  discard(folder: string): Promise<void>;
}

export class Uploads {
  private readonly open = new Map<string, Upload>();

  constructor(
    private readonly folders: Folders,
    private readonly now: () => number = Date.now,
  ) {}

  /** `file`: the whole one, when this was its last part; whoever takes it discards its folder. */
  async take(part: UploadPart): Promise<{ uploadId: string; file: { folder: string; path: string } | null }> {
    const uploadId = part.uploadId ?? (await this.begin(part));
    const upload = this.open.get(uploadId);
    if (!upload)
      throw new ConcertinaError('not-found', msg`This upload is not known any more.`, msg`Attach the file again.`);
    const data = Buffer.from(part.data, 'base64');
    const fits = part.offset === upload.received && upload.received + data.length <= upload.bytes;
    if (!fits || upload.writing)
      throw new ConcertinaError('bad-request', msg`The parts of the file do not fit together.`);
    upload.writing = true;
    try {
      await appendFile(upload.path, data, { mode: 0o600 });
    } catch (error) {
      await this.drop(uploadId);
      throw storageError('The file could not be taken over', error);
    } finally {
      upload.writing = false;
    }
    upload.received += data.length;
    upload.lastAt = this.now();
    if (upload.received < upload.bytes) return { uploadId, file: null };
    this.open.delete(uploadId);
    return { uploadId, file: { folder: upload.folder, path: upload.path } };
  }

  async close(): Promise<void> {
    for (const id of [...this.open.keys()]) await this.drop(id);
  }

  private async begin({ name, bytes }: UploadPart): Promise<string> {
    if (bytes > limits.maxDocumentBytes) throw tooLarge(name);
    for (const [id, { lastAt }] of this.open) if (lastAt < this.now() - idleMs) await this.drop(id);
    if (this.open.size >= mostAtOnce) await this.dropIdlest();
    if (this.open.size >= mostAtOnce) {
      throw new ConcertinaError('busy', msg`Too many files are being sent at once.`, msg`Wait until some are done.`);
    }
    const id = randomUUID();
    const folder = await this.folders.temporary();
    const path = join(folder, 'file');
    this.open.set(id, { folder, path, bytes, received: 0, writing: false, lastAt: this.now() });
    return id;
  }

  private async dropIdlest(): Promise<void> {
    const [idlest] = [...this.open].sort(([, a], [, b]) => a.lastAt - b.lastAt);
    if (idlest && idlest[1].lastAt <= this.now() - givesWayMs) await this.drop(idlest[0]);
  }

  private async drop(id: string): Promise<void> {
    const upload = this.open.get(id);
    this.open.delete(id);
    if (upload) await this.folders.discard(upload.folder);
  }
}
