/** Looking at model files on disk without loading anything: what is there, and is it a GGUF file at all. */
import { createHash } from 'node:crypto';
import { open, readdir, stat } from 'node:fs/promises';
import os from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { ConcertinaError } from '../../shared/errors';

const maxDepth = 4;
const maxFilesPerFolder = 1000;
const magic = 'GGUF';

export interface FoundFile {
  path: string;
  bytes: number;
  modifiedMs: number;
}

/** Short and stable: the window holds this instead of the path. */
export function modelIdOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 16);
}

/** Folder of a file as shown to people. */
export function shownLocation(path: string, home: string = os.homedir()): string {
  const folder = dirname(path);
  return folder === home || folder.startsWith(join(home, '/')) ? `~${folder.slice(home.length)}` : folder;
}

/** GGUF files of a folder and its subfolders, in order of their names; of a split file the first part, for all of them. Folders that may not be read are passed over. */
export async function findModels(folder: string, depth = 0): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    if (found.length >= maxFilesPerFolder) break;
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < maxDepth) found.push(...(await findModels(path, depth + 1)));
    else if (entry.name.toLowerCase().endsWith('.gguf') && partNumber(entry.name) === 1)
      found.push(...(await foundFile(path)));
  }
  return found.slice(0, maxFilesPerFolder);
}

async function foundFile(path: string): Promise<FoundFile[]> {
  const info = await stat(path).catch(() => null);
  if (!info?.isFile()) return [];
  const bytes = info.size + (await bytesOfOtherParts(path));
  return [{ path, bytes, modifiedMs: info.mtimeMs }];
}

/** `model-00002-of-00005.gguf`: llama.cpp takes the first part and finds the others by its name. */
const splitName = /-(\d{5})-of-(\d{5})\.gguf$/i;

function partNumber(name: string): number {
  const number = splitName.exec(name)?.[1];
  return number === undefined ? 1 : Number(number);
}

async function bytesOfOtherParts(path: string): Promise<number> {
  const count = Number(splitName.exec(path)?.[2] ?? 1);
  let sum = 0;
  for (let number = 2; number <= count && partNumber(path) === 1; number++) {
    const part = path.replace(splitName, (_, __, all) => `-${String(number).padStart(5, '0')}-of-${all}.gguf`);
    sum += (await stat(part).catch(() => null))?.size ?? 0;
  }
  return sum;
}

/** Throws `model-missing` or `model-invalid` with a sentence that names the file. */
export async function checkModelFile(path: string): Promise<FoundFile> {
  const name = basename(path);
  const [file] = await foundFile(path);
  if (!file) {
    throw new ConcertinaError('model-missing', `There is no file ${name} at this place.`, missingHint);
  }
  if ((await firstBytes(path)) !== magic) {
    throw new ConcertinaError(
      'model-invalid',
      `${name} is not a GGUF model file.`,
      'Its name may end in .gguf, but its content is something else. Choose another file.',
    );
  }
  return file;
}

const missingHint = 'Check that the disk is connected and the file was not moved, or choose another model.';

async function firstBytes(path: string): Promise<string> {
  try {
    const handle = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(magic.length), 0, magic.length, 0);
      return buffer.toString('latin1', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConcertinaError('model-missing', `${basename(path)} cannot be read: ${reason}`, missingHint);
  }
}

export async function kindOf(path: string): Promise<'file' | 'folder' | 'missing'> {
  const info = await stat(resolve(path)).catch(() => null);
  if (!info) return 'missing';
  return info.isDirectory() ? 'folder' : 'file';
}
