/** Models: GGUF files that the app knows. The window holds ids; paths stay in the main process. */
import { z } from 'zod';
import { idSchema } from './chats';

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

export const modelEntrySchema = z.object({
  id: idSchema,
  /** file name, for people */
  fileName: z.string(),
  /** shown path: folder of the file, home folder shortened to ~ */
  location: z.string(),
  source: z.enum(['embedded', 'file', 'folder', 'downloaded']),
  fileBytes: z.number(),
  /** null: not inspected yet, or not readable */
  info: modelInfoSchema.nullable(),
  /** why the file cannot be used; null when it can */
  problem: z.string().nullable(),
});
export type ModelEntry = z.infer<typeof modelEntrySchema>;
