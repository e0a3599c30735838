/** Models: GGUF files that the app knows. The window holds ids; paths stay in the main process. */
import { z } from 'zod';
import { errorPayloadSchema } from './errors';
import { adapterFactsSchema } from './lib/domains/adapters';
import { poolings } from './lib/embeddings';
import { idSchema, limits, nothing, operation, pathSchema } from './limits';
import type { EventMap, OperationMap } from './rpc';
import { applySchema, contextSettingsSchema, modelDefaultsSchema, modelSamplingSchema } from './settings';

/** Models that were built into earlier versions: chats, settings and presets of those name them. */
export const formerBuiltIn = [{ name: 'concertina-tiny', fileName: 'concertina-tiny-q8_0.gguf' }] as const;

/** For so long a model that was deleted can be had back. */
export const undoDeleteMs = 10_000;

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
  /** K projection carries a bias: K of 3 or 4 bits breaks such models unless it is centered by blocks of positions */
  hasKBias: z.boolean(),
  license: z.string().nullable(),
  /** of a model that makes vectors of texts, and does not chat (contract/lib/embeddings.ts); null: it writes */
  pooling: z.enum(poolings).nullable().default(null),
  /** of a LoRA adapter, which is no model by itself: `architecture` is that of models it is for; null: it is none */
  adapter: adapterFactsSchema.nullable().default(null),
  /** sampling that its author recommends */
  sampling: modelSamplingSchema.partial().default({}),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;

/** One file of a model, or the first of its parts. */
const modelPlaceSchema = z.object({
  id: idSchema,
  /** file name, for people; where another app names its files by hashes, the name that it gives the model */
  fileName: z.string(),
  /** shown path: folder of the file, home folder shortened to ~ */
  location: z.string(),
  /** in whose folder it lies ('Ollama'); null: of no app that is known */
  app: z.string().nullable(),
});
export type ModelPlace = z.infer<typeof modelPlaceSchema>;

const modelEntrySchema = z.object({
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
  problem: errorPayloadSchema.nullable(),
  /** what is set for it alone; null: nothing */
  defaults: modelDefaultsSchema.nullable(),
});
export type ModelEntry = z.infer<typeof modelEntrySchema>;

/** What a header says beyond `ModelInfo`, and what is known of the file. */
const modelDetailsSchema = z.object({
  /** tokens; null: every layer sees the whole context */
  slidingWindow: z.number().nullable(),
  /** of a mixture of experts, and how many work on one token; null: it is none */
  experts: z.object({ count: z.number(), used: z.number().nullable() }).nullable(),
  author: z.string().nullable(),
  /** name or address of the license's text */
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
const modelPlacesSchema = z.object({
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
const addProgressSchema = z.object({ folders: z.number().int(), models: z.number().int() });
export type AddProgress = z.infer<typeof addProgressSchema>;

const addModelsResultSchema = z.object({
  added: z.array(modelEntrySchema),
  refused: z.array(z.object({ name: z.string(), error: errorPayloadSchema })),
});
export type AddModelsResult = z.infer<typeof addModelsResultSchema>;

export const modelOperations = {
  'models.list': operation(nothing, z.array(modelEntrySchema)),
  /** a native file dialog; refused in headless mode */
  'models.addFromDialog': operation(z.object({ kind: z.enum(['files', 'folder']) }), addModelsResultSchema),
  /** paths: of dropped files (put in by the preload bridge), or typed by a person in headless mode */
  'models.addPaths': operation(
    z.object({ paths: z.array(pathSchema).min(1).max(limits.maxPathsPerCall) }),
    addModelsResultSchema,
  ),
  /** ends the search through a folder that is being added, which then is not */
  'models.cancelAdd': operation(nothing, nothing),
  /** folders of other apps on this machine, of which nothing was read yet, and the folders that were added */
  'models.scan': operation(nothing, modelPlacesSchema),
  /** adds folders that `models.scan` offered */
  'models.addPlaces': operation(z.object({ ids: z.array(idSchema).min(1) }), addModelsResultSchema),
  /** off the list with all its models; nothing in it is touched */
  'models.removeFolder': operation(z.object({ id: idSchema }), nothing),
  /** off the list; the file stays where it is. Of a model with several places: this one */
  'models.remove': operation(z.object({ modelId: idSchema }), nothing),
  /**
   * off the list at once; `undoDeleteMs` later its files go to the trash of the system, and the answer comes. Without a desktop
   * they are deleted for good, and only those that were downloaded can be. Of a model with several places: this one. Refused
   * while it is in use
   */
  'models.delete': operation(z.object({ modelId: idSchema }), z.object({ deleted: z.boolean() })),
  /** back on the list, before its files are gone: the answer to `models.delete` is then `deleted: false` */
  'models.keep': operation(z.object({ modelId: idSchema }), nothing),
  /** reads the header of its file */
  'models.details': operation(z.object({ modelId: idSchema }), modelDetailsSchema),
  /** what is set for this model alone; null: nothing any more. If it is in use, it is loaded again where that is needed */
  'models.setDefaults': operation(
    z.object({ modelId: idSchema, defaults: modelDefaultsSchema.nullable(), apply: applySchema.optional() }),
    nothing,
  ),
} as const satisfies OperationMap;

export const modelEvents = {
  onModels: z.array(modelEntrySchema),
  /** while a folder is searched that is to be added */
  onAddProgress: addProgressSchema,
} as const satisfies EventMap;
