/** The models that a person can choose: the embedded one, added files, and the GGUF files of added folders. Read only. */
import { basename, join, resolve } from 'node:path';
import type { AddModelsResult } from '../../shared/contract';
import { ConcertinaError, type ErrorPayload, toErrorPayload } from '../../shared/errors';
import type { ModelEntry, ModelInfo } from '../../shared/models';
import { Emitter } from './emitter';
import { checkModelFile, type FoundFile, findModels, kindOf, modelIdOf, shownLocation } from './modelFiles';
import type { ModelList } from './modelList';

type Source = ModelEntry['source'];
type Inspection = { info: ModelInfo | null; problem: ErrorPayload | null };

export interface Inspector {
  /** reads the header of a model file; rejects with a coded error */
  inspect(path: string): Promise<ModelInfo>;
}

interface Known {
  id: string;
  path: string;
  source: Source;
  file: FoundFile | null;
}

export class ModelLibrary {
  readonly changed = new Emitter<ModelEntry[]>();
  private known = new Map<string, Known>();
  /** by path, size and time of the file: a replaced file is looked at again */
  private readonly inspections = new Map<string, Inspection>();
  private inspecting: Promise<void> | null = null;

  constructor(
    private readonly embeddedFolder: string,
    private readonly added: ModelList,
    private readonly inspector: Inspector,
    /** where downloads end up; null: nowhere */
    private readonly downloadFolder: () => string | null = () => null,
  ) {}

  /** Looks at the disk again. Headers that were not read yet follow with a `changed` event. */
  async list(): Promise<ModelEntry[]> {
    this.known = await this.scan();
    this.inspecting ??= this.inspectAll().finally(() => {
      this.inspecting = null;
    });
    return this.entries();
  }

  /** The path behind an id; checks that the file is still there and a GGUF file. */
  async pathOf(modelId: string): Promise<string> {
    const path = (await this.find(modelId)).path;
    await checkModelFile(path);
    return path;
  }

  async defaultModelId(): Promise<string | null> {
    this.known = await this.scan();
    return [...this.known.values()].find((one) => one.source === 'embedded')?.id ?? null;
  }

  /** Adds files and folders; what cannot be used is refused with the reason, and the rest is added. */
  async add(paths: string[]): Promise<AddModelsResult> {
    const ids = new Set<string>();
    const refused: AddModelsResult['refused'] = [];
    for (const path of paths.map((one) => resolve(one))) {
      try {
        for (const id of await this.addOne(path)) ids.add(id);
      } catch (error) {
        refused.push({ name: basename(path), error: toErrorPayload(error) });
      }
    }
    this.known = await this.scan();
    const entries = this.entries();
    this.changed.emit(entries);
    return { added: entries.filter((entry) => ids.has(entry.id)), refused };
  }

  async remove(modelId: string): Promise<void> {
    const { path, source } = await this.find(modelId);
    if (source === 'embedded') throw new ConcertinaError('forbidden', 'The embedded model cannot be removed.');
    const folders = [...this.added.get().folders, ...this.downloads()];
    const inFolder = folders.some((folder) => path.startsWith(join(folder, '/')));
    await this.added.remove(path, inFolder);
    this.known = await this.scan();
    this.changed.emit(this.entries());
  }

  /** A download put a file in its place: it is listed, also when it was taken off the list before. Its id; null: not there */
  async adopt(path: string): Promise<string | null> {
    if ((await kindOf(path)) !== 'file') return null;
    await this.added.unhide(path);
    await this.list();
    this.changed.emit(this.entries());
    return modelIdOf(path);
  }

  private downloads(): string[] {
    const folder = this.downloadFolder();
    return folder === null ? [] : [folder];
  }

  private async addOne(path: string): Promise<string[]> {
    const kind = await kindOf(path);
    if (kind === 'folder') return this.addFolder(path);
    const file = await checkModelFile(path);
    // somebody asks again: the problem of the last look may have been a crash that was none of this file's doing
    this.inspections.delete(inspectionKey(file));
    const { problem } = await this.inspect(file);
    if (problem) throw ConcertinaError.fromPayload(problem);
    await this.added.addFile(path);
    return [modelIdOf(path)];
  }

  private async addFolder(path: string): Promise<string[]> {
    const files = await findModels(path);
    if (files.length === 0) {
      throw new ConcertinaError('not-found', `There is no .gguf file in ${basename(path)}.`, 'Choose another folder.');
    }
    const paths = files.map((file) => file.path);
    await this.added.addFolder(path, paths);
    for (const file of files) await this.inspect(file);
    return paths.map(modelIdOf);
  }

  private async find(modelId: string): Promise<Known> {
    if (!this.known.has(modelId)) this.known = await this.scan();
    const known = this.known.get(modelId);
    if (!known)
      throw new ConcertinaError('not-found', 'This model is not on the list any more.', 'Choose another one.');
    return known;
  }

  private async scan(): Promise<Map<string, Known>> {
    const { files, folders, hidden } = this.added.get();
    const known = new Map<string, Known>();
    function put(id: string, path: string, source: Source, file: FoundFile | null): void {
      if (!known.has(id)) known.set(id, { id, path, source, file });
    }
    // the folder of the embedded model moves with every release of the app: its id must not
    for (const file of await findModels(this.embeddedFolder)) {
      put(modelIdOf(`embedded:${basename(file.path)}`), file.path, 'embedded', file);
    }
    for (const path of files) put(modelIdOf(path), path, 'file', await checkModelFile(path).catch(() => null));
    const sources = [
      ...this.downloads().map((folder) => ({ folder, source: 'downloaded' as const })),
      ...folders.map((folder) => ({ folder, source: 'folder' as const })),
    ];
    for (const { folder, source } of sources) {
      for (const file of await findModels(folder)) {
        if (!hidden.includes(file.path)) put(modelIdOf(file.path), file.path, source, file);
      }
    }
    return known;
  }

  private entries(): ModelEntry[] {
    return [...this.known.values()].map(({ id, path, source, file }) => {
      const inspection = file ? this.inspections.get(inspectionKey(file)) : { info: null, problem: missing(path) };
      return {
        id,
        fileName: basename(path),
        location: source === 'embedded' ? 'part of the app' : shownLocation(path),
        source,
        fileBytes: file?.bytes ?? 0,
        info: inspection?.info ?? null,
        problem: inspection?.problem?.message ?? null,
      };
    });
  }

  private async inspectAll(): Promise<void> {
    const files = [...this.known.values()].flatMap(({ file }) => (file ? [file] : []));
    const unread = files.filter((file) => !this.inspections.has(inspectionKey(file)));
    for (const file of unread) await this.inspect(file);
    if (unread.length > 0) this.changed.emit(this.entries());
  }

  private async inspect(file: FoundFile): Promise<Inspection> {
    const key = inspectionKey(file);
    const known = this.inspections.get(key);
    if (known) return known;
    const inspection = await this.inspector.inspect(file.path).then(
      (info) => ({ info, problem: null }),
      (error: unknown) => ({ info: null, problem: namedProblem(file.path, toErrorPayload(error)) }),
    );
    // an engine that is not there says nothing about the file: it can be added, and is looked at again later
    if (inspection.problem?.code === 'engine-unavailable') return { info: null, problem: null };
    this.inspections.set(key, inspection);
    return inspection;
  }
}

function inspectionKey(file: FoundFile): string {
  return `${file.path}|${file.bytes}|${file.modifiedMs}`;
}

/** In a list of refusals a message without the name of its file helps nobody. */
function namedProblem(path: string, problem: ErrorPayload): ErrorPayload {
  const name = basename(path);
  return problem.message.includes(name) ? problem : { ...problem, message: `${name}: ${problem.message}` };
}

function missing(path: string): ErrorPayload {
  return { code: 'model-missing', message: `${basename(path)} is not there any more, or it is damaged.`, hint: '' };
}
