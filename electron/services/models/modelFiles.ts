/** Looking at model files on disk without loading anything: what is there, and is it a GGUF file at all. */

import { createHash } from 'node:crypto';
import { open, realpath, stat } from 'node:fs/promises';
import os from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError, type ErrorPayload, reasonOf } from '../../contract/errors';
import { troubleOf } from '../../contract/lib/systemErrors';
import { splitOf } from '../hub/api';
import { JsonFile } from '../lib/jsonFile';
import { isInside, isSamePath } from '../lib/paths';

const magic = 'GGUF';

export interface FoundFile {
  /** what the engine opens: of a split file the first part, of a store of blobs the blob */
  path: string;
  /** stands for it in the list of models: `path`, or the file that names a blob */
  key: string;
  /** name for people */
  name: string;
  /** of all parts */
  bytes: number;
  modifiedMs: number;
  /** behind all links */
  realPath: string;
  /** why it cannot be a whole model, as far as names and sizes show */
  problem: ErrorPayload | null;
}

/** Short and stable: the window holds this instead of the path. */
export function modelIdOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}

/** Of a model that is part of the app: its folder moves with every release, and its id must not. */
export function builtInIdOf(fileName: string): string {
  return modelIdOf(`embedded:${fileName}`);
}

/** Folder of a file as shown to people. */
export function shownLocation(path: string, home: string = os.homedir()): string {
  return shownFolder(dirname(path), home);
}

export function shownFolder(folder: string, home: string = os.homedir()): string {
  return isSamePath(folder, home) || isInside(folder, home) ? `~${folder.slice(home.length)}` : folder;
}

/** null: there is no file at this place. */
export async function foundFile(path: string, change: Partial<FoundFile> = {}): Promise<FoundFile | null> {
  const info = await stat(path).catch(() => null);
  if (!info?.isFile()) return null;
  const parts = await Promise.all(partsOf(path).map((part) => stat(part).catch(() => null)));
  return {
    ...{ path, key: path, name: basename(path), problem: null },
    bytes: parts.reduce((sum, part) => sum + (part?.size ?? 0), 0),
    modifiedMs: Math.max(...parts.map((part) => part?.mtimeMs ?? 0)),
    realPath: await realpath(path).catch(() => path),
    ...change,
  };
}

/** as many as electron/engine/native/inspect.ts takes */
const maxParts = 1000;

/** Every file of a model: llama.cpp takes the first part of a split one and finds the others by its name. */
export function partsOf(path: string): string[] {
  const split = splitOf(path);
  if (split?.number !== 1 || split.count > maxParts) return [path];
  const digits = (number: number) => String(number).padStart(5, '0');
  const ending = path.slice(split.stem.length + '-00001'.length);
  return Array.from({ length: split.count }, (_, index) => `${split.stem}-${digits(index + 1)}${ending}`);
}

/** Throws `model-missing` or `model-invalid` with a sentence that names the file. */
export async function checkModelFile(path: string): Promise<FoundFile> {
  const name = basename(path);
  const file = await foundFile(path);
  if (!file) {
    throw new ConcertinaError('model-missing', msg`There is no file ${{ name }} at this place.`, missingHint);
  }
  if (!(await isGguf(path))) {
    throw new ConcertinaError(
      'model-invalid',
      msg`${{ name }} is not a GGUF model file.`,
      msg`Its name may end in .gguf, but its content is something else. Choose another file.`,
    );
  }
  return file;
}

const missingHint = msg`Check that the disk is connected and the file was not moved, or choose another model.`;

/** Rejects with `model-missing` when it cannot be read. */
export async function isGguf(path: string): Promise<boolean> {
  try {
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0);
      return buffer.toString('latin1', 0, bytesRead) === magic;
    } finally {
      await handle.close();
    }
  } catch (error) {
    const remedy = troubleOf(error)?.remedy || missingHint;
    throw new ConcertinaError(
      'model-missing',
      msg`${{ path: basename(path) }} cannot be read: ${{ why: reasonOf(error) }}.`,
      remedy,
      {
        cause: error,
      },
    );
  }
}

export async function kindOf(path: string): Promise<'file' | 'folder' | 'missing'> {
  const info = await stat(resolve(path)).catch(() => null);
  if (!info) return 'missing';
  return info.isDirectory() ? 'folder' : 'file';
}

// models.json: the files and folders that a person added. The files themselves are never touched.

const listSchema = z.object({
  files: z.array(z.string()).default([]),
  folders: z.array(z.string()).default([]),
  /** keys of files of a folder that a person took off the list */
  hidden: z.array(z.string()).default([]),
});
type List = z.infer<typeof listSchema>;

export class ModelList extends JsonFile<List> {
  constructor(path: string, now?: () => Date) {
    super({
      ...{ path, version: 1, schema: listSchema, initial: listSchema.parse({}), now },
      asideNotice: (name) => `The list of models could not be read. It was kept as ${name}; add your models again.`,
    });
  }

  addFile(path: string): Promise<void> {
    return this.save(({ files, hidden }) => ({ files: withOne(files, path), hidden: without(hidden, path) }));
  }

  addFolder(path: string, filesInIt: string[]): Promise<void> {
    return this.save(({ folders, hidden }) => ({
      folders: withOne(folders, path),
      hidden: hidden.filter((one) => !filesInIt.includes(one)),
    }));
  }

  /** What was hidden of it comes back when it is added again. */
  removeFolder(path: string): Promise<void> {
    return this.save(({ folders, hidden }) => ({
      folders: without(folders, path),
      hidden: hidden.filter((one) => !isInside(one, path)),
    }));
  }

  async unhide(path: string): Promise<void> {
    if (this.get().hidden.includes(path)) await this.save(({ hidden }) => ({ hidden: without(hidden, path) }));
  }

  /** `inFolder`: the file would come back with its folder, so it is hidden. */
  remove(path: string, inFolder: boolean): Promise<void> {
    return this.save(({ files, hidden }) => ({
      files: without(files, path),
      hidden: inFolder ? withOne(hidden, path) : hidden,
    }));
  }

  private async save(step: (list: List) => Partial<List>): Promise<void> {
    await this.change((list) => ({ ...list, ...step(list) }));
  }
}

function withOne(list: string[], one: string): string[] {
  return list.includes(one) ? list : [...list, one];
}

function without(list: string[], one: string): string[] {
  return list.filter((other) => other !== one);
}
