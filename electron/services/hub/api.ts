/** The three questions of the hub's REST API that we have: search, one model, its files. Unknown keys are let through. */
import { z } from 'zod';
import { ConcertinaError } from '../../contract/errors';
import {
  countSchema,
  type HubModel,
  type HubPage,
  type HubSort,
  hubModelSchema,
  repoPathSchema,
  sha256Schema,
} from '../../contract/hub';
import type { HubHttp } from './http';
import { HubError } from './httpErrors';
import { urlOrNull } from './urlOrNull';

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
export interface TreeFile {
  path: string;
  bytes: number;
  sha256: string | null;
  /** what the hub says of it cannot be: why, as a sentence; size and checksum are then not to be used */
  problem?: string;
}

export interface ModelFacts {
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
  throw new ConcertinaError('bad-request', 'This page of search results is not valid.');
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
