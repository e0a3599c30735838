/** Settings of the app. Missing keys take their defaults, so a file of an older version always parses. */
import { z } from 'zod';
import { cacheTypeSchema } from './cacheTypes';
import { limits } from './limits';

export const flashAttentionSchema = z.enum(['auto', 'on', 'off']);

/** What decides the shape of a context; a change of any of these makes a new context. */
export const contextSettingsSchema = z.object({
  /** tokens; clamped by the engine to what the model was trained for */
  nCtx: z.number().int().min(limits.minContext).max(limits.maxContext).default(8192),
  typeK: cacheTypeSchema.default('turbo4'),
  typeV: cacheTypeSchema.default('turbo4'),
  flashAttention: flashAttentionSchema.default('auto'),
  /** 0: one per physical core */
  threads: z.number().int().min(0).max(limits.maxThreads).default(0),
  /** layers on the GPU; -1: as many as fit */
  gpuLayers: z.number().int().min(-1).max(limits.maxGpuLayers).default(-1),
  /** tokens of one micro-batch of the prefill */
  batch: z.number().int().min(32).max(4096).default(512),
});
export type ContextSettings = z.infer<typeof contextSettingsSchema>;

export const samplingSettingsSchema = z.object({
  temperature: z.number().min(0).max(5).default(0.7),
  /** 0: off */
  topK: z.number().int().min(0).max(1000).default(40),
  topP: z.number().min(0).max(1).default(0.95),
  minP: z.number().min(0).max(1).default(0.05),
  repeatPenalty: z.number().min(0.1).max(3).default(1),
  /** null: a new one for each answer */
  seed: z.number().int().min(0).max(0xffff_fffe).nullable().default(null),
  /** tokens of one answer at the most; 0: until the context is full */
  maxTokens: z.number().int().min(0).max(limits.maxContext).default(0),
  stop: z.array(z.string().min(1).max(200)).max(16).default([]),
});
export type SamplingSettings = z.infer<typeof samplingSettingsSchema>;

export const themeSchema = z.enum(['system', 'light', 'dark']);

export const settingsSchema = z.object({
  version: z.literal(1).default(1),
  theme: themeSchema.default('system'),
  /** id of the model that is loaded at start; null: the embedded one */
  modelId: z.string().max(limits.maxIdLength).nullable().default(null),
  systemPrompt: z.string().max(limits.maxSystemPrompt).default(''),
  context: contextSettingsSchema.prefault({}),
  sampling: samplingSettingsSchema.prefault({}),
});
export type Settings = z.infer<typeof settingsSchema>;

/** A change of some settings: only the keys that are named change. */
export const settingsPatchSchema = z.object({
  theme: themeSchema.optional(),
  modelId: z.string().max(limits.maxIdLength).nullable().optional(),
  systemPrompt: z.string().max(limits.maxSystemPrompt).optional(),
  context: z
    .object({
      nCtx: z.number().int().min(limits.minContext).max(limits.maxContext),
      typeK: cacheTypeSchema,
      typeV: cacheTypeSchema,
      flashAttention: flashAttentionSchema,
      threads: z.number().int().min(0).max(limits.maxThreads),
      gpuLayers: z.number().int().min(-1).max(limits.maxGpuLayers),
      batch: z.number().int().min(32).max(4096),
    })
    .partial()
    .optional(),
  sampling: z
    .object({
      temperature: z.number().min(0).max(5),
      topK: z.number().int().min(0).max(1000),
      topP: z.number().min(0).max(1),
      minP: z.number().min(0).max(1),
      repeatPenalty: z.number().min(0.1).max(3),
      seed: z.number().int().min(0).max(0xffff_fffe).nullable(),
      maxTokens: z.number().int().min(0).max(limits.maxContext),
      stop: z.array(z.string().min(1).max(200)).max(16),
    })
    .partial()
    .optional(),
});
export type SettingsPatch = z.infer<typeof settingsPatchSchema>;
