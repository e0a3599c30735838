/** What a change of the settings makes of them, for all models and for one alone. */
import {
  defined,
  type ModelDefaults,
  type OwnSampling,
  ownContextSchema,
  ownSamplingSchema,
  type Settings,
  type SettingsPatch,
} from '../settings';

/** The settings as they count for a model. */
export function withDefaults(settings: Settings, own: ModelDefaults | null): Settings {
  if (!own) return settings;
  return {
    ...settings,
    context: { ...settings.context, ...own.context, ...(own.adapters && { adapters: own.adapters }) },
    sampling: own.sampling ?? settings.sampling,
    systemPrompt: own.systemPrompt ?? settings.systemPrompt,
    template: own.template ?? settings.template,
  };
}

/** The settings with what a change names; a key that is undefined changes nothing. */
export function applyPatch(settings: Settings, patch: SettingsPatch): Settings {
  const { context, sampling, template, sessions, documents, downloads, api, ...rest } = patch;
  return {
    ...settings,
    ...defined(rest),
    context: { ...settings.context, ...defined(context) },
    sampling: patchSampling(settings.sampling, sampling),
    template: { ...settings.template, ...defined(template) },
    sessions: { ...settings.sessions, ...defined(sessions) },
    documents: { ...settings.documents, ...defined(documents) },
    downloads: { ...settings.downloads, ...defined(downloads) },
    api: { ...settings.api, ...defined(api) },
  };
}

function patchSampling(own: OwnSampling, change: SettingsPatch['sampling'] = {}): OwnSampling {
  const merged = Object.entries({ ...own, ...defined(change) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}

/** A change after which these values, and no others, are set. */
export function replaceSampling(own: OwnSampling): NonNullable<SettingsPatch['sampling']> {
  return { ...Object.fromEntries(Object.keys(ownSamplingSchema.shape).map((key) => [key, null])), ...own };
}

/**
 * Parts a change for a model: what it has of its own changes there, as do its adapters and what its template is told; the rest for
 * all models. `own` null: nothing of it does.
 */
export function splitPatch(
  patch: SettingsPatch,
  before: ModelDefaults | null,
  { template: general }: Pick<Settings, 'template'>,
): { own: ModelDefaults | null; rest: SettingsPatch } {
  const { context: { adapters, ...context } = {}, sampling, systemPrompt, template, ...rest } = patch;
  const isOwn = ([key]: [string, unknown]) => key in ownContextSchema.shape;
  const asked = defined(Object.fromEntries(Object.entries(context).filter(isOwn)));
  const others = Object.fromEntries(Object.entries(context).filter((entry) => !isOwn(entry)));
  const { context: ownContext = null, sampling: ownSampling = null, systemPrompt: ownPrompt = null } = before ?? {};
  const ownTemplate = before?.template ?? null;
  const own: ModelDefaults = {
    context: ownContext && { ...ownContext, ...asked },
    sampling: ownSampling && patchSampling(ownSampling, sampling),
    systemPrompt: ownPrompt === null ? null : (systemPrompt ?? ownPrompt),
    template: template ? { ...(ownTemplate ?? general), ...defined(template) } : ownTemplate,
    adapters: adapters ? (adapters.length > 0 ? adapters : null) : (before?.adapters ?? null),
  };
  const shared = {
    context: ownContext ? others : context,
    ...(sampling && !ownSampling ? { sampling } : {}),
    ...(systemPrompt !== undefined && ownPrompt === null ? { systemPrompt } : {}),
  };
  const same = JSON.stringify(own) === JSON.stringify(before ?? { ...own, template: null, adapters: null });
  return { own: same ? null : own, rest: { ...rest, ...shared } };
}
