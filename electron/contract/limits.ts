/** What every file of the contract is made with: operations, and their limits in one place, so that gate, forms and tests agree. */
import { z } from 'zod';

export const limits = {
  minContext: 512,
  maxContext: 16_777_216,
  maxThreads: 1024,
  maxGpuLayers: 10_000,
  /** of upstream: llama_max_devices */
  maxDevices: 16,
  maxIdLength: 200,
  maxTitle: 200,
  maxFolderName: 80,
  maxPresetName: 80,
  maxPresets: 200,
  maxSystemPrompt: 200_000,
  /** characters of the brief of a chat's oldest messages */
  maxBrief: 100_000,
  /** characters of one message: a pasted book of 4 million characters passes */
  maxMessage: 8_000_000,
  maxPathLength: 4096,
  maxPathsPerCall: 256,
  /** of a file of chats of another app */
  maxImportBytes: 300_000_000,
  /** files of one import, and chats of one that are taken over at a time */
  maxImportFiles: 2000,
  maxImportSlice: 50,
  /** documents on the shelf */
  maxShelf: 1000,
  /** documents of one message */
  maxAttachments: 64,
  /** bytes of a file that is attached */
  maxDocumentBytes: 300_000_000,
  /** of the text and styles in a Word document, which are packed in its file */
  maxUnpackedBytes: 200_000_000,
  /** bytes of an image or sound that goes to the model as it is */
  maxMediaBytes: 16 * 1024 * 1024,
  maxDocumentPages: 10_000,
  /** pixels that the picture of a page can be asked for */
  maxPageWidth: 4000,
  /** bytes of such a picture */
  maxPagePicture: 50_000_000,
  /** pages of a document in whose pictures text is recognized (OCR): some seconds each */
  maxOcrPages: 1000,
  /** UTF-16 units; PDF 2.0 takes 127 bytes of it */
  maxPassword: 1000,
  /** LoRA adapters of one model */
  maxAdapters: 8,
  /** of one request for vectors */
  maxTextsToEmbed: 64,
  /** where a document has more headings, neighboring sections are joined */
  maxDocumentSections: 20_000,
  /** of the text that is taken out of one file */
  maxDocumentCharacters: 300_000_000,
  /** characters of a document's text in one answer */
  maxDocumentSlice: 1_000_000,
  /** messages of one chat that a search shows */
  snippetsPerChat: 3,
} as const;

export const idSchema = z.string().min(1).max(limits.maxIdLength);
/** Milliseconds since 1970, UTC, which a Date can hold: of another number nothing could be shown, and no text be written. */
export const momentSchema = z.number().min(-8.64e15).max(8.64e15);
/** Of a file, or ''. No system has one with a NUL: such a path in the settings would end whatever reads them. */
export const pathOrNoneSchema = z
  .string()
  .max(limits.maxPathLength)
  .refine((path) => !path.includes('\0'), 'A path has no NUL.');
export const pathSchema = pathOrNoneSchema.min(1);
/** What a person wrote. Half of a surrogate pair, as a cut through an emoji leaves it, is no text to the engine: U+FFFD stands for it. */
export const textSchema = z
  .string()
  .max(limits.maxMessage)
  .overwrite((text) => text.toWellFormed());
/** A number that a hub tells. Any other (negative, broken, not exact) ends in a loop or an offset that no file has. */
export const countSchema = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const nothing = z.void();

/** An operation: what goes in and what comes out, both checked at the boundary. */
export interface Operation<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  readonly input: I;
  readonly output: O;
}

export function operation<I extends z.ZodType, O extends z.ZodType>(input: I, output: O): Operation<I, O> {
  return { input, output };
}

/**
 * Whether Windows takes the name for a device (`nul.txt` is no file there), whatever follows it. Asked everywhere: a disk with models
 * goes from one system to another.
 */
export function isDeviceName(name: string): boolean {
  return /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)/i.test(name);
}
