import type { Preset, PresetContent, Presets } from '../../../electron/contract/lib/presets';
import { replaceSampling } from '../../../electron/contract/lib/settingsPatch';
import type { Settings, SettingsPatch } from '../../../electron/contract/settings';
import { errorPayloadOf } from '../../bridge/client';
import type { AppState } from '../appState';
import type { Tools } from '../slice';
import type { createSettingsActions } from './settings';

export function createPresetsActions(
  { client, get, patch, report }: Tools,
  settings: Pick<ReturnType<typeof createSettingsActions>, 'update'>,
) {
  function receive(presets: Presets): void {
    patch('presets', presets);
  }

  /** Why it was refused, as a sentence; null: it is done. */
  async function done(call: Promise<Presets>): Promise<string | null> {
    try {
      receive(await call);
      return null;
    } catch (error) {
      const { message, hint } = errorPayloadOf(error);
      return `${message} ${hint}`.trim();
    }
  }

  async function reported(call: Promise<Presets>): Promise<void> {
    try {
      receive(await call);
    } catch (error) {
      report(error);
    }
  }

  /** The settings as they are now. */
  function current(name: string, withEngine: boolean): PresetContent | null {
    const { saved } = get().settings;
    if (!saved) return null;
    const { nCtx, typeK, typeV } = saved.context;
    const engine = withEngine
      ? { modelId: get().engine.status?.modelId ?? null, context: { nCtx, typeK, typeV } }
      : null;
    return { name, systemPrompt: saved.systemPrompt, sampling: saved.sampling, engine };
  }

  /** `presetId`: of the preset that takes the present values; null: a new one. @returns why it was refused, or null */
  async function save(presetId: string | null, name: string, withEngine: boolean): Promise<string | null> {
    const preset = current(name, withEngine);
    return preset && done(client.call('presets.save', { presetId, preset }));
  }

  function rename({ id, ...preset }: Preset, name: string): Promise<string | null> {
    return done(client.call('presets.save', { presetId: id, preset: { ...preset, name } }));
  }

  /** Takes over everything that a preset names; a model or a context that it names is loaded. */
  async function apply({ systemPrompt, sampling, engine }: PresetContent): Promise<void> {
    const values = { systemPrompt, sampling: replaceSampling(sampling) };
    const change: SettingsPatch = { ...values, ...(engine ? { context: engine.context } : {}) };
    const scope = engine?.modelId ? { modelId: engine.modelId } : undefined;
    await settings.update(change, scope, engine ? {} : undefined);
  }

  /** For a new chat: the prompt and the sampling of the default preset, if there is one. */
  async function begin(): Promise<void> {
    const { presets, defaultId } = get().presets;
    const preset = presets.find(({ id }) => id === defaultId);
    const { saved } = get().settings;
    if (!preset || !saved || isInUse(preset, saved)) return;
    // what is set for all models, past what the model in use has of its own: that is what the preset takes the place of
    const [values, done] = await Promise.all([
      client.call('settings.get', { scope: 'all' }).catch(() => null),
      settings.update({ systemPrompt: preset.systemPrompt, sampling: replaceSampling(preset.sampling) }, 'all'),
    ]);
    if (!done || !values || presets.some((one) => isInUse(one, values))) return;
    const { systemPrompt, sampling } = values;
    patch('presets', { replaced: { by: preset.name, values: { systemPrompt, sampling } } });
  }

  /** Brings back what the default preset took the place of. */
  async function restoreReplaced(): Promise<void> {
    const { replaced } = get().presets;
    if (!replaced) return;
    const { systemPrompt, sampling } = replaced.values;
    const values = { systemPrompt, sampling: replaceSampling(sampling) };
    if (await settings.update(values, 'all')) patch('presets', { replaced: null });
  }

  return {
    receive,
    save,
    rename,
    apply,
    begin,
    restoreReplaced,
    current,
    remove: (presetId: string) => reported(client.call('presets.remove', { presetId })),
    setDefault: (presetId: string | null) => reported(client.call('presets.setDefault', { presetId })),
  };
}

// Pure comparison of presets with the settings as they are.

/** The prompt and the sampling are those of the preset; what it says of the model does not count. */
function isInUse({ systemPrompt, sampling }: Pick<Preset, 'systemPrompt' | 'sampling'>, settings: Settings): boolean {
  const same = isSame(sampling, settings.sampling) && isSame(settings.sampling, sampling);
  return systemPrompt === settings.systemPrompt && same;
}

export function isSame<T extends object>(a: T, b: T): boolean {
  return (Object.keys(b) as (keyof T)[]).every((key) => JSON.stringify(a[key]) === JSON.stringify(b[key]));
}

export const selectPresets = (state: AppState) => state.presets.presets;
export const selectReplaced = (state: AppState) => state.presets.replaced;
export const selectDefaultPresetId = (state: AppState) => state.presets.defaultId;

/** null: the settings are those of no preset */
export function selectPresetInUse({ presets: { presets }, settings: { saved } }: AppState) {
  return (saved && presets.find((preset) => isInUse(preset, saved))) ?? null;
}
