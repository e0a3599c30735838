/** Limits of what crosses the contract. One place, so that the gate, the forms and the tests agree. */
import { z } from 'zod';

export const limits = {
  minContext: 512,
  maxContext: 16_777_216,
  maxThreads: 1024,
  maxGpuLayers: 10_000,
  maxIdLength: 200,
  maxTitle: 200,
  maxFolderName: 80,
  maxPresetName: 80,
  maxPresets: 200,
  maxSystemPrompt: 200_000,
  /** characters of one message: a pasted book of 4 million characters passes */
  maxMessage: 8_000_000,
  maxPathLength: 4096,
  maxPathsPerCall: 256,
  /** documents of one message */
  maxAttachments: 64,
  /** bytes of a file that is attached */
  maxDocumentBytes: 300_000_000,
  /** of the text and styles in a Word document, which are packed in its file */
  maxUnpackedBytes: 200_000_000,
  maxDocumentPages: 10_000,
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
