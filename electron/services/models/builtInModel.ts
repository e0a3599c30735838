/** What names the built-in model of an earlier version means the one of this version. */
import { basename } from 'node:path';
import { formerBuiltIn } from '../../contract/models';
import type { Logger } from '../lib/logger';
import type { ModelDefaultsStore } from '../settings/perModelSettings';
import type { PresetStore } from '../settings/presetStore';
import type { SettingsStore } from '../settings/settingsStore';
import { builtInIdOf } from './modelFiles';
import { walkModels } from './walk';

export interface NamingStores {
  settings: SettingsStore;
  presets: PresetStore;
  modelDefaults: ModelDefaultsStore;
}

/**
 * Settings, presets and settings of single models that name one are changed on disk. What cannot be written stays as it is,
 * and the model counts as one that is not on the list any more.
 * @returns a line for people, if there was something to change
 */
export async function renewBuiltIn(
  embeddedFolder: string,
  stores: NamingStores,
  log: Logger,
): Promise<{ notices: string[] }> {
  const here = (await walkModels(embeddedFolder)).files.map(({ path }) => basename(path));
  const gone = formerBuiltIn.filter(({ fileName }) => !here.includes(fileName));
  const [current] = here;
  if (current === undefined) return { notices: [] };
  const from = gone.map(({ fileName }) => builtInIdOf(fileName));
  const changed = await replaced(from, builtInIdOf(current), stores).catch((error) => {
    log.warn(`The former built-in model is still named: ${String(error)}`);
    return false;
  });
  const names = gone.map(({ name }) => name).join(' and ');
  const notice = `${names} is no longer built in: the settings and presets that named it now use the new built-in model.`;
  return { notices: changed ? [notice] : [] };
}

async function replaced(from: readonly string[], to: string, stores: NamingStores): Promise<boolean> {
  const { settings, presets, modelDefaults } = stores;
  const { modelId } = settings.get();
  const chosen = modelId !== null && from.includes(modelId);
  if (chosen) await settings.update({ modelId: to });
  const own = await modelDefaults.replaceModel(from, to);
  const inPresets = await presets.replaceModel(from, to);
  return chosen || own || inPresets;
}
