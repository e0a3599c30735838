import type { AppState } from '../appState';
import { isInUse } from './match';

export const selectPresets = (state: AppState) => state.presets.presets;
export const selectReplaced = (state: AppState) => state.presets.replaced;
export const selectDefaultPresetId = (state: AppState) => state.presets.defaultId;

/** null: the settings are those of no preset */
export function selectPresetInUse({ presets: { presets }, settings: { saved } }: AppState) {
  return (saved && presets.find((preset) => isInUse(preset, saved))) ?? null;
}
