import { applyPatch } from '../../../electron/contract/lib/settingsPatch';
import {
  type Apply,
  autoContext,
  type ContextSettings,
  type Settings,
  type SettingsPatch,
  type SettingsScope,
} from '../../../electron/contract/settings';
import type { AppState } from '../appState';
import { createFitActions } from '../lib/fit';
import type { Tools } from '../slice';

export function createSettingsActions(tools: Tools) {
  const { client, get, patch, report } = tools;
  function receive(saved: Settings): void {
    patch('settings', { saved, draft: changeDraft(get().settings.draft, {}, saved.context) });
  }

  /** Shown at once, written in the background; a refusal puts the old value back. `scope`, `apply`: see the contract. */
  async function update(change: SettingsPatch, scope?: SettingsScope, apply?: Apply): Promise<boolean> {
    const before = get().settings.saved;
    const shown = before && applyPatch(before, change);
    patch('settings', { saved: shown });
    try {
      receive(await client.call('settings.update', { ...change, ...(scope && { scope }), ...(apply && { apply }) }));
      return true;
    } catch (error) {
      // what has come from the services since then is written: only the load was refused
      if (get().settings.saved === shown) patch('settings', { saved: before });
      report(error);
      return false;
    }
  }

  function editContext(change: Partial<ContextSettings>): void {
    const { saved, draft } = get().settings;
    if (saved) patch('settings', { draft: changeDraft(draft, change, saved.context) });
  }

  function discardContext(): void {
    patch('settings', { draft: {} });
  }

  /**
   * Applies the edited context settings. The chat stays as it is; the engine's status says how the load went.
   * `force`: even when they do not fit into the memory. `modelId`: of the model that they are for; null: the one in use.
   * `atLeast`: what a context of the length Auto grows to.
   */
  async function applyContext(force = false, modelId: string | null = null, atLeast?: number): Promise<void> {
    const { draft, applying } = get().settings;
    if (applying || (Object.keys(draft).length === 0 && !atLeast)) return;
    patch('settings', { applying: true });
    const scope = modelId === null ? undefined : { modelId };
    const done = await update({ context: draft }, scope, { ...(force && { force }), ...(atLeast && { atLeast }) });
    patch('settings', { applying: false, ...(done && { draft: {} }) });
  }

  /** Applies settings that fit in place of those that did not; `modelId` as above. The length Auto stays, and grows. */
  async function takeOffer(change: Partial<ContextSettings>, modelId: string | null = null): Promise<void> {
    const { nCtx, ...types } = change;
    const grows = get().settings.saved?.context.nCtx === autoContext;
    editContext(grows ? types : change);
    await applyContext(false, modelId, grows ? nCtx : undefined);
  }

  return {
    receive,
    update,
    editContext,
    discardContext,
    applyContext,
    takeOffer,
    ...createFitActions(tools),
  };
}

// Pure work on the context settings that are being edited.

/** Adds a change to the draft; a value that equals the saved one leaves it. */
export function changeDraft(
  draft: Partial<ContextSettings>,
  change: Partial<ContextSettings>,
  saved: ContextSettings,
): Partial<ContextSettings> {
  const merged = { ...draft, ...change };
  const isSaved = (key: string, value: unknown) =>
    JSON.stringify(value) === JSON.stringify(saved[key as keyof ContextSettings]);
  const entries = Object.entries(merged).filter(([key, value]) => !isSaved(key, value));
  return Object.fromEntries(entries) as Partial<ContextSettings>;
}

export const selectSettings = (state: AppState) => state.settings.saved;
export const selectSavedContext = (state: AppState) => state.settings.saved?.context ?? null;
export const selectSampling = (state: AppState) => state.settings.saved?.sampling ?? null;
export const selectLanguage = (state: AppState) => state.settings.saved?.language ?? null;
export const selectTheme = (state: AppState) => state.settings.saved?.theme ?? null;
export const selectDraft = (state: AppState) => state.settings.draft;
export const selectApplying = (state: AppState) => state.settings.applying;
export const selectFit = (state: AppState) => state.settings.fit;

/** Makes a new object on every call: read it through useShallow. */
export function selectEditedContext(state: AppState): ContextSettings | null {
  const saved = state.settings.saved?.context;
  return saved ? { ...saved, ...state.settings.draft } : null;
}
