/**
 * Models on a hub (Hugging Face, or a mirror that answers as it does): search results, the page of one model with its files, and
 * what a file would take of this machine before any of it is downloaded.
 */

import { z } from 'zod';
import { errorPayloadSchema } from './errors';
import { contextFitSchema } from './fit';
import { countSchema, idSchema, isDeviceName, limits, momentSchema, nothing, operation } from './limits';
import { modelInfoSchema } from './models';
import type { EventMap, OperationMap } from './rpc';
import { contextSettingsSchema } from './settings';

/** `owner/name` */
export const repoSchema = z
  .string()
  .max(200)
  .regex(/^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/, 'A model of the hub is named owner/name.')
  // folders of this disk are named after it
  .refine(
    everyPart((part) => !isDeviceName(part) && !part.endsWith('.')),
    'Windows can keep no folder of this name.',
  );

/**
 * Path of a file inside a repository. It becomes a path on this disk, hence the rules. Signs that turn the direction of what
 * follows would show another ending than the file has; halves of a letter are no text.
 */
export const repoPathSchema = z
  .string()
  .max(500)
  .regex(/^[^/\\:*?"<>|\p{Cc}]+(\/[^/\\:*?"<>|\p{Cc}]+)*$/u, 'This is no path of a file in a repository.')
  .refine(
    everyPart((part) => !/^\.+$|[. ]$/.test(part)),
    'This path leads out of the repository.',
  )
  .refine((path) => !/[\p{Bidi_Control}\p{Cs}]/u.test(path), 'This path has signs that hide what it is.')
  .refine(
    everyPart((part) => !isDeviceName(part)),
    'Windows can keep no file of this name.',
  );

function everyPart(test: (part: string) => boolean): (path: string) => boolean {
  return (path) => path.split('/').every(test);
}

/** A branch, tag or commit. */
export const revisionSchema = z
  .string()
  .max(200)
  .regex(/^[\w][\w./-]*$/);

export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

export const hubSortSchema = z.enum(['trending', 'downloads', 'likes', 'updated']);
export type HubSort = z.infer<typeof hubSortSchema>;

/** `auto`: granted as soon as a person agrees on the page of the model; `manual`: its authors decide. */
const gatingSchema = z.enum(['open', 'auto', 'manual']);

export const hubModelSchema = z.object({
  repo: repoSchema,
  author: z.string(),
  name: z.string(),
  /** of the last month */
  downloads: countSchema,
  likes: countSchema,
  /** ISO 8601; null: the hub does not say */
  updatedAt: z.string().nullable(),
  /** identifier as the hub has it: 'apache-2.0', 'llama3.1', 'other' */
  license: z.string().nullable(),
  gated: gatingSchema,
  private: z.boolean(),
});
export type HubModel = z.infer<typeof hubModelSchema>;

export const hubQuestionSchema = z.object({
  /** words of the name or the author; empty: the best known */
  query: z.string().max(200).default(''),
  sort: hubSortSchema.default('trending'),
  /** `next` of the page before */
  cursor: z.string().max(2000).nullable().default(null),
  /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
  asker: idSchema.optional(),
});
export const hubPageSchema = z.object({
  models: z.array(hubModelSchema),
  /** null: this is the last page */
  next: z.string().nullable(),
});
export type HubPage = z.infer<typeof hubPageSchema>;

export const hubPartSchema = z.object({
  path: repoPathSchema,
  bytes: countSchema,
  /** null: the hub does not say; then size and header are all that can be checked */
  sha256: sha256Schema.nullable(),
});
export type HubPart = z.infer<typeof hubPartSchema>;

/** One model file as a person sees it; a split file is one. */
const hubFileSchema = z.object({
  /** path of the first part: the name of the file for `hub.fit` and `downloads.start` */
  file: repoPathSchema,
  /** name without folders, number of the part and ending */
  title: z.string(),
  /** 'Q4_K_M', 'BF16', 'IQ3_XXS'; null: its name does not say */
  quant: z.string().nullable(),
  /** all parts together */
  bytes: countSchema,
  parts: z.array(hubPartSchema).min(1),
  /** parts that the names promise and the repository lacks: such a file cannot be downloaded */
  missingParts: z.number().int(),
  /** `projector`: for pictures, no model by itself; `other`: an importance matrix, an adapter */
  kind: z.enum(['model', 'projector', 'other']),
  /** of a model: what reads images and sound for it, from the same folder; it is downloaded with it. null: there is none */
  projector: hubPartSchema.nullable().default(null),
  /** of the model list, when it is on this disk already */
  modelId: idSchema.nullable(),
});
export type HubFile = z.infer<typeof hubFileSchema>;

export const hubModelPageSchema = hubModelSchema.extend({
  /** commit that the answer describes: hand it on, so that nothing changes between looking and downloading */
  revision: revisionSchema,
  /** page for people; gated models are agreed to there */
  url: z.string(),
  /** markdown: what the README begins with, without its header and pictures; empty where there is none */
  summary: z.string(),
  /** what the hub read of the GGUF headers; null: not reported */
  architecture: z.string().nullable(),
  trained: countSchema.nullable(),
  parameters: countSchema.nullable(),
  /** by quant, the smallest first; files of one quant follow each other */
  quants: z.array(z.object({ quant: z.string().nullable(), files: z.array(hubFileSchema).min(1) })),
  /** model files that are left out, because what the hub says of them cannot be; `why` is a sentence */
  refused: z.array(z.object({ file: repoPathSchema, why: z.string() })),
});
export type HubModelPage = z.infer<typeof hubModelPageSchema>;

/**
 * How a model fits with the asked context and cache types.
 * `full`: all of it, on the GPU where the machine has one. `partial`: it fits, a part of it or all of it beside the GPU, and
 * is slower for that. `reduced`: not as asked, but with a shorter context or smaller cache types (the marks tell which).
 * `none`: not at all.
 */
const fitGradeSchema = z.enum(['full', 'partial', 'reduced', 'none']);
export type FitGrade = z.infer<typeof fitGradeSchema>;

export const hubFitQuestionSchema = z.object({
  repo: repoSchema,
  revision: revisionSchema.default('main'),
  file: repoPathSchema,
  context: contextSettingsSchema,
  /** tokens; the marks go no further; when it is left out, as many as the model was trained for */
  longest: z.number().int().min(limits.minContext).max(limits.maxContext).optional(),
  /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
  asker: idSchema.optional(),
});
export const hubFitSchema = z.object({
  grade: fitGradeSchema,
  /** layers on the GPU in the grade: -1 all, 0 none */
  gpuLayers: z.number().int(),
  /** exact: the engine's own dry run over the header of the file */
  fit: contextFitSchema,
  info: modelInfoSchema,
  /** of its weights, which are read for one token of the answer (contract/lib/forecast.ts); null: its header does not tell */
  bytesPerToken: countSchema.nullable(),
  /** bytes that were read of the hub for this; 0: the header was kept from an earlier question */
  fetched: countSchema,
});
export type HubFit = z.infer<typeof hubFitSchema>;

/** Who asks the hub. The token itself never leaves the main process. */
const hubAccountSchema = z.object({
  /** address that is asked, without path and credentials */
  endpoint: z.string(),
  /** address that questions to it go through, without credentials; null: none */
  proxy: z.string().nullable(),
  token: z.enum(['none', 'saved', 'environment']),
  /** false: headless, or no keyring on this system; then only the environment variable HF_TOKEN */
  canSave: z.boolean(),
});
export type HubAccount = z.infer<typeof hubAccountSchema>;

/** Models that are known to work well, for a first start without a network. */
export const catalogEntrySchema = z.object({
  repo: repoSchema,
  title: z.string(),
  /** one sentence for people */
  about: z.string(),
  /** quant to begin with */
  quant: z.string(),
  /** in thousand millions, as the authors give it */
  billions: z.number(),
  /** of a mixture: in thousand millions, what works on a token; null: all of it */
  active: z.number().nullable(),
  /** tokens, as the authors give it */
  trained: z.number().int(),
  license: z.string(),
  /** null: not known for sure; the hub tells */
  file: repoPathSchema.nullable(),
  bytes: countSchema.nullable(),
  sha256: sha256Schema.nullable(),
  /** true: this project has run this file */
  verifiedHere: z.boolean(),
  /** one of those that the first screen chooses from */
  first: z.boolean(),
});
export type CatalogEntry = z.infer<typeof catalogEntrySchema>;

// Downloads of models, as a window sees them. A split file is one.

/**
 * `queued`: others go first. `active`: bytes arrive. `waiting`: the connection failed, it is tried again at `retryAt`.
 * `checking`: all is here and is compared with what the hub promised. `paused`: by a person, or because the disk is full
 * (`error` says so). `failed`: it was tried often enough, or cannot go on; `error` says why; resuming tries again.
 * `done`: in the model list.
 */
export const downloadStateSchema = z.enum(['queued', 'active', 'waiting', 'checking', 'paused', 'failed', 'done']);
export type DownloadState = z.infer<typeof downloadStateSchema>;

const downloadSchema = z.object({
  id: idSchema,
  repo: repoSchema,
  revision: revisionSchema,
  /** path of the first part, as in `hubFileSchema` */
  file: repoPathSchema,
  title: z.string(),
  quant: z.string().nullable(),
  parts: z.number().int(),
  bytes: countSchema,
  /** of `bytes`, on the disk; while it is checked they count again from zero */
  done: countSchema,
  state: downloadStateSchema,
  /** bytes a second over the last seconds; 0 while nothing arrives */
  speed: z.number(),
  /** null: not known */
  secondsLeft: z.number().nullable(),
  /** why it waits, is paused or failed; null: nothing is wrong */
  error: errorPayloadSchema.nullable(),
  /** ms since 1970; null: it does not wait */
  retryAt: momentSchema.nullable(),
  /** ms since 1970 */
  addedAt: momentSchema,
  /** of the model list, once it is done */
  modelId: idSchema.nullable(),
});
export type Download = z.infer<typeof downloadSchema>;

export const downloadRequestSchema = z.object({
  repo: repoSchema,
  /** commit of the page that the person looked at; `main`: as it is now */
  revision: revisionSchema.default('main'),
  file: repoPathSchema,
});
export type DownloadRequest = z.input<typeof downloadRequestSchema>;

export const hubOperations = {
  /** GGUF models of the hub, thirty at a time */
  'hub.search': operation(hubQuestionSchema, hubPageSchema),
  /** ends the search of this view; nobody waits for its answer */
  'hub.cancelSearch': operation(z.object({ asker: idSchema }), nothing),
  'hub.model': operation(z.object({ repo: repoSchema, revision: revisionSchema.default('main') }), hubModelPageSchema),
  /** what a file would take of this machine, before it is downloaded: its header is read, some megabytes at most */
  'hub.fit': operation(hubFitQuestionSchema, hubFitSchema),
  /** suggestions that need no network */
  'hub.catalog': operation(nothing, z.array(catalogEntrySchema)),
  'hub.account': operation(nothing, hubAccountSchema),
  /** kept in the keyring of the system, and never told again; null: forgotten. Refused where `canSave` is false */
  'hub.setToken': operation(z.object({ token: z.string().min(1).max(1000).nullable() }), hubAccountSchema),

  'downloads.list': operation(nothing, z.array(downloadSchema)),
  /** a file that is on the list already is resumed */
  'downloads.start': operation(downloadRequestSchema, downloadSchema),
  'downloads.pause': operation(z.object({ id: idSchema }), downloadSchema),
  /** goes on after a pause or a failure; ends the wait for the next attempt */
  'downloads.resume': operation(z.object({ id: idSchema }), downloadSchema),
  /** off the list, and what is half there off the disk; a model that is done stays */
  'downloads.cancel': operation(z.object({ id: idSchema }), nothing),
  /** takes those that are done off the list */
  'downloads.clear': operation(nothing, nothing),
} as const satisfies OperationMap;

export const hubEvents = {
  /** every download: at each change of state, and four times a second while one runs */
  onDownloads: z.array(downloadSchema),
} as const satisfies EventMap;
