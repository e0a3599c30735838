/** Settings of the app. Missing keys take their defaults, so a file of an older version always parses. */

import { z } from 'zod';
import { mostAdapterScale } from './lib/domains/adapters';
import { variablesSchema } from './lib/domains/templateVariables';
import { languageSettingSchema } from './lib/language';
import { localApiFields, localApiSchema } from './lib/localApi';
import { idSchema, limits, operation, pathOrNoneSchema, pathSchema } from './limits';
import type { EventMap, OperationMap } from './rpc';

// KV cache types that a person can choose, in the order of their size. Bytes come from the engine, never from here.

export const cacheTypeSchema = z.enum([
  'f16',
  'q8_0',
  'q5_0',
  'iq4_nl',
  'q4_0',
  'turbo4',
  'turbo4_tcq',
  'turbo3',
  'turbo3_tcq',
]);
export type CacheType = z.infer<typeof cacheTypeSchema>;
export const cacheTypes = cacheTypeSchema.options;

/**
 * The type a cache really has: a chosen one, or the 64-value turbo layout that the engine uses at head_dim 64
 * (`turbo4_64`, `turbo3_tcq_64`), or another type that it fell back to.
 */
export const effectiveCacheTypeSchema = z.string();

/**
 * In place of a type, for K and V together: a budget of which each layer gets a type of its own for each side. `auto:3.5`: bits a
 * value on average; `auto:2GiB`, `auto:512MiB`: the whole cache, whatever its length.
 */
const cacheBudgetSchema = z.templateLiteral(['auto:', z.string()]).refine((text) => parseBudget(text) !== null, {
  message: 'A budget is auto:3.5 (bits a value, 2 to 16) or auto:2GiB (MiB or GiB of the whole cache)',
});
export type CacheBudget = z.infer<typeof cacheBudgetSchema>;

/** What a person can choose for a side of the cache. */
export const cacheChoiceSchema = z.union([cacheTypeSchema, cacheBudgetSchema]);
export type CacheChoice = z.infer<typeof cacheChoiceSchema>;

export function isBudget(choice: string): choice is CacheBudget {
  return choice.startsWith('auto:');
}

type Sides = Record<'typeK' | 'typeV', CacheChoice>;

/** What changes when a side is chosen: a budget is for both, and where there was one both get the type. */
export function chosenSides(sides: Sides, side: keyof Sides, choice: CacheChoice): Partial<Sides> {
  const both = isBudget(choice) || isBudget(sides.typeK) || isBudget(sides.typeV);
  return both ? { typeK: choice, typeV: choice } : { [side]: choice };
}

/** null: it is no budget */
export function parseBudget(text: string): { bits: number } | { bytes: number } | null {
  const [, number, unit] = /^auto:(\d{1,6}(?:\.\d{1,3})?)(MiB|GiB)?$/.exec(text) ?? [];
  const value = Number(number);
  if (number === undefined) return null;
  if (unit) return value > 0 ? { bytes: value * 1024 ** (unit === 'GiB' ? 3 : 2) } : null;
  return value >= 2 && value <= 16 ? { bits: value } : null;
}

const flashAttentionSchema = z.enum(['auto', 'on', 'off']);

/**
 * What a context longer than the trained length is made of. `model`: nothing, it is cut to that length. `linear`: all
 * positions are squeezed alike. `yarn`: those that tell near words apart are left as they are.
 */
export const ropeSchema = z.enum(['model', 'linear', 'yarn']);
export type RopeChoice = z.infer<typeof ropeSchema>;

/** The length of a context that the engine chooses when it makes one: see `autoLength` of electron/engine/fit/planner.ts. */
export const autoContext = 0;
/** What Auto is where nobody can know better, and no shorter for the sake of other programs; tokens. */
export const usualContext = 8192;

/** Of a turbo cache, newest tokens that are kept at 8 bits, too, where nobody has chosen. */
export const usualRecentTokens = 128;

/** See `AdapterChoice`. */
const adaptersSchema = z
  .array(z.object({ model: pathSchema, scale: z.number().min(0).max(mostAdapterScale) }))
  .max(limits.maxAdapters);

/** Bounds of each setting, without defaults: a whole set adds them, a patch must not. */
const contextFields = {
  /** tokens, or `autoContext`; with rope `model` the engine cuts it to what the model was trained for */
  nCtx: z
    .number()
    .int()
    .max(limits.maxContext)
    .refine((tokens) => tokens === autoContext || tokens >= limits.minContext, {
      message: `Auto, or at least ${limits.minContext} tokens`,
    }),
  typeK: cacheChoiceSchema,
  typeV: cacheChoiceSchema,
  flashAttention: flashAttentionSchema,
  /** newest tokens whose K and V are kept at 8 bits, too, where the cache is turbo; 0: none */
  recentTokens: z.number().int().min(0).max(4096),
  /** 0: one per physical core */
  threads: z.number().int().min(0).max(limits.maxThreads),
  /** layers on GPUs and workers; -1: as many as fit */
  gpuLayers: z.number().int().min(-1).max(limits.maxGpuLayers),
  /** of a mixture model: layers, from the first on, whose experts stay in RAM; -1: as many as must */
  expertsInRam: z.number().int().min(-1).max(limits.maxGpuLayers),
  /** how many parts of the layers each device takes: workers, then GPUs; empty: by memory, or so that they fit */
  deviceShares: z.array(z.number().min(0).max(1e6)).max(limits.maxDevices),
  /** tokens of one micro-batch of the prefill */
  batch: z.number().int().min(32).max(4096),
  rope: ropeSchema,
  /**
   * Tokens are drafted and checked together. `ngram`: from the text before; `draft`: by `draftModel`; `mtp`: by layers of the model
   * that are made for it. A model that cannot go back in its cache drafts none but by the last.
   */
  speculation: z.enum(['off', 'ngram', 'draft', 'mtp']),
  /** model that drafts: its id or its name on the list, or the whole path of a file; '': none */
  draftModel: pathOrNoneSchema,
  /** what makes images and sound readable: `auto`: the file that lies beside the model; '': none; else the whole path of a file */
  projector: pathOrNoneSchema,
  /** of one model alone, see `modelDefaultsSchema` */
  adapters: adaptersSchema,
};

const samplingFields = {
  temperature: z.number().min(0).max(5),
  /** 0: off */
  topK: z.number().int().min(0).max(1000),
  topP: z.number().min(0).max(1),
  minP: z.number().min(0).max(1),
  repeatPenalty: z.number().min(0.1).max(3),
  presencePenalty: z.number().min(-2).max(2),
  frequencyPenalty: z.number().min(-2).max(2),
  /** of the last tokens, how many the three penalties look at; 0: off */
  penaltyTokens: z.number().int().min(0).max(limits.maxContext),
  /** DRY, against repeated phrases: multiplier * base ^ (tokens repeated - allowed). 0: off */
  dryMultiplier: z.number().min(0).max(5),
  dryBase: z.number().min(1).max(4),
  dryAllowed: z.number().int().min(1).max(100),
  /** of the last tokens, how many are searched for repetitions; 0: off */
  dryTokens: z.number().int().min(0).max(limits.maxContext),
  /** XTC: with this probability the likeliest tokens go, all but the last of those above the threshold. 0: off */
  xtcProbability: z.number().min(0).max(1),
  /** over 0.5: off */
  xtcThreshold: z.number().min(0).max(1),
  /** null: a new one for each answer */
  seed: z.number().int().min(0).max(0xffff_fffe).nullable(),
  /** tokens of one answer at the most; 0: until the context is full */
  maxTokens: z.number().int().min(0).max(limits.maxContext),
  stop: z.array(z.string().min(1).max(200)).max(16),
};

/** What decides the shape of a context; a change of any of these makes a new context. */
export const contextSettingsSchema = z.object({
  nCtx: contextFields.nCtx.default(autoContext),
  typeK: contextFields.typeK.default('turbo4'),
  typeV: contextFields.typeV.default('turbo4'),
  flashAttention: contextFields.flashAttention.default('auto'),
  recentTokens: contextFields.recentTokens.default(usualRecentTokens),
  threads: contextFields.threads.default(0),
  gpuLayers: contextFields.gpuLayers.default(-1),
  expertsInRam: contextFields.expertsInRam.default(-1),
  deviceShares: contextFields.deviceShares.default([]),
  batch: contextFields.batch.default(512),
  rope: contextFields.rope.default('model'),
  speculation: contextFields.speculation.default('ngram'),
  draftModel: contextFields.draftModel.default(''),
  projector: contextFields.projector.default('auto'),
  adapters: contextFields.adapters.default([]),
});
export type ContextSettings = z.infer<typeof contextSettingsSchema>;

/** What a person has set; the rest is as the author of the model says, or as in `defaultSampling`. */
export const ownSamplingSchema = z.object(samplingFields).partial();
export type OwnSampling = z.infer<typeof ownSamplingSchema>;

/** What a sampler is run with. */
export type SamplingSettings = Required<OwnSampling>;

export const defaultSampling: SamplingSettings = {
  ...{ temperature: 0.7, topK: 40, topP: 0.95, minP: 0.05, repeatPenalty: 1 },
  ...{ presencePenalty: 0, frequencyPenalty: 0, penaltyTokens: 64 },
  ...{ dryMultiplier: 0, dryBase: 1.75, dryAllowed: 2, dryTokens: 64, xtcProbability: 0, xtcThreshold: 0.1 },
  ...{ seed: null, maxTokens: 0, stop: [] },
};

/** All of it: what is missing is as in `defaultSampling`. */
export const samplingSettingsSchema = ownSamplingSchema.transform((own) => samplingOf(own, null));

/** What the author of a model recommends, in its file (`general.sampling.*`); null, and a value out of bounds: nothing. */
export const modelSamplingSchema = z.object({
  temperature: samplingFields.temperature.nullable().catch(null),
  topK: samplingFields.topK.nullable().catch(null),
  topP: samplingFields.topP.nullable().catch(null),
  minP: samplingFields.minP.nullable().catch(null),
  repeatPenalty: samplingFields.repeatPenalty.nullable().catch(null),
  penaltyTokens: samplingFields.penaltyTokens.nullable().catch(null),
  xtcProbability: samplingFields.xtcProbability.nullable().catch(null),
  xtcThreshold: samplingFields.xtcThreshold.nullable().catch(null),
});
export type ModelSampling = z.infer<typeof modelSamplingSchema>;

/** The person's values go before the model's, and those before the defaults. */
export function samplingOf(own: OwnSampling, model: Partial<ModelSampling> | null): SamplingSettings {
  const recommended = Object.entries(model ?? {}).filter(([, value]) => value !== null);
  return { ...defaultSampling, ...Object.fromEntries(recommended), ...defined(own) };
}

// What the chat template of a model is told. Models differ in what they make of it, so it is set for each alone.

const templateFields = {
  /** false: the template is told that the model shall answer without thinking */
  thinking: z.boolean(),
  /** `reasoning_effort`; null: what the template takes by itself */
  effort: z.enum(['low', 'medium', 'high']).nullable(),
  /** tokens of thinking at the most, then its end is forced; null: no limit */
  thinkingBudget: z.number().int().min(0).max(limits.maxContext).nullable(),
  variables: variablesSchema,
};
const templateSettingsSchema = z.object({
  thinking: templateFields.thinking.default(true),
  effort: templateFields.effort.default(null),
  thinkingBudget: templateFields.thinkingBudget.default(null),
  variables: templateFields.variables.default({}),
});
export type TemplateSettings = z.infer<typeof templateSettingsSchema>;

const sessionFields = {
  /** caches of chats are saved and restored */
  enabled: z.boolean(),
  /** a chat with fewer tokens in the cache is not saved: it is read again in no time */
  minTokens: z.number().int().min(16).max(limits.maxContext),
  /** all saved sessions together */
  maxBytes: z.number().int().min(0),
};

/** Sessions: what is read of a chat is kept on disk, so that it is not read again after a switch or a restart. */
export const sessionSettingsSchema = z.object({
  enabled: sessionFields.enabled.default(true),
  minTokens: sessionFields.minTokens.default(2048),
  maxBytes: sessionFields.maxBytes.default(8 * 1024 ** 3),
});
export type SessionSettings = z.infer<typeof sessionSettingsSchema>;

const documentFields = {
  /** tokens kept free for the answer; never over a quarter of the context */
  reserve: z.number().int().min(16).max(limits.maxContext),
  /** tokens of the passages that are looked up for one question; cut to what fits */
  retrievalTokens: z.number().int().min(128).max(limits.maxContext),
  /** id of the embedding model that ranks passages beside their words; null: none does */
  searchModel: z.string().max(limits.maxIdLength).nullable(),
};

const documentSettingsSchema = z.object({
  reserve: documentFields.reserve.default(1024),
  retrievalTokens: documentFields.retrievalTokens.default(2048),
  searchModel: documentFields.searchModel.default(null),
});
const downloadFields = {
  /** downloads at a time */
  parallel: z.number().int().min(1).max(4),
  /** whole path of the folder of downloaded models; null: `models` in the folder of the app's data */
  folder: pathSchema.nullable(),
};

const downloadSettingsSchema = z.object({
  parallel: downloadFields.parallel.default(2),
  folder: downloadFields.folder.default(null),
});
export type DownloadSettings = z.infer<typeof downloadSettingsSchema>;

/**
 * When the context is full. `stop`: the answer ends, nothing is cut. `brief`: as `stop`, but before it comes to that the model
 * writes a brief in place of the oldest turns. `roll`: the oldest turns are left out. Documents never are.
 */
const overflowSchema = z.enum(['stop', 'brief', 'roll']);

/** Who names a chat that no person has named: `model`: the model, while nothing is asked; `question`: its first words. */
const titlesSchema = z.enum(['model', 'question']);

const themeSchema = z.enum(['system', 'light', 'dark']);

export const settingsSchema = z.object({
  version: z.literal(3).default(3),
  theme: themeSchema.default('system'),
  /** of the window; what other programs and logs get is English */
  language: languageSettingSchema.default('system'),
  /** of what a person writes, in the desktop window; outside of macOS Chromium downloads a dictionary for it */
  spellCheck: z.boolean().default(false),
  /** the desktop says when something long has ended while nobody looks at the window */
  notifications: z.boolean().default(true),
  /** new versions of the app are looked for, once a day */
  lookForUpdates: z.boolean().default(false),
  /** of the desktop: an icon in the tray, with which it goes on without its window; the start when the person logs in */
  ...{ tray: z.boolean().default(false), startAtLogin: z.boolean().default(false) },
  /** id of the model that is loaded at start; null: the embedded one */
  modelId: z.string().max(limits.maxIdLength).nullable().default(null),
  systemPrompt: z.string().max(limits.maxSystemPrompt).default(''),
  context: contextSettingsSchema.prefault({}),
  sampling: ownSamplingSchema.default({}),
  template: templateSettingsSchema.prefault({}),
  sessions: sessionSettingsSchema.prefault({}),
  documents: documentSettingsSchema.prefault({}),
  downloads: downloadSettingsSchema.prefault({}),
  api: localApiSchema.prefault({}),
  overflow: overflowSchema.default('stop'),
  titles: titlesSchema.default('model'),
});
export type Settings = z.infer<typeof settingsSchema>;

/** A change of some settings: only the keys that are named change. A value of the sampling that is null is not set any more. */
const settingsPatchSchema = z.object({
  theme: themeSchema.optional(),
  language: languageSettingSchema.optional(),
  spellCheck: z.boolean().optional(),
  notifications: z.boolean().optional(),
  lookForUpdates: z.boolean().optional(),
  ...{ tray: z.boolean().optional(), startAtLogin: z.boolean().optional() },
  modelId: z.string().max(limits.maxIdLength).nullable().optional(),
  systemPrompt: z.string().max(limits.maxSystemPrompt).optional(),
  context: z.object(contextFields).partial().optional(),
  sampling: z.object(nullable(samplingFields)).partial().optional(),
  template: z.object(templateFields).partial().optional(),
  sessions: z.object(sessionFields).partial().optional(),
  documents: z.object(documentFields).partial().optional(),
  downloads: z.object(downloadFields).partial().optional(),
  api: z.object(localApiFields).partial().optional(),
  overflow: overflowSchema.optional(),
  titles: titlesSchema.optional(),
});
export type SettingsPatch = z.infer<typeof settingsPatchSchema>;

/** Each field can be null, too. */
function nullable<S extends z.ZodRawShape>(shape: S): { [K in keyof S]: z.ZodNullable<S[K]> } {
  const fields = Object.entries(shape).map(([key, field]) => [key, z.nullable(field)]);
  return Object.fromEntries(fields) as { [K in keyof S]: z.ZodNullable<S[K]> };
}

// What a person has set for one model alone. It goes before what is set for all models.

const ownLayers = { gpuLayers: true, expertsInRam: true, deviceShares: true } as const;
export const ownContextSchema = contextSettingsSchema.pick({ nCtx: true, typeK: true, typeV: true, ...ownLayers });
/** Of each part, null: as for all models. */
export const modelDefaultsSchema = z.object({
  context: ownContextSchema.nullable().default(null),
  sampling: ownSamplingSchema.nullable().default(null),
  systemPrompt: z.string().max(limits.maxSystemPrompt).nullable().default(null),
  /** a change of it always stands here */
  template: templateSettingsSchema.nullable().default(null),
  /** likewise */
  adapters: adaptersSchema.nullable().default(null),
});
export type ModelDefaults = z.infer<typeof modelDefaultsSchema>;

/**
 * Whose settings a change is meant for. Left out: those of the model in use, which stand where they came from. A model id:
 * the same for that model. `all`: what is set for all models, past what the model in use has of its own.
 */
const settingsScopeSchema = z.union([z.literal('all'), z.object({ modelId: idSchema })]);
export type SettingsScope = z.infer<typeof settingsScopeSchema>;

/**
 * A person applies what is changed: the model that it is meant for is loaded at once, where that needs another context, and
 * the call resolves when the load has ended, as the status says. Left out: the model in use is loaded again after a pause.
 */
export const applySchema = z.object({
  /** even when it does not fit into the memory */
  force: z.boolean().optional(),
  /**
   * With the length Auto, tokens that the context grows to where the memory holds them, whatever Auto would leave free; kept
   * for this model until the app ends or the engine crashes.
   */
  atLeast: z.number().int().min(limits.minContext).max(limits.maxContext).optional(),
});
export type Apply = z.infer<typeof applySchema>;

const settingsUpdateSchema = settingsPatchSchema.extend({
  scope: settingsScopeSchema.optional(),
  apply: applySchema.optional(),
});

/** without the keys that are undefined */
export function defined<T extends object>(
  value: T = {} as T,
): { [K in keyof T]?: NonNullable<T[K]> | Extract<T[K], null> } {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never;
}

export const settingsOperations = {
  /** as they count for the model in use; `all`: what is set for all models */
  'settings.get': operation(z.object({ scope: z.literal('all') }).optional(), settingsSchema),
  'settings.update': operation(settingsUpdateSchema, settingsSchema),
} as const satisfies OperationMap;

export const settingsEvents = { onSettings: settingsSchema } as const satisfies EventMap;
