/** Everything that is set, read from the data folder at the start of the app. */
import { basename, join } from 'node:path';
import { replaceSampling } from '../../contract/lib/settingsPatch';
import { formerBuiltIn } from '../../contract/models';
import type { Logger } from '../lib/logger';
import type { Unsaved } from '../lib/unsaved';
import { builtInIdOf } from '../models/modelFiles';
import { walkModels } from '../models/walk';
import { ModelDefaultsStore } from './perModelSettings';
import { PresetStore } from './presetStore';
import { SettingsService, SettingsStore } from './settingsStore';

interface SettingsParts {
  dataFolder: string;
  embeddedModels: string;
  log: Logger;
  unsaved: Unsaved;
}

/** New chats begin with the default preset. */
export async function openSettings({ dataFolder, embeddedModels, log, unsaved }: SettingsParts) {
  const store = new SettingsStore(join(dataFolder, 'settings.json')).keepIn(unsaved, 'the settings');
  const ofModels = new ModelDefaultsStore(join(dataFolder, 'model-settings.json'));
  const modelDefaults = ofModels.keepIn(unsaved, 'the settings of a model');
  const presets = new PresetStore(join(dataFolder, 'presets.json')).keepIn(unsaved, 'the presets');
  const stores = [store, modelDefaults, presets];
  await Promise.all(stores.map((one) => one.load()));
  const renewed = await renewBuiltIn(embeddedModels, { settings: store, presets, modelDefaults }, log);
  const settings = new SettingsService(store, modelDefaults);
  const preset = presets.default();
  if (preset) {
    const { systemPrompt, sampling } = preset;
    await settings
      .update({ systemPrompt, sampling: replaceSampling(sampling) }, 'all')
      .catch((error) => log.warn(`The default preset: ${String(error)}`));
  }
  return { settings, modelDefaults, presets, notices: [renewed, ...stores].flatMap((one) => one.notices) };
}

// What names the built-in model of an earlier version means the one of this version.

interface NamingStores {
  settings: SettingsStore;
  presets: PresetStore;
  modelDefaults: ModelDefaultsStore;
}

/**
 * Settings, presets and settings of single models that name one are changed on disk. What cannot be written stays as it is,
 * and the model counts as one that is not on the list any more.
 * @returns a line for people, if there was something to change
 */
async function renewBuiltIn(embeddedFolder: string, stores: NamingStores, log: Logger): Promise<{ notices: string[] }> {
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
