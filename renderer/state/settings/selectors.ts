import type { ContextSettings } from '../../../electron/contract/settings';
import type { AppState } from '../appState';

export const selectSettings = (state: AppState) => state.settings.saved;
export const selectSavedContext = (state: AppState) => state.settings.saved?.context ?? null;
export const selectSampling = (state: AppState) => state.settings.saved?.sampling ?? null;
export const selectSystemPrompt = (state: AppState) => state.settings.saved?.systemPrompt ?? null;
export const selectTheme = (state: AppState) => state.settings.saved?.theme ?? null;
export const selectDraft = (state: AppState) => state.settings.draft;
export const selectApplying = (state: AppState) => state.settings.applying;
export const selectFit = (state: AppState) => state.settings.fit;
export const selectEstimates = (state: AppState) => state.settings.estimates;

/** Makes a new object on every call: read it through useShallow. */
export function selectEditedContext(state: AppState): ContextSettings | null {
  const saved = state.settings.saved?.context;
  return saved ? { ...saved, ...state.settings.draft } : null;
}
