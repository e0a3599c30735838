/** Which model has which settings of its own, after files were moved, renamed, copied or replaced. Pure. */
import type { ModelDefaults } from '../../contract/modelDefaults';

export interface OwnSettings {
  /** of the models that have them: the places of their file and of its copies */
  ids: string[];
  /** size of the file and hash of its beginning and end; null: not seen yet, or part of the app */
  content: string | null;
  defaults: ModelDefaults;
}

/** `contents`: by model id, what the files hold now; `present`: ids of all models that are there. */
export function followed(
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
