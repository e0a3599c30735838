/** The models that a person can choose: the embedded one, added files, and the GGUF files of added folders. Read only. */
import { basename, isAbsolute, join, resolve } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { AddModelsResult, AddProgress, ModelDetails, ModelEntry, ModelPlaces } from '../../contract/models';
import type { ContextSettings } from '../../contract/settings';
import type { ModelInspector } from '../engine/modelInspector';
import { type HeaderFacts, readHeaderFacts } from '../hub/ggufHeader';
import { Emitter } from '../lib/emitter';
import { asSpelled, isInside, isSamePath } from '../lib/paths';
import type { Unsaved } from '../lib/unsaved';
import type { ModelDefaultsStore } from '../settings/perModelSettings';
import { Deletions, type Remove, removeFiles } from './deletion';
import { Duplicates, HashWorker } from './duplicates';
import { FolderWatch } from './folderWatch';
import { checkModelFile, type FoundFile, kindOf, ModelList, modelIdOf, shownFolder } from './modelFiles';
import { entryNamed } from './modelNames';
import { appOf, type Machine, placesHere, thisMachine } from './places';
import { projectorBeside } from './projectors';
import { entriesOf, type Inspection, Inspections, type Known, namedProblem, onlyPictures, scanModels } from './scan';
import { walkModels } from './walk';

const addProgressEveryMs = 100;

export interface LibraryParts {
  embeddedFolder: string;
  added: ModelList;
  inspector: Pick<ModelInspector, 'inspect'>;
  /** where downloads end up; left out: nowhere */
  downloadFolder?: () => string;
  /** where other apps may keep models; left out: this one */
  machine?: Machine;
  /** what is set for a model alone; it follows the files whose settings it has */
  defaults?: Pick<ModelDefaultsStore, 'of' | 'see'>;
  /** finds files with the same content; left out: only links to one file are known for that */
  duplicates?: Duplicates;
  /** what earlier starts have read of files; left out: nothing */
  inspections?: Inspections;
  /** how long a deleted model can be had back; left out: as a person needs it */
  deletions?: Deletions;
  /** folders are watched, and changes in them are emitted */
  watch?: boolean;
}

export class ModelLibrary {
  readonly changed = new Emitter<ModelEntry[]>();
  /** of the folder that is being added; at most ten times a second */
  readonly addProgress = new Emitter<AddProgress>();
  private readonly adding = new Set<AbortController>();
  private known = new Map<string, Known>();
  private readonly inspections: Inspections;
  private inspecting: Promise<void> | null = null;
  /** what was emitted last: nothing is emitted twice */
  private emitted = '';
  private readonly watcher: FolderWatch | null;
  private readonly added: ModelList;
  private readonly machine: Machine;
  private readonly deletions: Deletions;

  constructor(private readonly parts: LibraryParts) {
    this.added = parts.added;
    this.machine = parts.machine ?? thisMachine();
    this.deletions = parts.deletions ?? new Deletions();
    this.inspections = parts.inspections ?? new Inspections();
    this.watcher = parts.watch ? new FolderWatch(() => void this.lookAgain()) : null;
  }

  /** Looks at the disk again. Headers that were not read yet follow with a `changed` event. */
  async list(): Promise<ModelEntry[]> {
    await this.scan();
    this.inspectMore();
    const entries = this.entries();
    this.emitted = JSON.stringify(entries);
    return entries;
  }

  /** The path behind an id; checks that the file is still there and a GGUF file. */
  async pathOf(modelId: string): Promise<string> {
    const { path, file } = await this.find(modelId);
    if (file?.problem) throw ConcertinaError.fromPayload(file.problem);
    await checkModelFile(path);
    return path;
  }

  /**
   * The settings with the paths of the other files that they ask for: of the projector beside the model at `path` ('': a model that is
   * not here), and of the model that drafts and of adapters, which they name as a person does: by an id, a name or as a whole path. One
   * that is not there is for the engine to refuse.
   */
  async withFiles<C extends Partial<ContextSettings>>(path: string, asked: C): Promise<C> {
    const { speculation, draftModel = '', projector } = asked;
    const context = projector === 'auto' ? { ...asked, projector: await projectorBeside(path) } : asked;
    const adapters = asked.adapters?.map(async (one) => ({ ...one, model: await this.fileNamed(one.model) }));
    const files = adapters ? { ...context, adapters: await Promise.all(adapters) } : context;
    return speculation === 'draft' ? { ...files, draftModel: await this.fileNamed(draftModel) } : files;
  }

  private async fileNamed(word: string): Promise<string> {
    if (word === '' || isAbsolute(word)) return word;
    try {
      return await this.pathOf(this.known.has(word) ? word : entryNamed(await this.list(), word).id);
    } catch {
      return word;
    }
  }

  async details(modelId: string): Promise<HeaderFacts & Pick<ModelDetails, 'sha256'>> {
    const path = await this.pathOf(modelId);
    const { file } = await this.find(modelId);
    return { ...(await readHeaderFacts(path)), sha256: file && (this.parts.duplicates?.digestOf(file) ?? null) };
  }

  async defaultModelId(): Promise<string | null> {
    await this.scan();
    return [...this.known.values()].find((one) => one.source === 'embedded')?.id ?? null;
  }

  /**
   * Adds files and folders; what cannot be used is refused with the reason, and the rest is added. When it is canceled, what
   * was added by then stays.
   */
  async add(paths: string[]): Promise<AddModelsResult> {
    const ids = new Set<string>();
    const refused: AddModelsResult['refused'] = [];
    const controller = new AbortController();
    this.adding.add(controller);
    for (const given of paths.map((one) => resolve(one))) {
      const path = await asSpelled(given);
      try {
        for (const id of await this.addOne(path, controller.signal)) ids.add(id);
      } catch (error) {
        if (controller.signal.aborted) break;
        refused.push({ name: basename(path), error: toErrorPayload(error) });
      }
    }
    this.adding.delete(controller);
    const entries = await this.list();
    this.changed.emit(entries);
    return { added: entries.filter(({ places }) => places.some(({ id }) => ids.has(id))), refused };
  }

  cancelAdd(): void {
    for (const controller of this.adding) controller.abort();
  }

  /** Folders of other apps that are there and not on the list, of which nothing was read; and those that are on it. */
  async places(): Promise<ModelPlaces> {
    const { folders } = this.added.get();
    const here = await placesHere(this.machine);
    const isAdded = (folder: string) => folders.some((one) => isSamePath(folder, one) || isInside(folder, one));
    const offered = here.filter(({ folder }) => !isAdded(folder));
    const listed = folders.map(async (folder) => ({
      id: modelIdOf(folder),
      app: appOf(folder, this.machine),
      location: shownFolder(folder, this.machine.home),
      there: (await kindOf(folder)) === 'folder',
      models: [...this.known.values()].filter(
        ({ path, key, file }) => file && !file.problem && (isInside(path, folder) || isInside(key, folder)),
      ).length,
    }));
    return {
      offered: offered.map(({ app, folder }) => ({
        ...{ id: modelIdOf(folder), app },
        location: shownFolder(folder, this.machine.home),
      })),
      folders: await Promise.all(listed),
    };
  }

  /** Adds folders that `places` offered. */
  async addPlaces(ids: readonly string[]): Promise<AddModelsResult> {
    const here = await placesHere(this.machine);
    return this.add(here.map(({ folder }) => folder).filter((folder) => ids.includes(modelIdOf(folder))));
  }

  /** The folder leaves the list with its models; nothing of it is touched. */
  async removeFolder(id: string): Promise<void> {
    const folder = this.added.get().folders.find((one) => modelIdOf(one) === id);
    if (folder === undefined) throw new ConcertinaError('not-found', msg`This folder is not on the list any more.`);
    await this.added.removeFolder(folder);
    this.changed.emit(await this.list());
  }

  async remove(modelId: string): Promise<void> {
    const { path, key, source } = await this.find(modelId);
    if (source === 'embedded') throw new ConcertinaError('forbidden', msg`The embedded model cannot be removed.`);
    const folders = [...this.added.get().folders, ...this.downloads()];
    await this.added.remove(
      key,
      folders.some((folder) => isInside(path, folder) || isInside(key, folder)),
    );
    await this.scan();
    this.changed.emit(this.entries());
  }

  /**
   * Takes a model off the list, and removes its files with what `removerFor` gives or refuses; `undo`: when nobody has kept it for
   * a while. Of a model with several places: this one. @returns false: it was kept
   */
  async delete(modelId: string, removerFor: (source: Known['source']) => Remove, undo = true): Promise<boolean> {
    const model = await this.find(modelId);
    if (model.source === 'embedded') throw new ConcertinaError('forbidden', msg`The embedded model cannot be removed.`);
    const remove = removerFor(model.source);
    const act = async () => {
      await removeFiles(model, this.known.values(), remove);
      if (model.source === 'file') await this.added.remove(model.key, false);
    };
    const show = async () => this.changed.emit(await this.list());
    if (!undo)
      return act()
        .then(() => true)
        .finally(show);
    return Promise.all([this.deletions.run(modelId, act), show()])
      .then(([deleted]) => deleted)
      .finally(show);
  }

  /** Ends a `delete` that waits. */
  keep(modelId: string): void {
    this.deletions.keep(modelId);
  }

  async close(): Promise<void> {
    this.watcher?.close();
    await this.deletions.finish();
  }

  /** A download put a file in its place: it is listed, also when it was taken off the list before. Its id; null: not there */
  async adopt(path: string): Promise<string | null> {
    if ((await kindOf(path)) !== 'file') return null;
    await this.added.unhide(path);
    this.changed.emit(await this.list());
    return modelIdOf(path);
  }

  /** For what is not in the files: what is set for a model changed. */
  async refresh(): Promise<void> {
    if (this.known.size === 0) await this.scan();
    else await this.updateDefaults();
    this.emitIfChanged();
  }

  private downloads(): string[] {
    const folder = this.parts.downloadFolder?.();
    return folder === undefined ? [] : [folder];
  }

  private async addOne(path: string, signal: AbortSignal): Promise<string[]> {
    if ((await kindOf(path)) === 'folder') return this.addFolder(path, signal);
    const file = await checkModelFile(path);
    // somebody asks again: the problem of the last look may have been a crash that was none of this file's doing
    if (this.inspections.of(file)?.problem) this.inspections.forget(file);
    const { problem } = await this.inspect(file);
    if (problem) throw ConcertinaError.fromPayload(problem);
    await this.added.addFile(path);
    return [modelIdOf(path)];
  }

  private async addFolder(path: string, signal: AbortSignal): Promise<string[]> {
    let toldAt = 0;
    const onStep = (progress: AddProgress) => {
      if (Date.now() - toldAt < addProgressEveryMs) return;
      toldAt = Date.now();
      this.addProgress.emit(progress);
    };
    const { files } = await walkModels(path, { onStep, signal });
    const nothing = msg`There is no GGUF model in ${{ path: basename(path) }}.`;
    if (files.length === 0) throw new ConcertinaError('not-found', nothing, msg`Choose another folder.`);
    const keys = files.map(({ key }) => key);
    await this.added.addFolder(path, keys);
    return keys.map(modelIdOf);
  }

  private async find(modelId: string): Promise<Known> {
    if (!this.known.has(modelId)) await this.scan();
    const known = this.known.get(modelId);
    if (known) return known;
    throw new ConcertinaError('not-found', msg`The file of this model is gone.`, msg`Choose another model.`);
  }

  private async scan(): Promise<void> {
    const { files, folders, hidden } = this.added.get();
    const { known, watched } = await scanModels({
      ...{ embedded: this.parts.embeddedFolder, downloads: this.downloads() },
      ...{ files, folders, hidden },
    });
    this.known = new Map([...known].filter(([id]) => !this.deletions.has(id)));
    this.watcher?.set(watched);
    await this.updateDefaults();
  }

  /** The embedded model is left out: its settings stay with its name, whatever a release of the app makes of it. */
  private async updateDefaults(): Promise<void> {
    const { defaults, duplicates } = this.parts;
    const seen = [...this.known.values()].flatMap(({ id, source, file }) =>
      file && source !== 'embedded' && !file.problem
        ? [{ id, bytes: file.bytes, sample: async () => (await duplicates?.sampleOf(file)) ?? null }]
        : [],
    );
    await defaults?.see(seen);
  }

  private entries(): ModelEntry[] {
    return entriesOf(this.known.values(), {
      inspectionOf: (file) => this.inspections.of(file),
      digestOf: (file) => this.parts.duplicates?.digestOf(file) ?? null,
      appOf: (path) => appOf(path, this.machine),
      defaultsOf: (id) => this.parts.defaults?.of(id) ?? null,
    });
  }

  private inspectMore(): void {
    this.inspecting ??= this.inspectAll().finally(() => {
      this.inspecting = null;
      void this.compare();
    });
  }

  private async compare(): Promise<void> {
    const files = [...this.known.values()].flatMap(({ source, file }) =>
      file && source !== 'embedded' && !file.problem && !this.inspections.of(file)?.problem ? [file] : [],
    );
    if (await this.parts.duplicates?.look(files)) this.emitIfChanged();
  }

  private async lookAgain(): Promise<void> {
    await this.scan();
    this.emitIfChanged();
    this.inspectMore();
  }

  private emitIfChanged(): void {
    const entries = this.entries();
    const text = JSON.stringify(entries);
    if (text === this.emitted) return;
    this.emitted = text;
    this.changed.emit(entries);
  }

  private async inspectAll(): Promise<void> {
    const files = [...this.known.values()].flatMap(({ file }) => (file && !file.problem ? [file] : []));
    const unread = files.filter((file) => !this.inspections.of(file));
    for (const file of unread) await this.inspect(file);
    if (unread.length > 0) this.emitIfChanged();
    await this.inspections.keep(files);
  }

  private async inspect(file: FoundFile): Promise<Inspection> {
    const known = this.inspections.of(file);
    if (known) return known;
    const inspection = await this.parts.inspector.inspect(file.path).then(
      (info) => (info.architecture === 'clip' ? { info: null, problem: onlyPictures(file) } : { info, problem: null }),
      (error: unknown) => ({ info: null, problem: namedProblem(file, toErrorPayload(error)) }),
    );
    // an engine that is not there says nothing about the file: it can be added, and is looked at again later
    if (inspection.problem?.code === 'engine-unavailable') return { info: null, problem: null };
    this.inspections.set(file, inspection);
    return inspection;
  }
}

interface ModelsSetUp extends Required<Pick<LibraryParts, 'inspector' | 'downloadFolder' | 'embeddedFolder'>> {
  dataFolder: string;
  /** of the app */
  version: string;
  workerFile: string;
  unsaved: Unsaved;
  defaults: ModelDefaultsStore;
}

export async function setUpModels({ dataFolder, version, workerFile, unsaved, ...parts }: ModelsSetUp) {
  const added = new ModelList(join(dataFolder, 'models.json')).keepIn(unsaved, 'the list of models');
  const hashes = new HashWorker(workerFile);
  const duplicates = new Duplicates(join(dataFolder, 'model-hashes.json'), (paths, sample) =>
    hashes.ask({ paths, sample }),
  );
  const inspections = new Inspections({ path: join(dataFolder, 'inspections.json'), app: version });
  await Promise.all([added.load(), duplicates.load(), inspections.load()]);
  const models = new ModelLibrary({ ...parts, added, duplicates, inspections, watch: true });
  parts.defaults.changed.on(() => void models.refresh());

  async function close(): Promise<void> {
    await models.close();
    await hashes.close();
  }

  return { models, notices: added.notices, close };
}
