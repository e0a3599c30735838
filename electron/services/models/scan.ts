/** Everything that the list of models is made of, as it lies on the disk now. */

import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import { ConcertinaError, type ErrorPayload } from '../../contract/errors';
import { type ModelEntry, type ModelInfo, type ModelPlace, modelInfoSchema } from '../../contract/models';
import type { ModelDefaults } from '../../contract/settings';
import { JsonFile } from '../lib/jsonFile';
import { builtInIdOf, checkModelFile, type FoundFile, modelIdOf, shownLocation } from './modelFiles';
import { walkModels } from './walk';

export interface Known {
  id: string;
  source: ModelEntry['source'];
  /** what the engine opens */
  path: string;
  /** stands for it in models.json */
  key: string;
  /** null: it is not there any more, or it is no model */
  file: FoundFile | null;
}

interface ScanPlaces {
  embedded: string;
  downloads: readonly string[];
  files: readonly string[];
  folders: readonly string[];
  /** keys that a person took off the list */
  hidden: readonly string[];
}

interface Scan {
  known: Map<string, Known>;
  /** to be watched: a change in one of them can change the list */
  watched: string[];
}

export async function scanModels({ embedded, downloads, files, folders, hidden }: ScanPlaces): Promise<Scan> {
  const known = new Map<string, Known>();
  const watched = new Set<string>();

  function put(id: string, source: Known['source'], key: string, path: string, file: FoundFile | null): void {
    if (!known.has(id)) known.set(id, { id, source, key, path, file });
  }

  for (const file of (await walkModels(embedded)).files) {
    put(builtInIdOf(basename(file.path)), 'embedded', file.key, file.path, file);
  }
  for (const path of files) {
    put(modelIdOf(path), 'file', path, path, await checkModelFile(path).catch(() => null));
    watched.add(dirname(path));
  }
  const sources = [
    ...downloads.map((folder) => ({ folder, source: 'downloaded' as const })),
    ...folders.map((folder) => ({ folder, source: 'folder' as const })),
  ];
  for (const { folder, source } of sources) {
    watched.add(folder);
    const walk = await walkModels(folder);
    for (const one of walk.folders) watched.add(one);
    for (const file of walk.files) {
      if (!hidden.includes(file.key)) put(modelIdOf(file.key), source, file.key, file.path, file);
    }
  }
  return { known, watched: [...watched] };
}

// The list of models as a window sees it: files with the same content are one entry with several places. Pure.

export interface Inspection {
  info: ModelInfo | null;
  problem: ErrorPayload | null;
}

const keptSchema = z.object({ app: z.string(), files: z.record(z.string(), modelInfoSchema) });

/** What was read of files, by path, size and time: a replaced file is looked at again. Reading takes a process of its own. */
export class Inspections {
  private readonly known = new Map<string, Inspection>();
  private readonly file: JsonFile<z.infer<typeof keptSchema>> | null;

  /** `path`: of the file that keeps them for later starts; `app`: its version, of which another one may read more */
  constructor(private readonly kept: { path: string; app: string } | null = null) {
    const initial = { app: '', files: {} };
    this.file = kept && new JsonFile({ path: kept.path, version: 1, schema: keptSchema, initial, compact: true });
  }

  async load(): Promise<void> {
    await this.file?.load();
    const { app, files } = this.file?.get() ?? { app: null, files: {} };
    if (app !== this.kept?.app) return;
    for (const [key, info] of Object.entries(files)) this.known.set(key, { info, problem: null });
  }

  of(file: FoundFile): Inspection | undefined {
    return this.known.get(inspectionKey(file));
  }

  set(file: FoundFile, inspection: Inspection): void {
    this.known.set(inspectionKey(file), inspection);
  }

  forget(file: FoundFile): void {
    this.known.delete(inspectionKey(file));
  }

  /** A problem is not kept: it may be the engine's. A full disk only means that the files are read again. */
  async keep(present: readonly FoundFile[]): Promise<void> {
    const { app } = this.kept ?? { app: '' };
    const read = present.flatMap((file) => {
      const info = this.of(file)?.info;
      return info ? [[inspectionKey(file), info] as const] : [];
    });
    const next = { app, files: Object.fromEntries(read) };
    await this.file?.remember((now) => (isDeepStrictEqual(now, next) ? now : next));
  }
}

function inspectionKey(file: FoundFile): string {
  return `${file.path}|${file.bytes}|${file.modifiedMs}`;
}

interface EntryFacts {
  /** undefined: not read yet */
  inspectionOf(file: FoundFile): Inspection | undefined;
  /** of the content; null: not known, the file stands for itself */
  digestOf(file: FoundFile): string | null;
  appOf(path: string): string | null;
  defaultsOf(id: string): ModelDefaults | null;
}

export function entriesOf(known: Iterable<Known>, facts: EntryFacts): ModelEntry[] {
  const entries = new Map<string, ModelEntry>();
  for (const one of known) {
    const content = contentOf(one, facts);
    const entry = entries.get(content);
    if (entry) entry.places.push(placeOf(one, facts));
    else entries.set(content, entryOf(one, facts));
  }
  return [...entries.values()];
}

/** What is part of the app, or not whole, is one with nothing else. */
function contentOf({ id, source, file }: Known, { digestOf, inspectionOf }: EntryFacts): string {
  if (source === 'embedded' || !file || file.problem || inspectionOf(file)?.problem) return id;
  return digestOf(file) ?? file.realPath;
}

function entryOf(known: Known, facts: EntryFacts): ModelEntry {
  const { id, source, path, file } = known;
  const inspection = file && !file.problem ? facts.inspectionOf(file) : undefined;
  const problem = file ? (file.problem ?? inspection?.problem ?? null) : missing(path);
  const place = placeOf(known, facts);
  return {
    ...{ id, source, fileName: place.fileName, location: place.location },
    fileBytes: file?.bytes ?? 0,
    info: inspection?.info ?? null,
    problem,
    places: [place],
    defaults: facts.defaultsOf(id),
  };
}

function placeOf({ id, source, path, key, file }: Known, { appOf }: EntryFacts): ModelPlace {
  const location = source === 'embedded' ? 'part of the app' : shownLocation(path);
  return { id, fileName: file?.name ?? basename(path), location, app: appOf(path) ?? appOf(key) };
}

function missing(path: string): ErrorPayload {
  const message = msg`${{ name: basename(path) }} is not there any more, or it is damaged.`;
  return new ConcertinaError('model-missing', message).toPayload();
}

// What a look at a file found wrong with it.

/** In a list of refusals a message without the name of its file helps nobody; paths of people's folders help nobody either. */
export function namedProblem({ path, name }: FoundFile, problem: ErrorPayload): ErrorPayload {
  const { message, said = problem } = problem;
  if (message.includes(path)) return { ...problem, message: message.replaceAll(path, name), said: undefined };
  if (message.includes(name) || message.includes(basename(path))) return problem;
  return new ConcertinaError(problem.code, msg`${{ name }}: ${{ why: said.message }}`, said.hint).toPayload();
}

export function onlyPictures({ name }: FoundFile): ErrorPayload {
  return new ConcertinaError(
    'model-unsupported',
    msg`${{ name }} is the part of a model that sees pictures, and no language model.`,
    msg`Choose the file of the model itself.`,
  ).toPayload();
}
