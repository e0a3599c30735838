/** Pure work on the context settings that are being edited. */
import type { ContextSettings, Settings, SettingsPatch } from '../../../electron/contract/settings';

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
