/** presets.json */

import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import { type Preset, type PresetContent, type Presets, presetsSchema } from '../../contract/lib/presets';
import { limits } from '../../contract/limits';
import { JsonFile } from '../lib/jsonFile';
import { chosenSampling } from './perModelSettings';

export class PresetStore extends JsonFile<Presets> {
  constructor(path: string, now?: () => Date) {
    super({
      ...{ path, version: 2, schema: presetsSchema, initial: presetsSchema.parse({}), now },
      migrations: {
        1: (old) => {
          const { presets, defaultId } = presetsSchema.parse(old);
          const chosen = presets.map((one) => ({ ...one, sampling: chosenSampling(one.sampling) }));
          return { presets: chosen, defaultId };
        },
      },
      asideNotice: (name) => `The presets could not be read. Their file was kept as ${name}.`,
    });
  }

  default(): Preset | null {
    const { presets, defaultId } = this.get();
    return presets.find(({ id }) => id === defaultId) ?? null;
  }

  /** `id`: of the preset that is replaced; null: a new one. */
  save(id: string | null, content: PresetContent): Promise<Presets> {
    return this.change(({ presets, defaultId }) => {
      const rival = presets.find((one) => one.id !== id && one.name.toLowerCase() === content.name.toLowerCase());
      if (rival) {
        throw new ConcertinaError(
          'bad-request',
          msg`There is a preset named ${{ name: rival.name }}.`,
          msg`Choose another name.`,
        );
      }
      if (id === null && presets.length >= limits.maxPresets) {
        throw new ConcertinaError(
          'bad-request',
          msg`There are ${{ maxPresets: limits.maxPresets }} presets.`,
          msg`Delete one first.`,
        );
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
    if (this.get().presets.every((one) => replaced(one) === one)) return false;
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
}

function missing(): ConcertinaError {
  return new ConcertinaError('not-found', msg`This preset is not there any more.`);
}
