/** presets.json: checked, written atomically; an unreadable file is set aside, not lost. */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { SerialQueue } from '../../contract/serialQueue';
import { type Preset, type PresetContent, type Presets, presetsSchema } from '../../contract/settings';
import { Emitter } from '../lib/emitter';
import { readOrSetAside, writeFileAtomic } from '../lib/files';

const fileSchema = presetsSchema.extend({ version: z.literal(1) });

export class PresetStore {
  readonly changed = new Emitter<Presets>();
  /** what a person should know about how the file was read */
  readonly notices: string[] = [];
  private state: Presets = presetsSchema.parse({});
  private readonly writes = new SerialQueue();

  constructor(
    private readonly path: string,
    private readonly now: () => Date = () => new Date(),
  ) {}

  async load(): Promise<void> {
    const file = await readOrSetAside(this.path, fileSchema.parse, this.now(), (name) =>
      this.notices.push(`The presets could not be read. Their file was kept as ${name}.`),
    );
    if (file) this.state = { presets: file.presets, defaultId: file.defaultId };
  }

  get(): Presets {
    return this.state;
  }

  default(): Preset | null {
    return this.state.presets.find(({ id }) => id === this.state.defaultId) ?? null;
  }

  /** `id`: of the preset that is replaced; null: a new one. */
  save(id: string | null, content: PresetContent): Promise<Presets> {
    return this.change(({ presets, defaultId }) => {
      const rival = presets.find((one) => one.id !== id && one.name.toLowerCase() === content.name.toLowerCase());
      if (rival) {
        throw new ConcertinaError('bad-request', `There is a preset named ${rival.name}.`, 'Choose another name.');
      }
      if (id === null && presets.length >= limits.maxPresets) {
        throw new ConcertinaError('bad-request', `There are ${limits.maxPresets} presets.`, 'Delete one first.');
      }
      if (id === null) return { presets: [...presets, { ...content, id: randomUUID() }], defaultId };
      if (!presets.some((one) => one.id === id)) throw missing();
      return { presets: presets.map((one) => (one.id === id ? { ...content, id } : one)), defaultId };
    });
  }

  /** Presets with one of the models `from` have the model `to` from now on. @returns whether there were any */
  async replaceModel(from: readonly string[], to: string): Promise<boolean> {
    const replaced = (preset: Preset): Preset =>
      preset.engine?.modelId && from.includes(preset.engine.modelId)
        ? { ...preset, engine: { ...preset.engine, modelId: to } }
        : preset;
    if (this.state.presets.every((one) => replaced(one) === one)) return false;
    await this.change(({ presets, defaultId }) => ({ presets: presets.map(replaced), defaultId }));
    return true;
  }

  remove(id: string): Promise<Presets> {
    return this.change(({ presets, defaultId }) => ({
      presets: presets.filter((one) => one.id !== id),
      defaultId: defaultId === id ? null : defaultId,
    }));
  }

  setDefault(id: string | null): Promise<Presets> {
    return this.change(({ presets }) => {
      if (id !== null && !presets.some((one) => one.id === id)) throw missing();
      return { presets, defaultId: id };
    });
  }

  /** The change counts once it is on disk. */
  private change(step: (state: Presets) => Presets): Promise<Presets> {
    return this.writes.run(async () => {
      const next = step(this.state);
      await writeFileAtomic(this.path, `${JSON.stringify({ version: 1, ...next }, null, 2)}\n`);
      this.state = next;
      this.changed.emit(next);
      return next;
    });
  }
}

function missing(): ConcertinaError {
  return new ConcertinaError('not-found', 'This preset is not there any more.');
}
