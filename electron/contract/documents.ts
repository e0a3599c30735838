/**
 * Documents: files and pasted text whose words the app has taken out and keeps. The window holds ids; paths stay in the
 * main process. Offsets count UTF-16 units of the extracted text, as `String.slice` does.
 */
import { z } from 'zod';
import { errorPayloadSchema } from './errors';
import { attachmentPartSchema, scoredPassageSchema, wordsAloneSchema } from './lib/attachments';
import { idSchema, limits, momentSchema, nothing, operation, pathSchema, textSchema } from './limits';
import type { EventMap, OperationMap } from './rpc';

const documentKindSchema = z.enum([
  ...(['pdf', 'docx', 'odt', 'rtf', 'epub', 'pptx', 'odp', 'xlsx', 'ods', 'eml'] as const),
  /**
   * `picture`: its text is recognized; `image`, `sound`: the model reads the file itself, and there is no text; `file`: nothing reads
   * it, it is kept for the person
   */
  ...(['html', 'markdown', 'text', 'csv', 'code', 'picture', 'image', 'sound', 'file'] as const),
]);
export type DocumentKind = z.infer<typeof documentKindSchema>;
/** kinds whose words are taken out */
export type TextKind = Exclude<DocumentKind, 'image' | 'sound' | 'file'>;

/** A stretch of a document that can be named. Sections follow each other without gaps, from 0 to `characters`. */
export const sectionSchema = z.object({
  kind: z.enum(['page', 'heading', 'lines']),
  /** "Page 12" or "Page 33 (sheet 39)" (contract/lib/pages.ts), the words of a heading, "Lines 201-400" */
  label: z.string(),
  /** headings: 1-6, as in their file; all others 0 */
  level: z.number().int().min(0).max(6),
  start: z.number().int().min(0),
  end: z.number().int().min(0),
  /** its text was recognized in a picture, and may hold errors */
  ocr: z.literal(true).optional(),
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
  /** numbers are printed on its pages that differ from those of the sheets; documents of older versions do not tell */
  printedPages: z.boolean().default(false),
  /** a copy of its file is kept, so that its pages can be shown as pictures */
  original: z.boolean().default(false),
  /** what a person should know about this text: pages without text, a guessed encoding, ... */
  notices: z.array(z.string()),
  createdAt: momentSchema,
});
export type DocumentInfo = z.infer<typeof documentSchema>;

export const pagesReadSchema = z.object({
  done: z.number().int().min(0),
  all: z.number().int().min(0),
  /** the number of the page in whose picture text is recognized now (OCR); absent: none */
  ocr: z.number().int().min(1).optional(),
});
export type PagesRead = z.infer<typeof pagesReadSchema>;

const documentJobSchema = z.object({
  id: idSchema,
  name: z.string(),
  /** `locked`: it waits for `documents.unlock`, or to be canceled; others are read meanwhile */
  state: z.enum(['waiting', 'reading', 'locked', 'done', 'failed', 'cancelled']),
  /** 0 to 1 */
  progress: z.number().min(0).max(1),
  /** pages that are read and all pages; null until they are known, and for kinds without pages */
  pages: pagesReadSchema.nullable(),
  /** when the job is done */
  document: documentSchema.nullable(),
  /** when it failed, or is locked */
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
const uploadAnswerSchema = z.object({ uploadId: idSchema, jobId: idSchema.nullable() });
export type UploadAnswer = z.infer<typeof uploadAnswerSchema>;

/** Bytes on disk. `unused`: those of them that no chat names, and that a sweep would remove. */
const amountSchema = z.object({ count: z.number().int(), bytes: z.number() });
const documentUsageSchema = amountSchema.extend({ unused: amountSchema });
export type DocumentUsage = z.infer<typeof documentUsageSchema>;

/** What the app knows of a document, and all of its text; one that is longer stays out. */
export const exportedDocumentSchema = z.object({
  document: documentSchema,
  sections: z.array(sectionSchema).max(limits.maxDocumentSections),
  text: textSchema,
  /** the file itself, of what has no text */
  file: z
    .base64()
    .max(limits.maxMediaBytes * 1.5)
    .optional(),
});
export type ExportedDocument = z.infer<typeof exportedDocumentSchema>;

const shareSchema = z.number().min(0).max(1);
const pagePictureSchema = z.object({
  /** PNG */
  png: z.base64(),
  /** pixels; fewer than asked for where a page is very large */
  width: z.number().int(),
  height: z.number().int(),
  /** in shares of the page from its upper left; none: nothing was asked for, or the words are not found on it */
  marks: z.array(z.object({ x: shareSchema, y: shareSchema, width: shareSchema, height: shareSchema })),
});
export type PagePicture = z.infer<typeof pagePictureSchema>;

/** The embedding model that ranks passages beside their words. */
export const searchModelSchema = z.object({
  /** null: none */
  modelId: z.string().nullable(),
  /** bytes that it takes while it is in use; null: not known yet */
  needs: z.number().nullable(),
  /** a process of its own has it, or begins to; it ends some minutes after the last search */
  running: z.boolean(),
  /** that process's own memory now, beside pages of the model's file; null: it does not run, or the system does not say */
  bytes: z.number().nullable(),
  /** why it cannot rank; null: nothing is wrong */
  problem: errorPayloadSchema.nullable(),
  /** the document whose passages it reads now, and how many of them it has read */
  reading: z.object({ documentId: z.string(), done: z.number().int(), all: z.number().int() }).nullable(),
});
export type SearchModel = z.infer<typeof searchModelSchema>;

export const documentOperations = {
  /** ids of jobs, which onDocumentJobs tells of; none: the person thought better of it. Refused in headless mode */
  'documents.attachFromDialog': operation(nothing, z.array(idSchema)),
  /** paths: of dropped files (put in by the preload bridge; the page itself is refused), or typed by a person in headless mode */
  'documents.addPaths': operation(
    z.object({ paths: z.array(pathSchema).min(1).max(limits.maxPathsPerCall) }),
    z.array(idSchema),
  ),
  /** pasted text; the ending of `name` tells what it is (.md, .csv, .py; none: plain text) */
  'documents.addText': operation(
    z.object({ name: z.string().trim().min(1).max(255), text: textSchema.min(1) }),
    idSchema,
  ),
  /** a file from a browser, in parts that follow each other */
  'documents.upload': operation(uploadPartSchema, uploadAnswerSchema),
  /** reads a locked document with a password, which is used once and kept nowhere; any other job stays as it is */
  'documents.unlock': operation(
    z.object({ jobId: idSchema, password: z.string().min(1).max(limits.maxPassword) }),
    nothing,
  ),
  /** the text of an image, by OCR, as a document of its own; the id of the job */
  'documents.readAsText': operation(z.object({ documentId: idSchema }), idSchema),
  /** the file of an image or sound, or one that is kept for the person; others are refused */
  'documents.file': operation(z.object({ documentId: idSchema }), z.object({ data: z.base64() })),
  /** ends a job that waits, reads or is locked; any other stays as it is */
  'documents.cancel': operation(z.object({ jobId: idSchema }), nothing),
  'documents.jobs': operation(nothing, z.array(documentJobSchema)),
  /** one document of a file of exported chats; what it is kept as has another id, unless it was here already */
  'documents.import': operation(exportedDocumentSchema, documentSchema),
  'documents.get': operation(z.object({ documentId: idSchema }), documentSchema),
  'documents.sections': operation(z.object({ documentId: idSchema }), z.array(sectionSchema)),
  /** characters `start` to `end` of the text, as `String.slice` gives them, at most `limits.maxDocumentSlice` */
  'documents.text': operation(
    z.object({ documentId: idSchema, start: z.number().int().min(0), end: z.number().int().min(0) }),
    z.object({ text: z.string() }),
  ),
  /** one page of a document with its `original`, drawn */
  'documents.page': operation(
    z.object({
      documentId: idSchema,
      /** of the file, counted from 1 */
      sheet: z.number().int().min(1).max(limits.maxDocumentPages),
      /** wanted, in pixels */
      width: z.number().int().min(1).max(limits.maxPageWidth),
      /** characters of the text that are marked where they stand on this page; without `end` those up to the end of the line */
      place: z.object({ offset: z.number().int().min(0), end: z.number().int().min(0).optional() }).nullable(),
      /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
      asker: idSchema.optional(),
    }),
    pagePictureSchema,
  ),
  /** of the block that the prompt would hold; `sections`: of each one alone, when the part is the whole document */
  'documents.countTokens': operation(
    z.object({ documentId: idSchema, part: attachmentPartSchema.optional() }),
    z.object({ tokens: z.number().int(), sections: z.array(z.number().int()).nullable() }),
  ),
  /** passages of about 1,000 characters with words of the query, or near to it in meaning, the best first; `all`: those beyond the limit among them */
  'documents.search': operation(
    z.object({
      documentId: idSchema,
      query: z.string().max(1000),
      limit: z.number().int().min(1).max(64),
      /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
      asker: idSchema.optional(),
    }),
    z.object({
      passages: z.array(scoredPassageSchema),
      all: z.number().int(),
      wordsAlone: wordsAloneSchema.optional(),
    }),
  ),
  /** ends the search of this view, which nobody waits for */
  'documents.cancelSearch': operation(z.object({ asker: idSchema }), nothing),
  'documents.searchModel': operation(nothing, searchModelSchema),
  /** ends the reading of a document by the search model; words alone rank its passages then */
  'documents.cancelReading': operation(z.object({ documentId: idSchema }), nothing),
  /** the search model reads a document whose reading was canceled after all */
  'documents.readForSearch': operation(z.object({ documentId: idSchema }), nothing),
  /** what the stored texts take on disk */
  'documents.usage': operation(nothing, documentUsageSchema),
  /** removes those that no chat and no comparison names, and that are not on the shelf; what was attached within a day may be in a draft, and stays */
  'documents.sweep': operation(nothing, documentUsageSchema),
} as const satisfies OperationMap;

export const documentEvents = {
  /** every job of this run, in the order of their beginning: at each change of state, and while one reads */
  onDocumentJobs: z.array(documentJobSchema),
  /** at each change, and a few times a second while it reads */
  onSearchModel: searchModelSchema,
} as const satisfies EventMap;
