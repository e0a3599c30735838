/** Models: GGUF files that the app knows. The window holds ids; paths stay in the main process. */
import { z } from 'zod';
import { idSchema } from './limits';
import { contextSettingsSchema, modelDefaultsSchema } from './settings';

/** Models that were built into earlier versions: chats, settings and presets of those name them. */
export const formerBuiltIn = [{ name: 'concertina-tiny', fileName: 'concertina-tiny-q8_0.gguf' }] as const;

/** What the header of a GGUF file says, without loading its weights. */
export const modelInfoSchema = z.object({
  name: z.string(),
  architecture: z.string(),
  /** bytes of the file */
  fileBytes: z.number(),
  /** parameters */
  parameters: z.number(),
  quantization: z.string(),
  layers: z.number().int(),
  headCount: z.number().int(),
  headCountKv: z.number().int(),
  headDimK: z.number().int(),
  headDimV: z.number().int(),
  /** the context length that the model was trained for */
  nCtxTrain: z.number().int(),
  vocabSize: z.number().int(),
  hasChatTemplate: z.boolean(),
  /** K projection carries a bias: quantised K breaks such models */
  hasKBias: z.boolean(),
  license: z.string().nullable(),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;

/** One file of a model, or the first of its parts. */
export const modelPlaceSchema = z.object({
  id: idSchema,
  /** file name, for people; where another app names its files by hashes, the name that it gives the model */
  fileName: z.string(),
  /** shown path: folder of the file, home folder shortened to ~ */
  location: z.string(),
  /** in whose folder it lies ('Ollama'); null: of no app that is known */
  app: z.string().nullable(),
});
export type ModelPlace = z.infer<typeof modelPlaceSchema>;

export const modelEntrySchema = z.object({
  id: idSchema,
  /** as in its first place, like `location` */
  fileName: z.string(),
  location: z.string(),
  /** every file with this content, the one that is used first */
  places: z.array(modelPlaceSchema).min(1),
  source: z.enum(['embedded', 'file', 'folder', 'downloaded']),
  fileBytes: z.number(),
  /** null: not inspected yet, or not readable */
  info: modelInfoSchema.nullable(),
  /** why the file cannot be used; null when it can */
  problem: z.string().nullable(),
  /** what is set for it alone; null: nothing */
  defaults: modelDefaultsSchema.nullable(),
});
export type ModelEntry = z.infer<typeof modelEntrySchema>;

/** What a header says beyond `ModelInfo`, and what is known of the file. */
export const modelDetailsSchema = z.object({
  /** tokens; null: every layer sees the whole context */
  slidingWindow: z.number().nullable(),
  /** of a mixture of experts, and how many work on one token; null: it is none */
  experts: z.object({ count: z.number(), used: z.number().nullable() }).nullable(),
  author: z.string().nullable(),
  /** name or address of the licence's text */
  licenseLink: z.string().nullable(),
  /** the model that this one was made from */
  baseModel: z.string().nullable(),
  /** beginning of the chat template; null: it has none */
  template: z.object({ text: z.string(), length: z.number().int() }).nullable(),
  /** of the file, where it was needed or its keeper tells it; null: not known */
  sha256: z.string().nullable(),
  /** settings that it would be loaded with */
  context: contextSettingsSchema,
});
export type ModelDetails = z.infer<typeof modelDetailsSchema>;

/** Folders: those of other apps that could be added, and those that were. */
export const modelPlacesSchema = z.object({
  /** there, and not on the list; nothing in them was looked at */
  offered: z.array(z.object({ id: idSchema, app: z.string(), location: z.string() })),
  folders: z.array(
    z.object({
      id: idSchema,
      app: z.string().nullable(),
      location: z.string(),
      /** false: it vanished, with its disk maybe */
      there: z.boolean(),
      models: z.number().int(),
    }),
  ),
});
export type ModelPlaces = z.infer<typeof modelPlacesSchema>;

/** How far a search for models has come. */
export const addProgressSchema = z.object({ folders: z.number().int(), models: z.number().int() });
export type AddProgress = z.infer<typeof addProgressSchema>;
