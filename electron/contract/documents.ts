/**
 * Documents: files and pasted text whose words the app has taken out and keeps. The window holds ids; paths stay in the
 * main process. Offsets count UTF-16 units of the extracted text, as `String.slice` does.
 */
import { z } from 'zod';
import { errorPayloadSchema } from './errors';
import { idSchema } from './limits';

export const documentKindSchema = z.enum(['pdf', 'docx', 'html', 'markdown', 'text', 'csv', 'code']);
export type DocumentKind = z.infer<typeof documentKindSchema>;

/** A stretch of a document that can be named. Sections follow each other without gaps, from 0 to `characters`. */
export const sectionSchema = z.object({
  kind: z.enum(['page', 'heading', 'lines']),
  /** "Page 12", the words of a heading, "Lines 201-400" */
  label: z.string(),
  /** headings: 1-6, as in their file; all others 0 */
  level: z.number().int().min(0).max(6),
  start: z.number().int().min(0),
  end: z.number().int().min(0),
});
export type Section = z.infer<typeof sectionSchema>;

export const documentSchema = z.object({
  /** of the bytes of the file, its kind and the version of the extraction: the same file has the same id */
  id: idSchema,
  name: z.string(),
  kind: documentKindSchema,
  /** of the file */
  bytes: z.number().int(),
  /** of the extracted text, in UTF-16 units */
  characters: z.number().int(),
  /** null: a kind without pages */
  pages: z.number().int().nullable(),
  sections: z.number().int(),
  /** what a person should know about this text: pages without text, a guessed encoding, ... */
  notices: z.array(z.string()),
  createdAt: z.number(),
});
export type DocumentInfo = z.infer<typeof documentSchema>;

export const documentJobSchema = z.object({
  id: idSchema,
  name: z.string(),
  state: z.enum(['waiting', 'reading', 'done', 'failed', 'cancelled']),
  /** 0 to 1 */
  progress: z.number().min(0).max(1),
  /** pages that are read and all pages; null until they are known, and for kinds without pages */
  pages: z.object({ done: z.number().int(), all: z.number().int() }).nullable(),
  /** when the job is done */
  document: documentSchema.nullable(),
  /** when it failed */
  error: errorPayloadSchema.nullable(),
});
export type DocumentJob = z.infer<typeof documentJobSchema>;

/** A part of a file that a browser sends. The first one has no `uploadId` and offset 0; the answer to it names the id. */
export const uploadPartSchema = z.object({
  uploadId: idSchema.nullable(),
  name: z.string().min(1).max(255),
  /** of the whole file */
  bytes: z.number().int().min(0),
  offset: z.number().int().min(0),
  data: z.base64().max(2_000_000),
});
export type UploadPart = z.infer<typeof uploadPartSchema>;

/** `jobId`: when this was the last part. */
export const uploadAnswerSchema = z.object({ uploadId: idSchema, jobId: idSchema.nullable() });
export type UploadAnswer = z.infer<typeof uploadAnswerSchema>;

/** Bytes on disk. `unused`: those of them that no chat names, and that a sweep would remove. */
const amountSchema = z.object({ count: z.number().int(), bytes: z.number() });
export const documentUsageSchema = amountSchema.extend({ unused: amountSchema });
export type DocumentUsage = z.infer<typeof documentUsageSchema>;
