/** model-settings.json: what is set for one model alone, by its id; an unreadable file is set aside, not lost. */
import { z } from 'zod';
import { type ModelDefaults, modelDefaultsSchema } from '../../shared/modelDefaults';
import { Emitter } from './emitter';
import { readOrSetAside, writeFileAtomic } from './files';

const fileSchema = z.object({ version: z.literal(1), models: z.record(z.string(), modelDefaultsSchema) });

export class ModelDefaultsStore {
  /** id of the model whose settings changed */
  readonly changed = new Emitter<string>();
  readonly notices: string[] = [];
  private models: Record<string, ModelDefaults> = {};
  private writing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly path: string,
    private readonly now: () => Date = () => new Date(),
  ) {}

  async load(): Promise<void> {
    const file = await readOrSetAside(this.path, fileSchema.parse, this.now(), (name) =>
      this.notices.push(
        `The settings of single models could not be read. They were kept as ${name}; all models have the same now.`,
      ),
    );
    if (file) this.models = file.models;
  }

  /** null: the model has nothing of its own */
  of(modelId: string): ModelDefaults | null {
    return this.models[modelId] ?? null;
  }

  all(): ModelDefaults[] {
    return Object.values(this.models);
  }

  /** null, and one with nothing in it: as all other models. The change counts once it is on disk. */
  set(modelId: string, defaults: ModelDefaults | null): Promise<void> {
    const result = this.writing.then(async () => {
      const { [modelId]: _, ...others } = this.models;
      const empty = !defaults || Object.values(defaults).every((part) => part === null);
      const models = empty ? others : { ...others, [modelId]: defaults };
      await writeFileAtomic(this.path, `${JSON.stringify({ version: 1, models }, null, 2)}\n`);
      this.models = models;
      this.changed.emit(modelId);
    });
    this.writing = result.catch(() => undefined);
    return result;
  }
}
