/** What a person has set for one model alone. It goes before what is set for all models. */
import { z } from 'zod';
import { idSchema, limits } from './limits';
import {
  contextSettingsSchema,
  type Settings,
  type SettingsPatch,
  samplingSettingsSchema,
  settingsPatchSchema,
} from './settings';

export const ownContextSchema = contextSettingsSchema.pick({ nCtx: true, typeK: true, typeV: true, gpuLayers: true });
export type OwnContext = z.infer<typeof ownContextSchema>;

/** Of each part, null: as for all models. */
export const modelDefaultsSchema = z.object({
  context: ownContextSchema.nullable().default(null),
  sampling: samplingSettingsSchema.nullable().default(null),
  systemPrompt: z.string().max(limits.maxSystemPrompt).nullable().default(null),
});
export type ModelDefaults = z.infer<typeof modelDefaultsSchema>;

/**
 * Whose settings a change is meant for. Left out: those of the model in use, which stand where they came from. A model id:
 * the same for that model. `all`: what is set for all models, past what the model in use has of its own.
 */
export const settingsScopeSchema = z.union([z.literal('all'), z.object({ modelId: idSchema })]);
export type SettingsScope = z.infer<typeof settingsScopeSchema>;

export const settingsUpdateSchema = settingsPatchSchema.extend({ scope: settingsScopeSchema.optional() });

export function ownContextOf({ nCtx, typeK, typeV, gpuLayers }: OwnContext): OwnContext {
  return { nCtx, typeK, typeV, gpuLayers };
}

/** The settings as they count for a model. */
export function withDefaults(settings: Settings, own: ModelDefaults | null): Settings {
  if (!own) return settings;
  return {
    ...settings,
    context: { ...settings.context, ...own.context },
    sampling: own.sampling ?? settings.sampling,
    systemPrompt: own.systemPrompt ?? settings.systemPrompt,
  };
}

/** Parts a change: what the model has of its own changes there, the rest for all models. `own` null: nothing of it does. */
export function splitPatch(
  patch: SettingsPatch,
  before: ModelDefaults | null,
): { own: ModelDefaults | null; rest: SettingsPatch } {
  if (!before) return { own: null, rest: patch };
  const { context = {}, sampling, systemPrompt, ...rest } = patch;
  const { nCtx, typeK, typeV, gpuLayers, ...others } = context;
  const asked = defined({ nCtx, typeK, typeV, gpuLayers });
  const own: ModelDefaults = {
    context: before.context && { ...before.context, ...asked },
    sampling: before.sampling && { ...before.sampling, ...defined(sampling ?? {}) },
    systemPrompt: before.systemPrompt === null ? null : (systemPrompt ?? before.systemPrompt),
  };
  const shared = {
    context: before.context ? others : context,
    ...(sampling && !before.sampling ? { sampling } : {}),
    ...(systemPrompt !== undefined && before.systemPrompt === null ? { systemPrompt } : {}),
  };
  const same = JSON.stringify(own) === JSON.stringify(before);
  return { own: same ? null : own, rest: { ...rest, ...shared } };
}

function defined<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> | Extract<T[K], null> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}
