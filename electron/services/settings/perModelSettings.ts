/**
 * model-settings.json: what is set for one model alone. It follows the content of its file: one that was moved or renamed
 * keeps it, and copies of one file share it.
 */

import { z } from 'zod';
import {
  defaultSampling,
  type ModelDefaults,
  modelDefaultsSchema,
  type OwnSampling,
  type SamplingSettings,
} from '../../contract/settings';
import { JsonFile } from '../lib/jsonFile';

const ownSchema = z.object({
  /** of the models that have them: the places of their file and of its copies */
  ids: z.array(z.string()),
  /** size of the file and hash of its beginning and end; null: not seen yet, or part of the app */
  content: z.string().nullable(),
  defaults: modelDefaultsSchema,
});
type OwnSettings = z.infer<typeof ownSchema>;

const listSchema = z.object({ models: z.array(ownSchema) });
/** as it was while settings stayed with the place of a file */
const byPlaceSchema = z.object({ models: z.record(z.string(), modelDefaultsSchema) });

/** Settings of older versions held every value: what differs from the default was chosen. */
export function chosenSampling(all: OwnSampling): OwnSampling {
  const isDefault = (key: string, value: unknown) =>
    JSON.stringify(value) === JSON.stringify(defaultSampling[key as keyof SamplingSettings]);
  return Object.fromEntries(Object.entries(all).filter(([key, value]) => !isDefault(key, value)));
}

/** A file of the library. */
interface SeenModel {
  id: string;
  /** of all parts */
  bytes: number;
  /** hash of its beginning and end; null: it cannot be read now */
  sample(): Promise<string | null>;
}

export class ModelDefaultsStore extends JsonFile<z.infer<typeof listSchema>> {
  constructor(path: string, now?: () => Date) {
    super({
      ...{ path, version: 3, schema: listSchema, initial: { models: [] }, now },
      migrations: {
        1: (old) => {
          const { models } = byPlaceSchema.parse(old);
          return { models: Object.entries(models).map(([id, defaults]) => ({ ids: [id], content: null, defaults })) };
        },
        2: (old) => {
          const chosen = ({ sampling, ...rest }: ModelDefaults) => ({
            ...rest,
            sampling: sampling && chosenSampling(sampling),
          });
          const { models } = listSchema.parse(old);
          return { models: models.map((one) => ({ ...one, defaults: chosen(one.defaults) })) };
        },
      },
      asideNotice: (name) =>
        `The settings of single models could not be read. They were kept as ${name}; all models have the same now.`,
    });
  }

  /** null: the model has nothing of its own */
  of(modelId: string): ModelDefaults | null {
    return this.find(modelId)?.defaults ?? null;
  }

  all(): ModelDefaults[] {
    return this.get().models.map(({ defaults }) => defaults);
  }

  /** null, and one with nothing in it: as all other models. The change counts once it is on disk. */
  async set(modelId: string, defaults: ModelDefaults | null): Promise<void> {
    await this.change(({ models }) => {
      const before = this.find(modelId) ?? { ids: [modelId], content: null };
      const others = models.filter((one) => one !== before);
      const empty = !defaults || Object.values(defaults).every((part) => part === null);
      return { models: empty ? others : [...others, { ...before, defaults }] };
    });
  }

  /**
   * What is set for one of the models `from` is set for `to` from now on, unless that has something of its own.
   * @returns whether there was something
   */
  async replaceModel(from: readonly string[], to: string): Promise<boolean> {
    const [moved, ...others] = this.get().models.filter(({ ids }) => ids.some((id) => from.includes(id)));
    if (!moved) return false;
    await this.change(({ models }) => {
      const rest = models.filter((one) => one !== moved && !others.includes(one));
      return { models: this.find(to) ? rest : [...rest, { ...moved, ids: [to] }] };
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
    await this.remember((before) => {
      const models = followed(before.models, contents, present);
      return JSON.stringify(models) === JSON.stringify(before.models) ? before : { models };
    });
  }

  private find(modelId: string): OwnSettings | undefined {
    return this.get().models.find(({ ids }) => ids.includes(modelId));
  }

  private concerns({ id, bytes }: SeenModel): boolean {
    return this.get().models.some(({ ids, content }) => ids.includes(id) || content?.startsWith(contentOf(bytes, '')));
  }
}

function contentOf(bytes: number, sample: string): string {
  return `${bytes}-${sample}`;
}

// Which model has which settings of its own, after files were moved, renamed, copied or replaced. Pure.

/** `contents`: by model id, what the files hold now; `present`: ids of all models that are there. */
function followed(
  all: readonly OwnSettings[],
  contents: ReadonlyMap<string, string>,
  present: ReadonlySet<string>,
): OwnSettings[] {
  const result = all.map((one) => ({ ...one }));
  const isPresent = (id: string) => present.has(id);
  const seen = new Set(contents.values());
  for (const [id, content] of contents) {
    const here = result.find(({ ids }) => ids.includes(id));
    if (here) here.content ??= content;
    if (here?.content === content) continue;

    // another file lies in this place, or a file lies in a new one
    const same = result.filter((one) => one.content === content);
    // copies had settings each for itself: a file in a new place is the one that is gone from its own
    const owner = same.find(({ ids }) => !ids.some(isPresent)) ?? same[0];
    if (here) here.ids = here.ids.filter((one) => one !== id);
    if (owner) owner.ids = [...owner.ids.filter(isPresent), id];
    // a file that was replaced, by a newer version of the model maybe: settings stay with the place, too
    else if (here && !seen.has(here.content ?? '')) result.push({ ids: [id], content, defaults: here.defaults });
  }
  return result;
}
