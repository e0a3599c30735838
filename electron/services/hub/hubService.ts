/** The hub for a window and for the command line: search, one model with its files, and what a file would take of this machine. */

import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import type { FitRequest } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import type { ContextFit } from '../../contract/fit';
import {
  type CatalogEntry,
  catalogEntrySchema,
  type FitGrade,
  type HubAccount,
  type HubFile,
  type HubFit,
  type HubModelPage,
  type HubPage,
  type hubFitQuestionSchema,
  type hubQuestionSchema,
} from '../../contract/hub';
import type { ModelInfo } from '../../contract/models';
import type { DownloadSettings } from '../../contract/settings';
import { placeOf, type Timing } from '../downloads/download';
import { DownloadList } from '../downloads/downloadList';
import { Downloads } from '../downloads/downloads';
import { storageError } from '../lib/files';
import type { Logger } from '../lib/logger';
import { modelIdOf } from '../models/modelFiles';
import { byQuant, HubApi, type ModelFiles, modelFilesOf, summaryOf } from './api';
import { readBytesPerToken } from './ggufHeader';
import { endpointOf, HubHttp } from './http';
import { HeaderStore } from './remoteHeader';
import { type Keyring, TokenStore } from './token';

/** What looks at model files. */
interface Judge {
  fit(question: FitRequest): Promise<ContextFit>;
  inspect(path: string): Promise<ModelInfo>;
}

interface HubParts {
  http: HubHttp;
  token: TokenStore;
  judge: Judge;
  /** where headers are kept */
  headerFolder: string;
  /** id in the model list of a file that is on this disk */
  localId(repo: string, file: string, bytes: number): Promise<string | null>;
  catalogFile: string;
}

const keptTrees = 50;

class HubService {
  readonly api: HubApi;
  private readonly headers: HeaderStore;
  /** by asker */
  private readonly searches = new Map<string, AbortController>();
  /** files by model and commit: what a commit holds never changes */
  private readonly trees = new Map<string, Promise<ModelFiles>>();
  /** by path of the kept header, which is named by content */
  private readonly perToken = new Map<string, number | null>();

  constructor(private readonly parts: HubParts) {
    this.api = new HubApi(parts.http);
    this.headers = new HeaderStore(parts.headerFolder, parts.http);
  }

  /** Rejects with `cancelled` when the same asker asks again, or wants no answer any more. */
  async search({ query, sort, cursor, asker }: z.output<typeof hubQuestionSchema>): Promise<HubPage> {
    if (asker === undefined) return this.api.search(query, sort, cursor);
    this.cancelSearch(asker);
    const stop = new AbortController();
    this.searches.set(asker, stop);
    try {
      return await this.api.search(query, sort, cursor, stop.signal);
    } catch (error) {
      throw stop.signal.aborted ? new ConcertinaError('cancelled', msg`Another search was begun.`) : error;
    } finally {
      if (this.searches.get(asker) === stop) this.searches.delete(asker);
    }
  }

  cancelSearch(asker: string): void {
    this.searches.get(asker)?.abort();
  }

  async model(repo: string, revision: string): Promise<HubModelPage> {
    const { model, ...facts } = await this.api.model(repo, revision);
    const [{ files, refused }, readme] = await Promise.all([
      this.files(repo, facts.revision),
      this.api.readme(repo, facts.revision),
    ]);
    const known: HubFile[] = await Promise.all(
      files.map(async (file) => ({ ...file, modelId: await this.parts.localId(repo, file.file, file.bytes) })),
    );
    const url = new URL(repo, this.parts.http.endpoint).href;
    return { ...model, ...facts, url, summary: summaryOf(readme), quants: byQuant(known), refused };
  }

  /** One file with its parts and its projector, of the commit that `revision` names. */
  async file(repo: string, revision: string, path: string) {
    const commit = /^[0-9a-f]{40}$/.test(revision) ? revision : (await this.api.model(repo, revision)).revision;
    const { files, refused } = await this.files(repo, commit);
    const refusal = refused.find((one) => one.file === path);
    if (refusal) {
      const hint = 'Choose another file. Where HF_ENDPOINT names a mirror, that is probably at fault.';
      throw new ConcertinaError('model-invalid', msg`${{ path }} cannot be downloaded. ${{ why: refusal.why }}`, hint);
    }
    const file = files.find((one) => one.file === path);
    if (!file)
      throw new ConcertinaError('not-found', msg`${{ repo }} has no file ${{ path }}.`, msg`Look at its page again.`);
    if (file.missingParts > 0) {
      const message = `${repo} lacks ${file.missingParts} of the parts of ${file.title}.`;
      throw new ConcertinaError('model-invalid', message, msg`Its authors have to add them. Choose another file.`);
    }
    const parts = file.projector ? [...file.parts, file.projector] : file.parts;
    return { ...file, parts, repo, revision: commit };
  }

  /** Reads the header of the file, some megabytes at most, and asks the engine. */
  async fit({ repo, revision, file, context, longest, asker }: z.output<typeof hubFitQuestionSchema>): Promise<HubFit> {
    const remote = await this.file(repo, revision, file);
    const { path, fetched } = await this.headers.get(remote);
    const question = { path, context, longest, asker };
    const info = await this.parts.judge.inspect(path);
    const asked = await this.parts.judge.fit(question);
    const own = remote.parts.filter((part) => part !== remote.projector);
    const perToken = await this.bytesPerToken(own.map((part) => join(dirname(path), basename(part.path))));
    const rest = { info: { ...info, fileBytes: remote.bytes }, bytesPerToken: perToken, fetched };
    if (asked.fits)
      return { grade: gradeOf(asked, context.gpuLayers), gpuLayers: context.gpuLayers, fit: asked, ...rest };
    const hasGpu = asked.budgets.some(({ kind }) => kind !== 'ram');
    if (hasGpu && context.gpuLayers !== 0) {
      const beside = await this.parts.judge.fit({ ...question, context: { ...context, gpuLayers: 0 } });
      if (beside.fits) return { grade: 'partial', gpuLayers: 0, fit: beside, ...rest };
      if (!anyLength(asked) && anyLength(beside)) return { grade: 'reduced', gpuLayers: 0, fit: beside, ...rest };
    }
    return { grade: anyLength(asked) ? 'reduced' : 'none', gpuLayers: context.gpuLayers, fit: asked, ...rest };
  }

  private async bytesPerToken(paths: readonly string[]): Promise<number | null> {
    const key = paths[0] ?? '';
    const known = this.perToken.get(key);
    if (known !== undefined) return known;
    const found = await readBytesPerToken(paths);
    this.perToken.set(key, found);
    return found;
  }

  account(): HubAccount {
    const { token, http } = this.parts;
    return { endpoint: http.endpoint.origin, proxy: http.proxy, token: token.source, canSave: token.canSave };
  }

  async setToken(token: string | null): Promise<HubAccount> {
    await this.parts.token.set(token);
    return this.account();
  }

  catalog(): Promise<CatalogEntry[]> {
    return readCatalog(this.parts.catalogFile);
  }

  close(): Promise<void> {
    return this.parts.http.close();
  }

  private files(repo: string, commit: string): Promise<ModelFiles> {
    const key = `${repo} ${commit}`;
    const known = this.trees.get(key);
    if (known) return known;
    const files = this.api.tree(repo, commit).then(modelFilesOf);
    this.trees.set(key, files);
    files.catch(() => this.trees.delete(key));
    if (this.trees.size > keptTrees) this.trees.delete(this.trees.keys().next().value as string);
    return files;
  }
}

/** Of what fits: whether the GPU, where there is one, has all of it. */
function gradeOf({ budgets, placement }: ContextFit, gpuLayers: number): FitGrade {
  const hasGpu = budgets.some(({ kind }) => kind !== 'ram');
  return placement || (hasGpu && gpuLayers >= 0) ? 'partial' : 'full';
}

const anyLength = ({ marks }: ContextFit) => marks.some(({ nCtx }) => nCtx > 0);
// assets/catalog/models.json: models to begin with, for a first start without a network.

const catalogSchema = z.object({ version: z.literal(1), models: z.array(catalogEntrySchema) });

async function readCatalog(path: string): Promise<CatalogEntry[]> {
  try {
    return catalogSchema.parse(JSON.parse(await readFile(path, 'utf8'))).models;
  } catch (error) {
    throw storageError('The list of suggested models could not be read', error);
  }
}

// Puts the hub and the downloads together; the app and the command line both begin here.

export interface HubOptions {
  dataFolder: string;
  catalogFile: string;
  version: string;
  keyring: Keyring | null;
  keepAwake?: (on: boolean) => void;
  judge: Judge;
  downloadSettings: () => DownloadSettings;
  onModel(path: string): Promise<string | null>;
  log: Logger;
  environment?: NodeJS.ProcessEnv;
  timing?: Timing;
  chunk?: number;
  stallMs?: number;
  /** bytes that are free in a folder */
  free?: (folder: string) => Promise<number | null>;
}

export interface Hub {
  service: HubService;
  downloads: Downloads;
  token: TokenStore;
  notices: string[];
  close(): Promise<void>;
}

/** Downloads are not taken up yet: `downloads.open` does that. */
export async function setUpHub(options: HubOptions): Promise<Hub> {
  const { dataFolder, environment = process.env, log } = options;
  const token = new TokenStore(join(dataFolder, 'hub-token'), options.keyring, environment);
  await token.load();
  const { endpoint, problem } = endpointOrUsual(environment);
  const http = new HubHttp({
    endpoint,
    token: () => token.get(),
    userAgent: `concertina/${options.version}`,
    environment,
    ...(options.stallMs === undefined ? {} : { stallMs: options.stallMs }),
  });
  const folder = () => downloadFolderOf(dataFolder, options.downloadSettings());
  const list = new DownloadList(join(dataFolder, 'downloads.json'));
  const service = new HubService({
    ...{ http, token, judge: options.judge },
    headerFolder: join(dataFolder, 'headers'),
    catalogFile: options.catalogFile,
    async localId(repo, file, bytes) {
      const path = placeOf(folder(), repo, file);
      const info = await stat(path).catch(() => null);
      // of a split file the first part alone is smaller
      return info && info.size <= bytes ? modelIdOf(path) : null;
    },
  });
  const downloads = new Downloads({
    ...{ http, list, folder, log },
    parallel: () => options.downloadSettings().parallel,
    find: (repo, revision, file) => service.file(repo, revision, file),
    onModel: options.onModel,
    ...(options.keepAwake ? { keepAwake: options.keepAwake } : {}),
    ...(options.timing ? { timing: options.timing } : {}),
    ...(options.chunk ? { chunk: options.chunk } : {}),
    ...(options.free ? { free: options.free } : {}),
  });

  let closed: Promise<void> | null = null;
  function close(): Promise<void> {
    closed ??= downloads.close().then(() => service.close());
    return closed;
  }

  return {
    ...{ service, downloads, token, close },
    // the list is read when the downloads are opened
    get notices() {
      return [...token.notices, ...list.notices, ...problem];
    },
  };
}

/** A wrong HF_ENDPOINT must not keep the app from starting. */
function endpointOrUsual(environment: NodeJS.ProcessEnv): { endpoint: URL; problem: string[] } {
  try {
    return { endpoint: endpointOf(environment), problem: [] };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { endpoint: endpointOf({}), problem: [`${message} The usual hub is asked.`] };
  }
}

/** Where downloaded models lie. */
export function downloadFolderOf(dataFolder: string, { folder }: DownloadSettings): string {
  return folder ?? join(dataFolder, 'models');
}
