import type {
  CacheType,
  ContextSettings,
  Settings,
  SettingsPatch,
  SettingsScope,
} from '../../../electron/contract/settings';
import { errorPayloadOf } from '../../bridge/client';
import type { AppState, EstimateOutcome, Estimates } from '../appState';
import { createFitActions } from '../lib/fit';
import type { Tools } from '../slice';

export function createSettingsActions(tools: Tools) {
  const { client, get, patch, report } = tools;
  /** counts questions: the newest one wins */
  let estimating = 0;

  function receive(saved: Settings): void {
    patch('settings', { saved, draft: changeDraft(get().settings.draft, {}, saved.context) });
  }

  /** Shown at once, written in the background; a refusal puts the old value back. `scope`: see the contract. */
  async function update(change: SettingsPatch, scope?: SettingsScope): Promise<boolean> {
    const before = get().settings.saved;
    if (before) patch('settings', { saved: applyPatch(before, change) });
    try {
      receive(await client.call('settings.update', { ...change, ...(scope && { scope }) }));
      return true;
    } catch (error) {
      patch('settings', { saved: before });
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
   * Writes the edited context settings down and loads the model again with them. The chat stays as it is.
   * `force`: even when they do not fit into the memory. `modelId`: this one is loaded instead.
   */
  async function applyContext(force = false, modelId: string | null = null): Promise<void> {
    const { draft, applying } = get().settings;
    if (applying || Object.keys(draft).length === 0) return;
    patch('settings', { applying: true });
    try {
      if (!(await update({ context: draft }))) return;
      if (modelId !== null) await client.call('models.select', { modelId });
      else await client.call('engine.reload', force ? { force } : undefined);
    } catch {
      // The engine banner already says why the load failed, from the status that the engine reports.
    } finally {
      patch('settings', { applying: false });
    }
  }

  /** In place of settings that did not fit: written down, and the model (or the named one) is loaded with them. */
  async function takeOffer(change: Partial<ContextSettings>, modelId: string | null = null): Promise<void> {
    editContext(change);
    await applyContext(false, modelId);
  }

  async function estimateOne(context: ContextSettings): Promise<EstimateOutcome> {
    try {
      return { ok: true, value: await client.call('engine.estimate', { context }) };
    } catch (error) {
      return { ok: false, error: errorPayloadOf(error) };
    }
  }

  async function estimate(
    context: ContextSettings,
    types: readonly CacheType[],
    modelId: string | null,
  ): Promise<void> {
    const number = ++estimating;
    const key = estimateKey(context, modelId);
    const pair = await estimateOne(context);
    const byType: Estimates['byType'] = { K: {}, V: {} };
    const show = () => patch('settings', { estimates: { key, pair, byType } });
    if (number !== estimating) return;
    show();
    // One after the other, so that a slider that has moved on does not wait for all of them.
    for (const type of types) {
      // Each side beside an f16 on the other: what one side cannot use says nothing about the other.
      byType.K[type] = await estimateOne({ ...context, typeK: type, typeV: 'f16' });
      byType.V[type] = await estimateOne({ ...context, typeK: 'f16', typeV: type });
      if (number !== estimating) return;
    }
    show();
  }

  return {
    receive,
    update,
    editContext,
    discardContext,
    applyContext,
    takeOffer,
    estimate,
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
  const entries = Object.entries(merged).filter(([key, value]) => value !== saved[key as keyof ContextSettings]);
  return Object.fromEntries(entries) as Partial<ContextSettings>;
}

/** What the window shows at once while the services are still writing the change down. */
export function applyPatch(settings: Settings, patch: SettingsPatch): Settings {
  const { context, sampling, sessions, documents, downloads, ...rest } = patch;
  return {
    ...settings,
    ...defined(rest),
    context: { ...settings.context, ...defined(context ?? {}) },
    sampling: { ...settings.sampling, ...defined(sampling ?? {}) },
    sessions: { ...settings.sessions, ...defined(sessions ?? {}) },
    documents: { ...settings.documents, ...defined(documents ?? {}) },
    downloads: { ...settings.downloads, ...defined(downloads ?? {}) },
  };
}

export function estimateKey(context: ContextSettings, modelId: string | null): string {
  return JSON.stringify([
    modelId,
    context.nCtx,
    context.typeK,
    context.typeV,
    context.flashAttention,
    context.batch,
    context.gpuLayers,
    context.rope,
  ]);
}

function defined<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export const selectSettings = (state: AppState) => state.settings.saved;
export const selectSavedContext = (state: AppState) => state.settings.saved?.context ?? null;
export const selectSampling = (state: AppState) => state.settings.saved?.sampling ?? null;
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
