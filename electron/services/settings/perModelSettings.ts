/**
 * model-settings.json: what is set for one model alone. It follows the content of its file: one that was moved or renamed
 * keeps it, and copies of one file share it. An unreadable list is set aside, not lost.
 */
import { z } from 'zod';
import { type ModelDefaults, modelDefaultsSchema } from '../../contract/modelDefaults';
import { Emitter } from '../lib/emitter';
import { readOrSetAside, writeFileAtomic } from '../lib/files';
import { followed, type OwnSettings } from './ownSettings';

const ownSchema = z.object({ ids: z.array(z.string()), content: z.string().nullable(), defaults: modelDefaultsSchema });
/** as it was while settings stayed with the place of a file */
const byPlaceSchema = z
  .object({ version: z.literal(1), models: z.record(z.string(), modelDefaultsSchema) })
  .transform(({ models }) => Object.entries(models).map(([id, defaults]) => ({ ids: [id], content: null, defaults })));
const fileSchema = z.union([
  z.object({ version: z.literal(2), models: z.array(ownSchema) }).transform(({ models }) => models),
  byPlaceSchema,
]);

/** A file of the library. */
export interface SeenModel {
  id: string;
  /** of all parts */
  bytes: number;
  /** hash of its beginning and end; null: it cannot be read now */
  sample(): Promise<string | null>;
}

export class ModelDefaultsStore {
  /** something is set for other models, or something else is */
  readonly changed = new Emitter<void>();
  readonly notices: string[] = [];
  private models: readonly OwnSettings[] = [];
  private writing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly now: () => Date = () => new Date(),
  ) {}

  async load(): Promise<void> {
    const models = await readOrSetAside(this.path, fileSchema.parse, this.now(), (name) =>
      this.notices.push(
        `The settings of single models could not be read. They were kept as ${name}; all models have the same now.`,
      ),
    );
    if (models) this.models = models;
  }

  /** null: the model has nothing of its own */
  of(modelId: string): ModelDefaults | null {
    return this.find(modelId)?.defaults ?? null;
  }

  all(): ModelDefaults[] {
    return this.models.map(({ defaults }) => defaults);
  }

  /** null, and one with nothing in it: as all other models. The change counts once it is on disk. */
  set(modelId: string, defaults: ModelDefaults | null): Promise<void> {
    return this.afterOthers(async () => {
      const before = this.find(modelId) ?? { ids: [modelId], content: null };
      const others = this.models.filter((one) => one !== before);
      const empty = !defaults || Object.values(defaults).every((part) => part === null);
      await this.save(empty ? others : [...others, { ...before, defaults }]);
      this.changed.emit();
    });
  }

  /**
   * What is set for one of the models `from` is set for `to` from now on, unless that has something of its own.
   * @returns whether there was something
   */
  async replaceModel(from: readonly string[], to: string): Promise<boolean> {
    const [moved, ...others] = this.models.filter(({ ids }) => ids.some((id) => from.includes(id)));
    if (!moved) return false;
    await this.afterOthers(async () => {
      const rest = this.models.filter((one) => one !== moved && !others.includes(one));
      await this.save(this.find(to) ? rest : [...rest, { ...moved, ids: [to] }]);
    });
    return true;
  }

  /** What the library has now. Only files that have settings, and those of the size of one that has, are looked into. */
  async see(models: readonly SeenModel[]): Promise<void> {
    const contents = new Map<string, string>();
    for (const model of models.filter((one) => this.concerns(one))) {
      const sample = await model.sample();
      if (sample !== null) contents.set(model.id, contentOf(model.bytes, sample));
    }
    if (contents.size === 0) return;
    const present = new Set(models.map(({ id }) => id));
    await this.afterOthers(async () => {
      const next = followed(this.models, contents, present);
      if (JSON.stringify(next) === JSON.stringify(this.models)) return;
      // what cannot be written down is found out again
      await this.save(next).catch(() => undefined);
      this.models = next;
      this.changed.emit();
    });
  }

  private find(modelId: string): OwnSettings | undefined {
    return this.models.find(({ ids }) => ids.includes(modelId));
  }

  private concerns({ id, bytes }: SeenModel): boolean {
    return this.models.some(({ ids, content }) => ids.includes(id) || content?.startsWith(contentOf(bytes, '')));
  }

  private async save(models: readonly OwnSettings[]): Promise<void> {
    await writeFileAtomic(this.path, `${JSON.stringify({ version: 2, models }, null, 2)}\n`);
    this.models = models;
  }

  private afterOthers(task: () => Promise<void>): Promise<void> {
    const result = this.writing.then(task);
    this.writing = result.catch(() => undefined);
    return result;
  }
}

function contentOf(bytes: number, sample: string): string {
  return `${bytes}-${sample}`;
}
