/** The hub for a window and for the command line: search, one model with its files, and what a file would take of this machine. */
import { join } from 'node:path';
import type { z } from 'zod';
import { ConcertinaError } from '../../contract/errors';
import type { ContextFit } from '../../contract/fit';
import type {
  CatalogueEntry,
  FitGrade,
  HubAccount,
  HubFile,
  HubFit,
  HubModelPage,
  HubPage,
  hubFitQuestionSchema,
  hubQuestionSchema,
} from '../../contract/hub';
import type { FitRequest } from '../../contract/inspectorContract';
import type { ModelInfo } from '../../contract/models';
import { HubApi } from './api';
import { readCatalogue } from './catalogue';
import type { HubHttp } from './http';
import { summaryOf } from './readme';
import { HeaderStore } from './remoteHeader';
import { byQuant, type ModelFiles, modelFilesOf } from './repoFiles';
import type { TokenStore } from './token';

/** What looks at model files. */
export interface Judge {
  fit(question: FitRequest): Promise<ContextFit>;
  inspect(path: string): Promise<ModelInfo>;
}

export interface HubParts {
  http: HubHttp;
  token: TokenStore;
  judge: Judge;
  /** where headers are kept */
  headerFolder: string;
  /** id in the model list of a file that is on this disk */
  localId(repo: string, file: string, bytes: number): Promise<string | null>;
  catalogueFile: string;
}

const keptTrees = 50;

export class HubService {
  readonly api: HubApi;
  private readonly headers: HeaderStore;
  /** by asker */
  private readonly searches = new Map<string, AbortController>();
  /** files by model and commit: what a commit holds never changes */
  private readonly trees = new Map<string, Promise<ModelFiles>>();

  constructor(private readonly parts: HubParts) {
    this.api = new HubApi(parts.http);
    this.headers = new HeaderStore(parts.headerFolder, parts.http);
  }

  /** Rejects with `cancelled` when the same asker asks anew, or wants no answer any more. */
  async search({ query, sort, cursor, asker }: z.output<typeof hubQuestionSchema>): Promise<HubPage> {
    if (asker === undefined) return this.api.search(query, sort, cursor);
    this.cancelSearch(asker);
    const stop = new AbortController();
    this.searches.set(asker, stop);
    try {
      return await this.api.search(query, sort, cursor, stop.signal);
    } catch (error) {
      throw stop.signal.aborted ? new ConcertinaError('cancelled', 'Another search was begun.') : error;
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

  /** One file with its parts, of the commit that `revision` names. */
  async file(repo: string, revision: string, path: string) {
    const commit = /^[0-9a-f]{40}$/.test(revision) ? revision : (await this.api.model(repo, revision)).revision;
    const { files, refused } = await this.files(repo, commit);
    const refusal = refused.find((one) => one.file === path);
    if (refusal) {
      const hint = 'Choose another file. Where HF_ENDPOINT names a mirror, that is probably at fault.';
      throw new ConcertinaError('model-invalid', `${path} cannot be downloaded. ${refusal.why}`, hint);
    }
    const file = files.find((one) => one.file === path);
    if (!file) throw new ConcertinaError('not-found', `${repo} has no file ${path}.`, 'Look at its page again.');
    if (file.missingParts > 0) {
      const message = `${repo} lacks ${file.missingParts} of the parts of ${file.title}.`;
      throw new ConcertinaError('model-invalid', message, 'Its authors have to add them. Choose another file.');
    }
    return { ...file, repo, revision: commit };
  }

  /** Reads the header of the file, some megabytes at most, and asks the engine. */
  async fit({ repo, revision, file, context, longest, asker }: z.output<typeof hubFitQuestionSchema>): Promise<HubFit> {
    const remote = await this.file(repo, revision, file);
    const { path, fetched } = await this.headers.get(remote);
    const question = { path, context, longest, asker };
    const info = await this.parts.judge.inspect(path);
    const asked = await this.parts.judge.fit(question);
    const rest = { info: { ...info, fileBytes: remote.bytes }, fetched };
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

  account(): HubAccount {
    const { token, http } = this.parts;
    return { endpoint: http.endpoint.origin, proxy: http.proxy, token: token.source, canSave: token.canSave };
  }

  async setToken(token: string | null): Promise<HubAccount> {
    await this.parts.token.set(token);
    return this.account();
  }

  catalogue(): Promise<CatalogueEntry[]> {
    return readCatalogue(this.parts.catalogueFile);
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
function gradeOf({ budgets }: ContextFit, gpuLayers: number): FitGrade {
  const hasGpu = budgets.some(({ kind }) => kind !== 'ram');
  return hasGpu && gpuLayers >= 0 ? 'partial' : 'full';
}

const anyLength = ({ marks }: ContextFit) => marks.some(({ nCtx }) => nCtx > 0);

export function headerFolderOf(dataFolder: string): string {
  return join(dataFolder, 'headers');
}
