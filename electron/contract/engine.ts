/** The engine as the app sees it: state, what it runs on, memory by part, and the stream of an answer. */

import { z } from 'zod';
import { answerStatsSchema, draftsSchema, stopReasonSchema } from './chats';
import { errorPayloadSchema } from './errors';
import { adapterInUseSchema } from './lib/domains/adapters';
import { partMemorySchema, placeMemorySchema } from './lib/memory';
import { idSchema, momentSchema, nothing, operation } from './limits';
import { modelInfoSchema } from './models';
import type { EventMap, OperationMap } from './rpc';
import { effectiveCacheTypeSchema, ropeSchema } from './settings';
import { promptCallSchema } from './tools/tools';

export const capabilitiesSchema = z.object({
  /** 'CPU', 'Metal', ... as ggml names it */
  backend: z.string(),
  device: z.string(),
  /** Apple chip family ('Apple9'); null where there is none */
  chipFamily: z.string().nullable(),
  /** SIMD level of the turbo kernels: 'avx512' | 'avx2' | 'neon' | 'scalar' */
  simd: z.string(),
  /** best level that the processor has instructions for, whatever this build was compiled for */
  simdBest: z.string(),
  /** CONCERTINA_SIMD, which caps the level; empty where it is not set */
  simdAsked: z.string(),
  /** level that llama.cpp's own kernels were compiled for: they have no choice at run time */
  simdWeights: z.string(),
  /** GPU backends of this build; one whose name no GPU bears found no device */
  gpuBackends: z.array(z.string()),
  /** memory: what the GPU may use, in bytes; 0 where it is not reported */
  gpus: z.array(
    z.object({
      ...{ backend: z.string(), name: z.string(), memoryBytes: z.number() },
      /** it takes no layers where there is a card */
      integrated: z.boolean().default(false),
    }),
  ),
  /** level of the kernels: 'cpu-avx2', 'metal-Apple9'; which one runs in a context is in its `kernels` */
  kernelVariant: z.string(),
  cacheTypes: z.array(z.string()),
  /** what the self-test of the GPU kernels disabled, as sentences */
  warnings: z.array(z.string()),
  /** llama.cpp tag and commit of the pin */
  upstream: z.string(),
  /** what a worker must have in common with whoever uses it; empty: of a version without workers */
  buildHash: z.string().default(''),
  physicalCores: z.number().int(),
  totalMemoryBytes: z.number(),
});
export type Capabilities = z.infer<typeof capabilitiesSchema>;

/**
 * Asked and effective type of one side of the cache; `reason` is empty when they agree. A budget is its own effective type: what
 * it became stands in `cacheLayers`.
 */
const effectiveTypeSchema = z.object({
  asked: effectiveCacheTypeSchema,
  effective: effectiveCacheTypeSchema,
  reason: z.string(),
});
export type EffectiveType = z.infer<typeof effectiveTypeSchema>;
const noType: EffectiveType = { asked: '', effective: '', reason: '' };

/**
 * Whether K and V are centered: constants of the model (measured once) are taken off before they are quantized, which
 * makes turbo caches more exact at no cost of bits. The reasons are empty where it is done. `blocks`: what is taken off K turns
 * with the positions; without it one constant serves all of them, which is less exact, for the reason.
 */
const centeringSchema = z.object({
  k: z.boolean(),
  v: z.boolean(),
  reasonK: z.string(),
  reasonV: z.string(),
  // comparisons on disk are older
  blocks: z.boolean().default(false),
  reasonBlocks: z.string().default(''),
});
export type Centering = z.infer<typeof centeringSchema>;

/** Layers whose attention runs in one place, as the scheduler of the engine has placed it. */
const attentionPlaceSchema = z.object({
  /** 'CPU', 'Metal' */
  backend: z.string(),
  device: z.string(),
  /** backend that holds the weights of these layers */
  layerBackend: z.string(),
  /** sliding-window layers */
  window: z.boolean(),
  layers: z.number().int(),
});
/** What attention over the cache runs on; on some chips the kernel depends on how many tokens are in the cache. */
const kernelUseSchema = z.object({
  /** 'CPU', 'Metal' */
  backend: z.string(),
  /** tokens in the cache from which on it is this one */
  from: z.number().int(),
  name: z.string(),
  /** what chose it: the processor, the chip family and a measurement, an environment variable, the self-test */
  why: z.string(),
});
export type KernelUse = z.infer<typeof kernelUseSchema>;

/** The cache of one layer; V is '' and 0 where a model keeps both in one. */
const cacheLayerSchema = z.object({
  layer: z.number().int(),
  typeK: effectiveCacheTypeSchema,
  typeV: effectiveCacheTypeSchema,
  bytesK: z.number(),
  bytesV: z.number(),
});
export type CacheLayer = z.infer<typeof cacheLayerSchema>;

/** Of a loaded model and its context, and what only the process knows. */
export const memorySchema = partMemorySchema.extend({
  /** of `weights`: pages of the model file, which the system drops and reads again when memory is short */
  weightsMapped: z.number(),
  /** resident set of the engine process, pages of files included */
  process: z.number(),
  /** the engine process by kind of page: memory of its own, and of the model file what is in memory now; null: not known */
  resident: z.object({ own: z.number(), weights: z.number() }).nullable(),
  /** own memory of the app's other processes, pages that they share counted once; null where the system does not say */
  app: z.number().nullable(),
  total: z.number(),
  free: z.number(),
  /** what lies on other machines and in memory of GPUs' own, which is no part of `process`, `total` and `free` */
  workers: z.array(placeMemorySchema).default([]),
  gpus: z.array(placeMemorySchema).default([]),
});
export type Memory = z.infer<typeof memorySchema>;

export const memoryEstimateSchema = partMemorySchema.extend({
  typeK: effectiveTypeSchema,
  typeV: effectiveTypeSchema,
  cacheLayers: z.array(cacheLayerSchema),
  /** as `effectiveContextSchema` has it */
  speculation: effectiveTypeSchema,
});
export type MemoryEstimate = z.infer<typeof memoryEstimateSchema>;

/** What the chat template in use can be told; see `TemplateSettings`. */
const templateSupportSchema = z.object({
  /** it marks thinking, which comes apart from the answer */
  thinking: z.boolean(),
  /** it can be told that the model shall not think */
  thinkingSwitch: z.boolean(),
  /** thinking has marks of its beginning and end: a budget can end it */
  thinkingBudget: z.boolean(),
  /** it reads `reasoning_effort` */
  effort: z.boolean(),
});
export type TemplateSupport = z.infer<typeof templateSupportSchema>;

/** Where layers are put that do not all fit onto GPUs and workers, by the engine's own choice. */
export const placementSchema = z.object({
  /** of the model, and the output layer as one */
  layers: z.number().int(),
  /** of them on GPUs and workers */
  gpuLayers: z.number().int(),
  /** of those, the ones that leave the weights of their experts in RAM */
  expertsInRam: z.number().int(),
  /** of those, the ones that leave only some of these weights there */
  expertsInPart: z.number().int(),
  /** workers take part */
  workers: z.boolean(),
});
export type Placement = z.infer<typeof placementSchema>;

/**
 * A context as the native engine made it, beside what was asked of it. Kept with comparisons (`compare/<id>.json` of the data
 * folder): a new field needs a default, or older ones do not open.
 */
export const effectiveContextSchema = z.object({
  nCtx: z.number().int(),
  nCtxAsked: z.number().int(),
  /** tokens that the model was trained for; 0: its file does not say */
  nCtxTrained: z.number().int(),
  typeK: effectiveTypeSchema,
  typeV: effectiveTypeSchema,
  /** the types of each layer, which differ where a budget was asked for */
  cacheLayers: z.array(cacheLayerSchema).default([]),
  centring: centeringSchema,
  /** how positions are scaled; `factor`: times the trained length, 1 where nothing is */
  rope: z.object({ kind: ropeSchema, factor: z.number() }),
  kernels: z.array(kernelUseSchema),
  flashAttention: z.boolean(),
  flashAttentionAsked: z.enum(['auto', 'on', 'off']),
  /**
   * newest tokens whose K and V are kept at 8 bits beside a turbo cache; 0: none are, and the reason says why, where they were
   * asked for and the cache has a turbo type
   */
  recent: z
    .object({ asked: z.number().int(), tokens: z.number().int(), reason: z.string() })
    .default({ asked: 0, tokens: 0, reason: '' }),
  threads: z.number().int(),
  /** -1: all */
  gpuLayersAsked: z.number().int(),
  /** layers that lie on a GPU, of `layers` */
  gpuLayers: z.number().int(),
  /** of the model, and the output layer as one */
  layers: z.number().int(),
  /** empty where the engine does not say */
  attention: z.array(attentionPlaceSchema),
  batch: z.number().int(),
  /** a choice of the settings, or `options`: options of llama-server choose it */
  speculation: effectiveTypeSchema.default({ asked: 'off', effective: 'off', reason: '' }),
  /** the model that drafts: the name of its file, '' for layers of the model itself, and the types of its cache, '' where none drafts */
  draft: z
    .object({ file: z.string(), typeK: effectiveTypeSchema, typeV: effectiveTypeSchema })
    .default({ file: '', typeK: noType, typeV: noType }),
  /** what makes images and sound readable: the name of its file, '' where there is none, and why not where one was asked for */
  projector: z
    .object({ file: z.string(), vision: z.boolean(), audio: z.boolean(), reason: z.string() })
    .default({ file: '', vision: false, audio: false, reason: '' }),
  /** LoRA adapters, in the order of the settings */
  adapters: z.array(adapterInUseSchema).default([]),
  /** why another chat template stands in for the model's own; empty where none does */
  chatTemplate: z.string(),
  templateSupport: templateSupportSchema.default({
    ...{ thinking: false, thinkingSwitch: false, thinkingBudget: false, effort: false },
  }),
  /** other things that differ from what was asked, as sentences */
  notes: z.array(z.string()),
});
export type EffectiveContext = z.infer<typeof effectiveContextSchema>;

/** The length that Auto is now, and what made it no longer. */
export const autoLengthSchema = z.object({
  /** tokens */
  nCtx: z.number().int(),
  /**
   * `trained`: the model was trained for no more. `memory`: more would not leave `spare` free. `processor`: so many at first,
   * until more are needed. `grown`: more were needed. `tight`: less than `spare` is free anyway. `placed`: even so many fit only
   * with a part of the layers in RAM. `unknown`: what the model was trained for, or how much memory there is.
   */
  end: z.enum(['trained', 'memory', 'processor', 'grown', 'tight', 'placed', 'unknown']),
  /** bytes of RAM for other programs, beside the reserve of every load */
  spare: z.number(),
});
export type AutoLength = z.infer<typeof autoLengthSchema>;

export const loadedContextSchema = effectiveContextSchema.extend({
  /** null: the length was chosen */
  auto: autoLengthSchema.nullable().default(null),
  /** null: all layers are where the settings want them */
  placement: placementSchema.nullable().default(null),
  /** why the model was not measured for its turbo caches; empty where it was, or where there is no need */
  calibration: z.string(),
  /** of the model: the same for the same content; '' of an engine that does not say it */
  fingerprint: z.string().default(''),
});
export type LoadedContext = z.infer<typeof loadedContextSchema>;

/**
 * Life of the engine process. `unavailable`: it cannot be started (binary missing or unusable);
 * `empty`: running without a model; `failed`: the last load failed and `error` says why.
 */
const engineStateSchema = z.enum([
  'starting',
  'unavailable',
  'empty',
  'loading',
  'ready',
  'generating',
  'failed',
  'restarting',
]);
export type EngineState = z.infer<typeof engineStateSchema>;

/** `calibration`: the model is measured, once, for its turbo caches. `cache`: what the cache holds is taken over. */
export const loadStepSchema = z.enum(['weights', 'calibration', 'cache']);
export type LoadStep = z.infer<typeof loadStepSchema>;

/**
 * What the engine process is waited for in vain. `start`: its first message; `silent`: any message at all, while it was asked
 * something; `stop`: the end of work that was canceled. It may still come.
 */
const stallSchema = z.enum(['start', 'silent', 'stop']);
export type Stall = z.infer<typeof stallSchema>;

const engineStatusSchema = z.object({
  state: engineStateSchema,
  capabilities: capabilitiesSchema.nullable(),
  modelId: idSchema.nullable(),
  model: modelInfoSchema.nullable(),
  context: loadedContextSchema.nullable(),
  memory: memorySchema.nullable(),
  /** tokens in the KV cache */
  contextUsed: z.number().int(),
  /** the chat that these tokens are of; null: of none, or nothing is in the cache */
  contextChat: idSchema.nullable().default(null),
  /** 0..1 of the step while loading; null otherwise */
  loadProgress: z.number().nullable(),
  loadStep: loadStepSchema.nullable(),
  error: errorPayloadSchema.nullable(),
  stalled: stallSchema.nullable().default(null),
  /** the model that was asked for last and could not be had, while the one before it is used on */
  refused: z.object({ modelId: idSchema, error: errorPayloadSchema }).nullable().default(null),
  /** the memory of the model was freed because nobody used it: the next question or request loads it again */
  resting: z.boolean().default(false),
  /** times the process was restarted after a crash since the app started */
  restarts: z.number().int(),
  /** id of the comparison that runs: answers wait until it has ended; null: none does */
  comparing: idSchema.nullable().default(null),
  /** what else a person may want to know, as sentences: a saved session was damaged, the disk is full; the latest last */
  notes: z.array(z.string()).default([]),
});
export type EngineStatus = z.infer<typeof engineStatusSchema>;

/** Live figures of the answer that is being written. */
export const liveStatsSchema = z.object({
  /** `saving`, `restoring`: what the cache holds of another chat goes to the disk, what was saved of this one comes back */
  phase: z.enum(['queued', 'saving', 'restoring', 'prefill', 'decode']),
  promptTokens: z.number().int(),
  cachedTokens: z.number().int(),
  /** prompt tokens evaluated so far, cached ones apart */
  prefillDone: z.number().int(),
  promptTokensPerSecond: z.number(),
  /** of the last batch: attention makes later ones slower */
  promptTokensPerSecondNow: z.number(),
  /** when this frame was made; null before the first batch and once the answer is written */
  prefillMsLeft: z.number().nullable(),
  /** null before the first token */
  ttftMs: z.number().nullable(),
  answerTokens: z.number().int(),
  /** over the last second */
  tokensPerSecondNow: z.number(),
  tokensPerSecondAverage: z.number(),
  /** not there where nothing is drafted */
  drafts: draftsSchema.optional(),
  contextUsed: z.number().int(),
  contextSize: z.number().int(),
});
export type LiveStats = z.infer<typeof liveStatsSchema>;

/** One frame of an answer: text that is new since the last frame (whole characters only) and the live figures. */
export const streamFrameSchema = z.object({
  requestId: idSchema,
  chatId: idSchema,
  messageId: idSchema,
  text: z.string(),
  thinking: z.string(),
  stats: liveStatsSchema,
});
export type StreamFrame = z.infer<typeof streamFrameSchema>;

export const generationResultSchema = z.object({
  stopReason: stopReasonSchema,
  text: z.string(),
  thinking: z.string(),
  /** what the model asks for: the answer goes on when it has the results */
  toolCalls: z.array(promptCallSchema),
  stats: answerStatsSchema,
});
export type GenerationResult = z.infer<typeof generationResultSchema>;

// Saved sessions: the KV cache of a chat on disk, so that a document is read once.

export const savedSessionSchema = z.object({
  id: idSchema,
  /** chats that it was made in or restored for; several may begin with the same document */
  chatIds: z.array(idSchema),
  /** it is of these documents alone, which all of its chats begin with; empty: of a chat */
  documents: z.array(z.object({ id: z.string(), name: z.string() })),
  modelName: z.string(),
  tokens: z.number().int(),
  /** on disk */
  bytes: z.number(),
  typeK: z.string(),
  typeV: z.string(),
  createdAt: momentSchema,
  lastUsed: momentSchema,
  /** why it cannot be restored into what is loaded now, as a sentence; null: it can */
  problem: z.string().nullable(),
});
export type SavedSession = z.infer<typeof savedSessionSchema>;

/** `models.select` is among them: it answers with the status. */
export const engineOperations = {
  /** saved caches of chats; the engine must be running */
  'sessions.list': operation(nothing, z.array(savedSessionSchema)),
  'sessions.remove': operation(z.object({ sessionId: idSchema }), nothing),
  'sessions.clear': operation(nothing, nothing),

  'engine.status': operation(nothing, engineStatusSchema),
  /** loads the model and remembers it; `force`: even when it does not fit into the memory */
  'models.select': operation(z.object({ modelId: idSchema, force: z.boolean().optional() }), engineStatusSchema),
  /** tries again: loads the model with the settings as they are now, whether they have changed or not; `force` as above */
  'engine.reload': operation(z.object({ force: z.boolean() }).optional(), engineStatusSchema),
  'engine.cancelLoad': operation(nothing, nothing),
  /** ends a process that does not answer and starts another; what it was doing ends as at a crash */
  'engine.restart': operation(nothing, nothing),
} as const satisfies OperationMap;

export const engineEvents = {
  onEngine: engineStatusSchema,
  /** straight from the engine process, at most 60 a second */
  onStream: streamFrameSchema,
} as const satisfies EventMap;
