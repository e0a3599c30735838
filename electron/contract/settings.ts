/** Settings of the app. Missing keys take their defaults, so a file of an older version always parses. */
import { z } from 'zod';
import { cacheTypeSchema } from './cacheTypes';
import { limits } from './limits';

export const flashAttentionSchema = z.enum(['auto', 'on', 'off']);

/**
 * What a context longer than the trained length is made of. `model`: nothing, it is cut to that length. `linear`: all
 * positions are squeezed alike. `yarn`: those that tell near words apart are left as they are.
 */
export const ropeSchema = z.enum(['model', 'linear', 'yarn']);
export type RopeChoice = z.infer<typeof ropeSchema>;

/** Bounds of each setting, without defaults: a whole set adds them, a patch must not. */
const contextFields = {
  /** tokens; with rope `model` the engine cuts it to what the model was trained for */
  nCtx: z.number().int().min(limits.minContext).max(limits.maxContext),
  typeK: cacheTypeSchema,
  typeV: cacheTypeSchema,
  flashAttention: flashAttentionSchema,
  /** 0: one per physical core */
  threads: z.number().int().min(0).max(limits.maxThreads),
  /** layers on the GPU; -1: as many as fit */
  gpuLayers: z.number().int().min(-1).max(limits.maxGpuLayers),
  /** tokens of one micro-batch of the prefill */
  batch: z.number().int().min(32).max(4096),
  rope: ropeSchema,
};

const samplingFields = {
  temperature: z.number().min(0).max(5),
  /** 0: off */
  topK: z.number().int().min(0).max(1000),
  topP: z.number().min(0).max(1),
  minP: z.number().min(0).max(1),
  repeatPenalty: z.number().min(0.1).max(3),
  /** null: a new one for each answer */
  seed: z.number().int().min(0).max(0xffff_fffe).nullable(),
  /** tokens of one answer at the most; 0: until the context is full */
  maxTokens: z.number().int().min(0).max(limits.maxContext),
  stop: z.array(z.string().min(1).max(200)).max(16),
};

/** What decides the shape of a context; a change of any of these makes a new context. */
export const contextSettingsSchema = z.object({
  nCtx: contextFields.nCtx.default(8192),
  typeK: contextFields.typeK.default('turbo4'),
  typeV: contextFields.typeV.default('turbo4'),
  flashAttention: contextFields.flashAttention.default('auto'),
  threads: contextFields.threads.default(0),
  gpuLayers: contextFields.gpuLayers.default(-1),
  batch: contextFields.batch.default(512),
  rope: contextFields.rope.default('model'),
});
export type ContextSettings = z.infer<typeof contextSettingsSchema>;

export const samplingSettingsSchema = z.object({
  temperature: samplingFields.temperature.default(0.7),
  topK: samplingFields.topK.default(40),
  topP: samplingFields.topP.default(0.95),
  minP: samplingFields.minP.default(0.05),
  repeatPenalty: samplingFields.repeatPenalty.default(1),
  seed: samplingFields.seed.default(null),
  maxTokens: samplingFields.maxTokens.default(0),
  stop: samplingFields.stop.default([]),
});
export type SamplingSettings = z.infer<typeof samplingSettingsSchema>;

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
};

export const documentSettingsSchema = z.object({
  reserve: documentFields.reserve.default(1024),
  retrievalTokens: documentFields.retrievalTokens.default(2048),
});
export type DocumentSettings = z.infer<typeof documentSettingsSchema>;
const downloadFields = {
  /** downloads at a time */
  parallel: z.number().int().min(1).max(4),
  /** whole path of the folder of downloaded models; null: `models` in the folder of the app's data */
  folder: z.string().min(1).max(limits.maxPathLength).nullable(),
};

export const downloadSettingsSchema = z.object({
  parallel: downloadFields.parallel.default(2),
  folder: downloadFields.folder.default(null),
});
export type DownloadSettings = z.infer<typeof downloadSettingsSchema>;

/** When the context is full. `stop`: the answer ends, nothing is cut. `roll`: the oldest turns are left out, documents are not. */
export const overflowSchema = z.enum(['stop', 'roll']);

export const themeSchema = z.enum(['system', 'light', 'dark']);

export const settingsSchema = z.object({
  version: z.literal(1).default(1),
  theme: themeSchema.default('system'),
  /** id of the model that is loaded at start; null: the embedded one */
  modelId: z.string().max(limits.maxIdLength).nullable().default(null),
  systemPrompt: z.string().max(limits.maxSystemPrompt).default(''),
  context: contextSettingsSchema.prefault({}),
  sampling: samplingSettingsSchema.prefault({}),
  sessions: sessionSettingsSchema.prefault({}),
  documents: documentSettingsSchema.prefault({}),
  downloads: downloadSettingsSchema.prefault({}),
  overflow: overflowSchema.default('stop'),
});
export type Settings = z.infer<typeof settingsSchema>;

/** A change of some settings: only the keys that are named change. */
export const settingsPatchSchema = z.object({
  theme: themeSchema.optional(),
  modelId: z.string().max(limits.maxIdLength).nullable().optional(),
  systemPrompt: z.string().max(limits.maxSystemPrompt).optional(),
  context: z.object(contextFields).partial().optional(),
  sampling: z.object(samplingFields).partial().optional(),
  sessions: z.object(sessionFields).partial().optional(),
  documents: z.object(documentFields).partial().optional(),
  downloads: z.object(downloadFields).partial().optional(),
  overflow: overflowSchema.optional(),
});
export type SettingsPatch = z.infer<typeof settingsPatchSchema>;
