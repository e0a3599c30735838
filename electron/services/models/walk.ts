/**
 * The models below a folder, in any layout: as other apps keep theirs, with links followed and nothing copied. What is
 * incomplete is found too, with the reason; projectors and the like are no models and are passed over. Adapters are found too: models
 * are used with them.
 */

import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError, type ErrorPayload } from '../../contract/errors';
import type { Translatable } from '../../contract/lib/language';
import type { AddProgress } from '../../contract/models';
import { isAdapterName, kindOfFile, splitOf } from '../hub/api';
import { type FoundFile, foundFile, isGguf } from './modelFiles';

const maxDepth = 8;
const maxFiles = 1000;
const maxFolders = 5000;

interface Walk {
  files: FoundFile[];
  /** every folder that was looked into: a change in one of them can change the answer */
  folders: string[];
}

interface WalkOptions {
  /** before each folder */
  onStep?: (progress: AddProgress) => void;
  signal?: AbortSignal;
}

/** In the order of the names. Folders that may not be read are passed over. Throws `cancelled`. */
export async function walkModels(root: string, options: WalkOptions = {}): Promise<Walk> {
  const walker = new Walker(options);
  await walker.enter(root, 0);
  return { files: walker.files.slice(0, maxFiles), folders: walker.folders };
}

class Walker {
  readonly files: FoundFile[] = [];
  readonly folders: string[] = [];
  /** behind all links: a link to a folder above is not entered again */
  private readonly seen = new Set<string>();

  constructor(private readonly options: WalkOptions) {}

  async enter(folder: string, depth: number): Promise<void> {
    if (depth > maxDepth || this.files.length >= maxFiles || this.folders.length >= maxFolders) return;
    if (this.options.signal?.aborted) throw new ConcertinaError('cancelled', msg`The search for models was canceled.`);
    this.options.onStep?.({ folders: this.folders.length, models: this.files.length });
    const real = await realpath(folder).catch(() => null);
    if (real === null || this.seen.has(real)) return;
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => null);
    if (entries === null) return;
    this.seen.add(real);
    this.folders.push(folder);
    const names = new Set(entries.map(({ name }) => name));
    if (isOllamaStore(names)) {
      const { files, folders } = await ollamaModels(folder);
      this.files.push(...files);
      this.folders.push(...folders);
      return;
    }
    for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
      await this.look(folder, entry, names, depth);
    }
  }

  private async look(folder: string, entry: Dirent, names: ReadonlySet<string>, depth: number): Promise<void> {
    const path = join(folder, entry.name);
    if (await isFolder(entry, path)) {
      // hidden ones hold locks, sources of programs and the like
      if (!entry.name.startsWith('.') && entry.name !== 'node_modules') await this.enter(path, depth + 1);
      return;
    }
    const file = await modelAt(path, names);
    if (file) this.files.push(file);
  }
}

async function isFolder(entry: Dirent, path: string): Promise<boolean> {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  return (await stat(path).catch(() => null))?.isDirectory() ?? false;
}

/** `names`: of the same folder. */
async function modelAt(path: string, names: ReadonlySet<string>): Promise<FoundFile | null> {
  const name = basename(path);
  if (isHalf(name)) return halfAt(path, names);
  if (!/\.gguf$/i.test(name) || (kindOfFile(name) !== 'model' && !isAdapterName(name))) return null;
  const split = splitOf(name);
  if (split && split.number > 1) return splitWithoutFirst(path, split, names);
  return (await foundFile(path)) ?? brokenLink(path);
}

/** A link whose target is gone, or a disk that went away between two looks. */
function brokenLink(path: string): FoundFile {
  const message = msg`${{ name: basename(path) }} leads to a file that is not there any more.`;
  const problem = missingModel(message, msg`Download it again with the app that kept it.`);
  return { path, key: path, name: basename(path), bytes: 0, modifiedMs: 0, realPath: path, problem };
}

/** Listed once, by the lowest part that is there. */
async function splitWithoutFirst(
  path: string,
  { number, count }: { number: number; count: number },
  names: ReadonlySet<string>,
): Promise<FoundFile | null> {
  const nameOf = (part: number) => basename(path).replace(/-\d{5}-of-/i, `-${String(part).padStart(5, '0')}-of-`);
  for (let lower = 1; lower < number; lower++) if (names.has(nameOf(lower))) return null;
  const name = basename(path);
  const before = number - 1;
  const message =
    before === 1
      ? msg`${{ name }} is one of ${{ count }} parts of a model. Its first part is missing.`
      : msg`${{ name }} is one of ${{ count }} parts of a model. Its first ${{ before }} parts are missing.`;
  return foundFile(path, { problem: missingModel(message, msg`Put all parts into one folder.`) });
}

/** As browsers, download managers and the apps name what is not whole yet. */
const halfEnding = /\.(?:part|partial|incomplete|downloadinprogress|crdownload|download|tmp|aria2|opdownload)$/i;

function isHalf(name: string): boolean {
  return /\.incomplete$/i.test(name) || (/\.gguf[._-]/i.test(name) && halfEnding.test(name));
}

async function halfAt(path: string, names: ReadonlySet<string>): Promise<FoundFile | null> {
  const name = basename(path);
  // our own downloads have a log beside them, and a list of their own
  if (names.has(`${name}.log`)) return null;
  if (!(await isGguf(path).catch(() => false))) return null;
  const title = hubName(path) ?? name;
  const problem = new ConcertinaError(
    'model-invalid',
    msg`${{ title }}: its download is not complete.`,
    msg`Finish it in the app that started it, or download the model here.`,
  ).toPayload();
  return foundFile(path, { name: title, problem });
}

/** "org/name" of a blob in the cache of the hub: models--org--name/blobs/HASH.incomplete; null: it lies elsewhere */
function hubName(path: string): string | null {
  const match = /^models--(.+?)--(.+)$/.exec(basename(dirname(dirname(path))));
  return match ? `${match[1]}/${match[2]}` : null;
}

// The store of Ollama: `manifests/HOST/OWNER/NAME/TAG` are small JSON files that name blobs, `blobs/sha256-HASH` are the
// contents; the layer of the type "model" is a GGUF file without an ending.

const maxManifestBytes = 1024 * 1024;
const maxManifestDepth = 5;
const modelLayer = 'application/vnd.ollama.image.model';

const manifestSchema = z.object({
  layers: z.array(z.object({ mediaType: z.string(), digest: z.string(), size: z.number().optional() })),
});

function isOllamaStore(names: ReadonlySet<string>): boolean {
  return names.has('manifests') && names.has('blobs');
}

/** `root`: the folder that holds `manifests` and `blobs`. */
async function ollamaModels(root: string): Promise<Walk> {
  const folders: string[] = [join(root, 'blobs')];
  const files: FoundFile[] = [];
  for (const manifest of await manifestsBelow(join(root, 'manifests'), folders)) {
    const file = await modelOf(root, manifest);
    if (file) files.push(file);
  }
  return { files, folders };
}

async function manifestsBelow(folder: string, folders: string[], depth = 0): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  folders.push(folder);
  const found: string[] = [];
  for (const entry of entries.sort((a, b) => a.name.localeCompare(b.name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < maxManifestDepth)
      found.push(...(await manifestsBelow(path, folders, depth + 1)));
    else if (entry.isFile() && !entry.name.startsWith('.')) found.push(path);
  }
  return found;
}

/** null: it names no GGUF model (another format, a cloud model, no manifest at all). */
async function modelOf(root: string, manifest: string): Promise<FoundFile | null> {
  const layer = (await layersOf(manifest))?.find(({ mediaType }) => mediaType === modelLayer);
  const hash = /^sha256[:-]([0-9a-f]{64})$/.exec(layer?.digest ?? '')?.[1];
  if (!layer || hash === undefined) return null;
  const name = titleOf(relative(join(root, 'manifests'), manifest).split(sep));
  const path = join(root, 'blobs', `sha256-${hash}`);
  const file = await foundFile(path, { key: manifest, name });
  if (!file) {
    const problem = missingBlob(name);
    return { path, key: manifest, name, bytes: layer.size ?? 0, modifiedMs: 0, realPath: path, problem };
  }
  if (layer.size !== undefined && file.bytes < layer.size) return { ...file, problem: missingBlob(name) };
  return (await isGguf(path).catch(() => false)) ? file : null;
}

async function layersOf(manifest: string): Promise<z.infer<typeof manifestSchema>['layers'] | null> {
  try {
    if ((await stat(manifest)).size > maxManifestBytes) return null;
    return manifestSchema.parse(JSON.parse(await readFile(manifest, 'utf8'))).layers;
  } catch {
    return null;
  }
}

/** As Ollama names it: "llama3:8b", "someone/model:latest", "hf.co/org/name:Q4_K_M". */
function titleOf(parts: readonly string[]): string {
  const tag = parts.at(-1) ?? '';
  const [host = '', ...rest] = parts.slice(0, -1);
  const names = rest[0] === 'library' ? rest.slice(1) : rest;
  return `${[...(host === 'registry.ollama.ai' ? [] : [host]), ...names].join('/')}:${tag}`;
}

function missingBlob(name: string): ErrorPayload {
  return missingModel(msg`${{ name }} is not whole.`, msg`Run: ollama pull ${{ name }}`);
}

function missingModel(message: Translatable, hint: Translatable): ErrorPayload {
  return new ConcertinaError('model-missing', message, hint).toPayload();
}
