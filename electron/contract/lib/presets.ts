/** Presets: a system prompt and the sampling under a name, and if the person wishes the model and its context too. */
import { z } from 'zod';
import { idSchema, limits, nothing, operation } from '../limits';
import type { EventMap, OperationMap } from '../rpc';
import { contextSettingsSchema, ownSamplingSchema } from '../settings';

const presetContentSchema = z.object({
  name: z.string().trim().min(1).max(limits.maxPresetName),
  systemPrompt: z.string().max(limits.maxSystemPrompt),
  sampling: ownSamplingSchema,
  /** null: it says nothing of the model and the context */
  engine: z
    .object({
      modelId: idSchema.nullable(),
      context: contextSettingsSchema.pick({ nCtx: true, typeK: true, typeV: true }),
    })
    .nullable()
    .default(null),
});
export type PresetContent = z.infer<typeof presetContentSchema>;

const presetSchema = presetContentSchema.extend({ id: idSchema });
export type Preset = z.infer<typeof presetSchema>;

export const presetsSchema = z.object({
  /** in the order of their making */
  presets: z.array(presetSchema).default([]),
  /** new chats begin with its system prompt and sampling; null: with what was set last */
  defaultId: idSchema.nullable().default(null),
});
export type Presets = z.infer<typeof presetsSchema>;

export const presetOperations = {
  'presets.list': operation(nothing, presetsSchema),
  /** `presetId`: the one that is replaced; null: a new one */
  'presets.save': operation(z.object({ presetId: idSchema.nullable(), preset: presetContentSchema }), presetsSchema),
  'presets.remove': operation(z.object({ presetId: idSchema }), presetsSchema),
  /** the one that new chats begin with; null: none */
  'presets.setDefault': operation(z.object({ presetId: idSchema.nullable() }), presetsSchema),
} as const satisfies OperationMap;

export const presetEvents = { onPresets: presetsSchema } as const satisfies EventMap;
