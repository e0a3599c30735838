/** The three questions of the hub's REST API that we have: search, one model, its files. Unknown keys are let through. */

import { posix } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError } from '../../contract/errors';
import {
  type HubFile,
  type HubModel,
  type HubModelPage,
  type HubPage,
  type HubPart,
  type HubSort,
  hubModelSchema,
  repoPathSchema,
  sha256Schema,
} from '../../contract/hub';
import { countSchema } from '../../contract/limits';
import { HubError, type HubHttp, urlOrNull } from './http';

const pageLength = 30;
const maxTreePages = 20;
const maxReadmeBytes = 512 * 1024;
const sorts: Record<HubSort, string> = {
  trending: 'trendingScore',
  downloads: 'downloads',
  likes: 'likes',
  updated: 'lastModified',
};
const listed = ['author', 'downloads', 'likes', 'lastModified', 'tags', 'gated', 'private'];

/** Shown and nothing more: one that cannot be is as good as none. */
const shownCount = countSchema.nullish().catch(null);

const modelAnswer = z.object({
  id: z.string(),
  author: z.string().nullish(),
  downloads: shownCount,
  likes: shownCount,
  lastModified: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  gated: z.union([z.literal(false), z.enum(['auto', 'manual'])]).nullish(),
  private: z.boolean().nullish(),
});

const oneModelAnswer = modelAnswer.extend({
  sha: z.string().nullish(),
  gguf: z
    .object({
      total: shownCount,
      architecture: z.string().nullish(),
      context_length: shownCount,
    })
    .nullish(),
});

/** Size and checksum are looked at for each file by itself: one that cannot be must not hide the others. */
const treeEntry = z.object({
  type: z.string(),
  path: z.string(),
  size: z.unknown(),
  lfs: z.object({ oid: z.unknown(), size: z.unknown() }).nullish(),
});

/** A file of a repository; sha256 is known of large files only. */
interface TreeFile {
  path: string;
  bytes: number;
  sha256: string | null;
  /** what the hub says of it cannot be: why, as a sentence; size and checksum are then not to be used */
  problem?: string;
}

interface ModelFacts {
  model: HubModel;
  revision: string;
  architecture: string | null;
  trained: number | null;
  parameters: number | null;
}

export class HubApi {
  constructor(readonly http: HubHttp) {}

  async search(query: string, sort: HubSort, cursor: string | null, signal?: AbortSignal): Promise<HubPage> {
    const path = cursorPath(cursor) ?? `api/models?${this.searchQuery(query, sort)}`;
    const { value, headers } = await this.http.json(path, z.array(z.unknown()), { signal });
    // one entry that is odd must not hide the others
    const models = value.flatMap((entry) => {
      const answer = modelAnswer.safeParse(entry);
      const model = answer.success ? hubModelSchema.safeParse(modelOf(answer.data)) : null;
      return model?.success ? [model.data] : [];
    });
    return { models, next: this.nextPage(headers.link) };
  }

  async model(repo: string, revision: string, signal?: AbortSignal): Promise<ModelFacts> {
    const at = revision === 'main' ? '' : `/revision/${encodeURIComponent(revision)}`;
    const expand = [...listed, 'sha', 'gguf'].map((name) => `expand[]=${name}`).join('&');
    const { value } = await this.http.json(`api/models/${repo}${at}?${expand}`, oneModelAnswer, { signal, repo });
    const { gguf, sha } = value;
    return {
      model: modelOf(value),
      revision: sha ?? revision,
      architecture: gguf?.architecture ?? null,
      trained: gguf?.context_length ?? null,
      parameters: gguf?.total ?? null,
    };
  }

  /** Every file; those whose names could not be written to this disk safely are left out. */
  async tree(repo: string, revision: string, signal?: AbortSignal): Promise<TreeFile[]> {
    const files: TreeFile[] = [];
    let path: string | null = `api/models/${repo}/tree/${encodeURIComponent(revision)}?recursive=true`;
    for (let page = 0; path !== null; page++) {
      if (page === maxTreePages) throw new HubError('network-failed', `${repo} has too many files.`, '');
      const answer: Awaited<ReturnType<typeof this.treePage>> = await this.treePage(path, repo, signal);
      files.push(...answer.files);
      path = answer.next;
    }
    return files;
  }

  /** The beginning of the README; empty where there is none. */
  async readme(repo: string, revision: string, signal?: AbortSignal): Promise<string> {
    try {
      const path = resolvePath(repo, revision, 'README.md');
      return (await this.http.text(path, { signal, repo }, maxReadmeBytes)).text;
    } catch (error) {
      // a gated model hides its README, and shows all the rest
      if (error instanceof HubError && ['not-found', 'access-denied'].includes(error.code)) return '';
      throw error;
    }
  }

  private async treePage(path: string, repo: string, signal: AbortSignal | undefined) {
    const { value, headers } = await this.http.json(path, z.array(treeEntry), { signal, repo });
    const files = value
      .filter((entry) => entry.type === 'file' && repoPathSchema.safeParse(entry.path).success)
      .map(treeFileOf);
    return { files, next: this.nextPage(headers.link) };
  }

  private searchQuery(query: string, sort: HubSort): string {
    const expand = listed.map((name) => ['expand[]', name]);
    const asked = query.trim() === '' ? [] : [['search', query.trim()]];
    const rest = Object.entries({ filter: 'gguf', sort: sorts[sort], direction: '-1', limit: String(pageLength) });
    return new URLSearchParams([...asked, ...rest, ...expand]).toString();
  }

  /** The hub gives the next page as an address; only its own is followed. */
  private nextPage(link: string | undefined): string | null {
    const address = /<([^>]+)>\s*;[^,]*\brel="?next"?/.exec(link ?? '')?.[1];
    if (address === undefined) return null;
    const { endpoint } = this.http;
    const next = urlOrNull(address, endpoint);
    return next && `${next.pathname.replace(endpoint.pathname, '')}${next.search}`;
  }
}

/** A cursor comes back from a window: it may name a further page of a search and nothing else. */
function cursorPath(cursor: string | null): string | null {
  if (cursor === null || cursor.startsWith('api/models?')) return cursor;
  throw new ConcertinaError('bad-request', msg`This page of search results is not valid.`);
}

export function resolvePath(repo: string, revision: string, path: string): string {
  const file = path.split('/').map(encodeURIComponent).join('/');
  return `${repo}/resolve/${encodeURIComponent(revision)}/${file}`;
}

function modelOf(answer: z.infer<typeof modelAnswer>): HubModel {
  const [owner = '', name = ''] = answer.id.split('/');
  const license = answer.tags?.find((tag) => tag.startsWith('license:'))?.slice('license:'.length);
  return {
    repo: answer.id,
    author: answer.author ?? owner,
    name,
    downloads: answer.downloads ?? 0,
    likes: answer.likes ?? 0,
    updatedAt: answer.lastModified ?? null,
    license: license ?? null,
    gated: answer.gated || 'open',
    private: answer.private ?? false,
  };
}

function treeFileOf({ path, size, lfs }: z.infer<typeof treeEntry>): TreeFile {
  const told = lfs?.size ?? size;
  const bytes = countSchema.safeParse(told);
  if (!bytes.success) return { path, bytes: 0, sha256: null, problem: sizeProblem(told) };
  if (!lfs) return { path, bytes: bytes.data, sha256: null };
  const sha256 = digestOf(lfs.oid);
  // to take it for one that tells no checksum would leave it unverified
  const problem = 'The hub gives it a checksum that is no SHA-256.';
  return sha256 === null ? { path, bytes: 0, sha256, problem } : { path, bytes: bytes.data, sha256 };
}

function sizeProblem(told: unknown): string {
  if (told === undefined || told === null) return 'The hub does not give its size.';
  return `The hub gives its size as ${JSON.stringify(told).slice(0, 40)}.`;
}

function digestOf(oid: unknown): string | null {
  const digest = String(oid)
    .replace(/^sha256:/, '')
    .toLowerCase();
  return sha256Schema.safeParse(digest).data ?? null;
}

// What a README says first, as markdown that a window can show without the network.

const maxCharacters = 6000;

/** Without the header for machines, pictures and raw HTML; cut at the end of a paragraph. */
export function summaryOf(readme: string): string {
  const text = readme
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^---\n[\s\S]*?\n---[ \t]*(\n|$)/, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, '')
    .replace(/\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  if (text.length <= maxCharacters) return text;
  const cut = text.lastIndexOf('\n\n', maxCharacters);
  const short = text.slice(0, cut > maxCharacters / 2 ? cut : maxCharacters).trimEnd();
  // a block of code that was cut open would swallow what follows
  const open = (short.match(/^```/gm)?.length ?? 0) % 2 === 1;
  return `${short}${open ? '\n```' : ''}\n\n…`;
}

// The GGUF files of a repository as a person sees them: a split file is one, and files of one quant stand together.

/** `model-00002-of-00005.gguf`: llama.cpp finds the others by the name of the first. */
const splitName = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/i;
const quantName =
  /(?:^|[-._/])((?:UD-)?(?:I?Q\d_[A-Z0-9]+(?:_[A-Z0-9]+)*|TQ\d_\d|BF16|F16|F32|FP16|FP32|MXFP4(?:_MOE)?|Q\d))(?=$|[-._/])/gi;

interface SplitName {
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
  return { ...found, files: found.files.map((file) => ({ ...file, projector: projectorFor(file, found.files) })) };
}

function problemOf(parts: readonly TreeFile[]): string | null {
  const bad = parts.find(({ problem }) => problem !== undefined);
  if (bad?.problem) return parts.length > 1 ? `${bad.path}: ${bad.problem}` : bad.problem;
  return countSchema.safeParse(bytesOf(parts)).success ? null : 'Its parts together are larger than a file can be.';
}

function bytesOf(parts: readonly HubPart[]): number {
  return parts.reduce((sum, { bytes }) => sum + bytes, 0);
}

type FoundFile = ModelFiles['files'][number];

function fileOf(first: HubPart, parts: HubPart[]): FoundFile {
  const split = splitOf(first.path);
  return {
    file: first.path,
    title: (split?.stem ?? first.path.replace(/\.gguf$/i, '')).replace(/^.*\//, ''),
    quant: quantOf(first.path),
    bytes: bytesOf(parts),
    parts,
    missingParts: split ? Math.max(0, split.count - parts.length) : 0,
    kind: kindOfFile(first.path),
    projector: null,
  };
}

function projectorFor({ kind, file }: FoundFile, files: readonly FoundFile[]): HubPart | null {
  if (kind !== 'model') return null;
  const near = files.filter((one) => one.kind === 'projector' && posix.dirname(one.file) === posix.dirname(file));
  return bestProjector(near.flatMap(({ parts }) => (parts.length === 1 ? parts : [])));
}

/** The smallest; of files of one size not that of bf16, which few processors compute with. */
export function bestProjector<T extends { path: string; bytes: number }>(files: readonly T[]): T | null {
  const isBf16 = ({ path }: T) => Number(/bf16/i.test(posix.basename(path)));
  return [...files].sort((a, b) => a.bytes - b.bytes || isBf16(a) - isBf16(b))[0] ?? null;
}

/** By its name alone. */
export function kindOfFile(path: string): HubFile['kind'] {
  const name = path.replace(/^.*\//, '').toLowerCase();
  if (/mmproj/.test(name)) return 'projector';
  return /imatrix|control-vector/.test(name) || isAdapterName(name) ? 'other' : 'model';
}

/** As converters name LoRA adapters; what one is, its header says. */
export function isAdapterName(path: string): boolean {
  return /\blora\b|adapter/i.test(path.replace(/^.*\//, ''));
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
