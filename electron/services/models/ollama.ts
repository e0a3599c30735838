/**
 * The store of Ollama: `manifests/HOST/OWNER/NAME/TAG` are small JSON files that name blobs, `blobs/sha256-HASH` are the
 * contents; the layer of the type "model" is a GGUF file without an ending.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { z } from 'zod';
import type { ErrorPayload } from '../../contract/errors';
import { type FoundFile, foundFile, isGguf } from './modelFiles';
import type { Walk } from './walk';

const maxManifestBytes = 1024 * 1024;
const maxDepth = 5;
const modelLayer = 'application/vnd.ollama.image.model';

const manifestSchema = z.object({
  layers: z.array(z.object({ mediaType: z.string(), digest: z.string(), size: z.number().optional() })),
});

export function isOllamaStore(names: ReadonlySet<string>): boolean {
  return names.has('manifests') && names.has('blobs');
}

/** `root`: the folder that holds `manifests` and `blobs`. */
export async function ollamaModels(root: string): Promise<Walk> {
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
    if (entry.isDirectory() && depth < maxDepth) found.push(...(await manifestsBelow(path, folders, depth + 1)));
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
  return { code: 'model-missing', message: `${name} is not whole.`, hint: `Run: ollama pull ${name}` };
}
