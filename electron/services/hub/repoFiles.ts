/** The GGUF files of a repository as a person sees them: a split file is one, and files of one quant stand together. */
import { countSchema, type HubFile, type HubModelPage, type HubPart } from '../../contract/hub';
import type { TreeFile } from './api';

/** `model-00002-of-00005.gguf`: llama.cpp finds the others by the name of the first. */
const splitName = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;
const quantName =
  /(?:^|[-._/])((?:UD-)?(?:I?Q\d_[A-Z0-9]+(?:_[A-Z0-9]+)*|TQ\d_\d|BF16|F16|F32|FP16|FP32|MXFP4(?:_MOE)?|Q\d))(?=$|[-._/])/gi;

export interface SplitName {
  /** path without number and ending */
  stem: string;
  number: number;
  count: number;
}

/** null: no part of a split file */
export function splitOf(path: string): SplitName | null {
  const match = splitName.exec(path);
  return match ? { stem: match[1] ?? '', number: Number(match[2]), count: Number(match[3]) } : null;
}

/** As its makers name it, in capitals; the last name of the path counts, or that of its folder. */
export function quantOf(path: string): string | null {
  const stem = splitOf(path)?.stem ?? path.replace(/\.gguf$/i, '');
  const name = [...stem.matchAll(quantName)].at(-1)?.[1];
  return name === undefined ? null : name.toUpperCase();
}

export interface ModelFiles {
  files: Omit<HubFile, 'modelId'>[];
  /** those of which the hub says what cannot be */
  refused: HubModelPage['refused'];
}

export function modelFilesOf(tree: readonly TreeFile[]): ModelFiles {
  const groups = new Map<string, TreeFile[]>();
  for (const file of tree) {
    if (!/\.gguf$/i.test(file.path)) continue;
    const split = splitOf(file.path);
    const key = split ? `${split.stem} of ${split.count}` : file.path;
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const found: ModelFiles = { files: [], refused: [] };
  for (const parts of groups.values()) {
    parts.sort((a, b) => a.path.localeCompare(b.path, 'en'));
    const [first] = parts;
    if (!first) continue;
    const why = problemOf(parts);
    if (why === null) found.files.push(fileOf(first, parts));
    else found.refused.push({ file: first.path, why });
  }
  return found;
}

function problemOf(parts: readonly TreeFile[]): string | null {
  const bad = parts.find(({ problem }) => problem !== undefined);
  if (bad?.problem) return parts.length > 1 ? `${bad.path}: ${bad.problem}` : bad.problem;
  return countSchema.safeParse(bytesOf(parts)).success ? null : 'Its parts together are larger than a file can be.';
}

function bytesOf(parts: readonly HubPart[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

function fileOf(first: HubPart, parts: HubPart[]): ModelFiles['files'][number] {
  const split = splitOf(first.path);
  return {
    file: first.path,
    title: (split?.stem ?? first.path.replace(/\.gguf$/i, '')).replace(/^.*\//, ''),
    quant: quantOf(first.path),
    bytes: bytesOf(parts),
    parts,
    missingParts: split ? Math.max(0, split.count - parts.length) : 0,
    kind: kindOfFile(first.path),
  };
}

/** By its name alone. */
export function kindOfFile(path: string): HubFile['kind'] {
  const name = path.replace(/^.*\//, '').toLowerCase();
  if (/mmproj/.test(name)) return 'projector';
  return /imatrix|\blora\b|adapter|control-vector/.test(name) ? 'other' : 'model';
}

/** The smallest quant first; pictures' parts and the like behind the models. */
export function byQuant(files: readonly HubFile[]): { quant: string | null; files: HubFile[] }[] {
  const rank = (file: HubFile) => ['model', 'projector', 'other'].indexOf(file.kind);
  const sorted = [...files].sort((a, b) => rank(a) - rank(b) || a.bytes - b.bytes);
  const groups = new Map<string, { quant: string | null; files: HubFile[] }>();
  for (const file of sorted) {
    const key = `${file.kind} ${file.quant}`;
    const group = groups.get(key);
    if (group) group.files.push(file);
    else groups.set(key, { quant: file.quant, files: [file] });
  }
  return [...groups.values()];
}
