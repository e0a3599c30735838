/**
 * The contract between a window and the services behind it: each operation and event is declared here once.
 * The preload bridge, the gate in main, the WebSocket server and its client all derive from these two maps.
 */
import { z } from 'zod';
import { exportedChatSchema, exportedDocumentSchema, exportOptionsSchema } from './chatFile';
import {
  attachmentPartSchema,
  attachmentSchema,
  budgetSchema,
  chatSchema,
  chatSummarySchema,
  folderNameSchema,
  messageSchema,
  scoredPassageSchema,
  summaryKindSchema,
  trashedChatSchema,
} from './chats';
import { compareEvents, compareOperations } from './compare';
import {
  documentJobSchema,
  documentSchema,
  documentUsageSchema,
  sectionSchema,
  uploadAnswerSchema,
  uploadPartSchema,
} from './documents';
import { engineStatusSchema, savedSessionSchema, streamFrameSchema } from './engine';
import { errorPayloadSchema } from './errors';
import { contextFitSchema } from './fit';
import {
  catalogueEntrySchema,
  downloadRequestSchema,
  downloadSchema,
  hubAccountSchema,
  hubFitQuestionSchema,
  hubFitSchema,
  hubModelPageSchema,
  hubPageSchema,
  hubQuestionSchema,
  repoSchema,
  revisionSchema,
} from './hub';
import { idSchema, limits } from './limits';
import { machineProfileSchema, machineProgressSchema, powerSchema } from './machine';
import { addProgressSchema, modelDetailsSchema, modelEntrySchema, modelPlacesSchema } from './models';
import {
  type ClientOf,
  type Envelope,
  type HandlersOf,
  type InputOf,
  type OperationMap,
  type OutputOf,
  operation,
} from './rpc';
import {
  applySchema,
  contextSettingsSchema,
  modelDefaultsSchema,
  presetContentSchema,
  presetsSchema,
  settingsSchema,
  settingsUpdateSchema,
} from './settings';
import { chatSearchAnswerSchema, chatSearchSchema } from './textSearch';

const nothing = z.void();
const text = z.string().max(limits.maxMessage);
const title = z.string().trim().min(1).max(limits.maxTitle);
const attachments = z.array(attachmentSchema).max(limits.maxAttachments);
const path = z.string().min(1).max(limits.maxPathLength);

export const appInfoSchema = z.object({
  version: z.string(),
  platform: z.string(),
  /** true: served to a browser; no native dialogs */
  headless: z.boolean(),
  runtime: z.string(),
  /** things that a person should know about this start (test runtime in use, settings file set aside, ...) */
  notices: z.array(z.string()),
});
export type AppInfo = z.infer<typeof appInfoSchema>;

/** Answer of an operation that starts an answer: the ids of what was appended to the chat. */
const turnSchema = z.object({
  requestId: idSchema,
  /** null when the question was there already (regenerate, continue) */
  userMessage: messageSchema.nullable(),
  assistantMessage: messageSchema,
});
export type Turn = z.infer<typeof turnSchema>;

const addModelsResultSchema = z.object({
  added: z.array(modelEntrySchema),
  refused: z.array(z.object({ name: z.string(), error: errorPayloadSchema })),
});
export type AddModelsResult = z.infer<typeof addModelsResultSchema>;

export const operations = {
  'app.info': operation(nothing, appInfoSchema),
  'app.power': operation(nothing, powerSchema),
  /** everything for a bug report, without private text */
  'app.diagnostics': operation(nothing, z.object({ text: z.string() })),
  /** whose work is in the app, with the license texts: a few hundred kilobytes */
  'app.thirdPartyNotices': operation(nothing, z.object({ text: z.string() })),
  'app.openExternal': operation(z.object({ url: z.url({ protocol: /^https$/ }) }), nothing),

  /** as they count for the model in use; `all`: what is set for all models */
  'settings.get': operation(z.object({ scope: z.literal('all') }).optional(), settingsSchema),
  'settings.update': operation(settingsUpdateSchema, settingsSchema),

  'chats.list': operation(nothing, z.array(chatSummarySchema)),
  'chats.create': operation(z.object({ title: title.optional() }), chatSummarySchema),
  'chats.open': operation(z.object({ chatId: idSchema }), chatSchema),
  'chats.rename': operation(z.object({ chatId: idSchema, title }), chatSummarySchema),
  /** into the trash: `chats.restore` brings it back */
  'chats.remove': operation(z.object({ chatId: idSchema }), nothing),
  'chats.restore': operation(z.object({ chatId: idSchema }), chatSummarySchema),
  /** choose the branch that is shown: the path from the root to this message */
  'chats.selectBranch': operation(z.object({ chatId: idSchema, leafId: idSchema }), chatSchema),
  'chats.setPinned': operation(z.object({ chatId: idSchema, pinned: z.boolean() }), chatSummarySchema),
  /** moves chats into a folder, which is there from then on; null: out of theirs */
  'chats.setFolder': operation(z.object({ chatIds: z.array(idSchema), folder: folderNameSchema.nullable() }), nothing),
  /** titles and texts of all chats but those in the trash */
  'chats.search': operation(chatSearchSchema, chatSearchAnswerSchema),
  /** ends the search of this view, which nobody waits for */
  'chats.cancelSearch': operation(z.object({ asker: idSchema }), nothing),
  /** of this chat alone; it is read again from its start with the next question */
  'chats.setSystemPrompt': operation(
    z.object({ chatId: idSchema, systemPrompt: z.string().max(limits.maxSystemPrompt) }),
    nothing,
  ),
  /** one chat as Markdown, or as the JSON object that `chats.import` takes */
  'chats.exportText': operation(exportOptionsSchema.extend({ chatId: idSchema }), z.object({ text: z.string() })),
  /** one chat of an exported file; it keeps its id unless that is taken. `documents`: ids that became others, by the old ones */
  'chats.import': operation(
    z.object({ chat: exportedChatSchema, documents: z.record(idSchema, idSchema).optional() }),
    chatSummarySchema,
  ),
  'chats.trash': operation(nothing, z.array(trashedChatSchema)),
  /** for good: chats of the trash, with their saved sessions */
  'chats.destroy': operation(z.object({ chatIds: z.array(idSchema) }), nothing),

  /** a document that is not stored any more is refused before anything is written */
  'presets.list': operation(nothing, presetsSchema),
  /** `presetId`: the one that is replaced; null: a new one */
  'presets.save': operation(z.object({ presetId: idSchema.nullable(), preset: presetContentSchema }), presetsSchema),
  'presets.remove': operation(z.object({ presetId: idSchema }), presetsSchema),
  /** the one that new chats begin with; null: none */
  'presets.setDefault': operation(z.object({ presetId: idSchema.nullable() }), presetsSchema),

  'turns.send': operation(
    z.object({
      chatId: idSchema,
      parentId: idSchema.nullable(),
      text: text.min(1),
      attachments: attachments.optional(),
    }),
    turnSchema,
  ),
  /** documents of any length, read part by part; chosen pages or headings are, passages are not looked up */
  'turns.summarise': operation(
    z.object({
      chatId: idSchema,
      parentId: idSchema.nullable(),
      attachments: attachments.min(1),
      kind: summaryKindSchema,
    }),
    turnSchema,
  ),
  /** a second answer to the same question: a new branch beside the old one */
  'turns.regenerate': operation(z.object({ chatId: idSchema, messageId: idSchema }), turnSchema),
  /** the question in other words: a new branch beside the old one, and its answer. `attachments` left out: those it had */
  'turns.edit': operation(
    z.object({ chatId: idSchema, messageId: idSchema, text: text.min(1), attachments: attachments.optional() }),
    turnSchema,
  ),
  /** an answer that was stopped goes on in the same message; refused where other messages build on it */
  'turns.continue': operation(z.object({ chatId: idSchema, messageId: idSchema }), turnSchema),
  'turns.stop': operation(z.object({ requestId: idSchema }), nothing),
  /** what would be sent, to the token; the model must be loaded, a running answer is not held up */
  'turns.budget': operation(
    z.object({ chatId: idSchema.nullable(), leafId: idSchema.nullable(), draft: text, attachments }),
    budgetSchema,
  ),

  'models.list': operation(nothing, z.array(modelEntrySchema)),
  /** a native file dialog; refused in headless mode */
  'models.addFromDialog': operation(z.object({ kind: z.enum(['files', 'folder']) }), addModelsResultSchema),
  /** paths: of dropped files (put in by the preload bridge), or typed by a person in headless mode */
  'models.addPaths': operation(
    z.object({ paths: z.array(path).min(1).max(limits.maxPathsPerCall) }),
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
  /** its files go to the trash of the system, and it leaves the list; refused in headless mode, and while it is in use */
  'models.trash': operation(z.object({ modelId: idSchema }), nothing),
  /** reads the header of its file */
  'models.details': operation(z.object({ modelId: idSchema }), modelDetailsSchema),
  /** what is set for this model alone; null: nothing any more. If it is in use, it is loaded again where that is needed */
  'models.setDefaults': operation(
    z.object({ modelId: idSchema, defaults: modelDefaultsSchema.nullable(), apply: applySchema.optional() }),
    nothing,
  ),
  /** loads the model and remembers it; `force`: even when it does not fit into the memory */
  'models.select': operation(z.object({ modelId: idSchema, force: z.boolean().optional() }), engineStatusSchema),

  /** GGUF models of the hub, thirty at a time */
  'hub.search': operation(hubQuestionSchema, hubPageSchema),
  /** ends the search of this view; nobody waits for its answer */
  'hub.cancelSearch': operation(z.object({ asker: idSchema }), nothing),
  'hub.model': operation(z.object({ repo: repoSchema, revision: revisionSchema.default('main') }), hubModelPageSchema),
  /** what a file would take of this machine, before it is downloaded: its header is read, some megabytes at most */
  'hub.fit': operation(hubFitQuestionSchema, hubFitSchema),
  /** suggestions that need no network */
  'hub.catalogue': operation(nothing, z.array(catalogueEntrySchema)),
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

  /** ids of jobs, which onDocumentJobs tells of; none: the person thought better of it. Refused in headless mode */
  'documents.attachFromDialog': operation(nothing, z.array(idSchema)),
  /** paths: of dropped files (put in by the preload bridge; the page itself is refused), or typed by a person in headless mode */
  'documents.addPaths': operation(
    z.object({ paths: z.array(path).min(1).max(limits.maxPathsPerCall) }),
    z.array(idSchema),
  ),
  /** pasted text; the ending of `name` tells what it is (.md, .csv, .py; none: plain text) */
  'documents.addText': operation(z.object({ name: z.string().trim().min(1).max(255), text: text.min(1) }), idSchema),
  /** a file from a browser, in parts that follow each other */
  'documents.upload': operation(uploadPartSchema, uploadAnswerSchema),
  /** ends a job that waits or reads; any other stays as it is */
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
  /** of the block that the prompt would hold; `sections`: of each one alone, when the part is the whole document */
  'documents.countTokens': operation(
    z.object({ documentId: idSchema, part: attachmentPartSchema.optional() }),
    z.object({ tokens: z.number().int(), sections: z.array(z.number().int()).nullable() }),
  ),
  /** passages of about 1,000 characters with words of the query, the best first; `all`: those beyond the limit among them */
  'documents.search': operation(
    z.object({
      documentId: idSchema,
      query: z.string().max(1000),
      limit: z.number().int().min(1).max(64),
      /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
      asker: idSchema.optional(),
    }),
    z.object({ passages: z.array(scoredPassageSchema), all: z.number().int() }),
  ),
  /** ends the search of this view, which nobody waits for */
  'documents.cancelSearch': operation(z.object({ asker: idSchema }), nothing),

  /** what the stored texts take on disk */
  'documents.usage': operation(nothing, documentUsageSchema),
  /** removes those that no chat and no comparison names; what was attached within a day may be in a draft, and stays */
  'documents.sweep': operation(nothing, documentUsageSchema),

  ...compareOperations,

  /** saved caches of chats; the engine must be running */
  'sessions.list': operation(nothing, z.array(savedSessionSchema)),
  'sessions.remove': operation(z.object({ sessionId: idSchema }), nothing),
  'sessions.clear': operation(nothing, nothing),

  /** what was measured last, and what follows from it for the model that is in use; null: never measured */
  'machine.profile': operation(nothing, machineProfileSchema.nullable()),
  /** measures again, in under five seconds; refused while an answer is written, and ended by one */
  'machine.probe': operation(nothing, machineProfileSchema),
  'machine.cancelProbe': operation(nothing, nothing),

  'engine.status': operation(nothing, engineStatusSchema),
  /**
   * what the loaded (or named) model would take of the memory with these settings, whether that fits into this machine now, and
   * the longest context that does, by cache type; all from dry runs
   */
  'engine.plan': operation(
    z.object({
      modelId: idSchema.optional(),
      /** left out: those that the model would be loaded with */
      context: contextSettingsSchema.optional(),
      /** what each cache type would take on each side too */
      sides: z.boolean().optional(),
      /** tokens; the marks go no further; when it is left out, as many as the model was trained for */
      longest: z.number().int().min(limits.minContext).max(limits.maxContext).optional(),
      /** any id of the asking view: its newer question ends the older one with the code `cancelled` */
      asker: idSchema.optional(),
    }),
    contextFitSchema,
  ),
  /** tries again: loads the model with the settings as they are now, whether they have changed or not; `force` as above */
  'engine.reload': operation(z.object({ force: z.boolean() }).optional(), engineStatusSchema),
  'engine.cancelLoad': operation(nothing, nothing),
  /** ends a process that does not answer and starts another; what it was doing ends as at a crash */
  'engine.restart': operation(nothing, nothing),
} as const satisfies OperationMap;

export const events = {
  onSettings: settingsSchema,
  onChats: z.array(chatSummarySchema),
  onPresets: presetsSchema,
  onModels: z.array(modelEntrySchema),
  /** while a folder is searched that is to be added */
  onAddProgress: addProgressSchema,
  onEngine: engineStatusSchema,
  /** every job of this run, in the order of their beginning: at each change of state, and while one reads */
  onDocumentJobs: z.array(documentJobSchema),
  /** how much a search of chats or of a document has read, 0 to 1, when it takes longer */
  onSearch: z.object({ asker: idSchema, fraction: z.number() }),
  /** every download: at each change of state, and four times a second while one runs */
  onDownloads: z.array(downloadSchema),
  ...compareEvents,
  /** while the machine is measured, and once when that has ended */
  onMachine: machineProgressSchema,
  /** heat and power of the machine, where the platform tells */
  onPower: powerSchema,
  /**
   * A question that was asked, an answer that is written from now on (`stopReason` null; one that goes on too), and the
   * final state of an answer: it ended, was stopped, failed or was interrupted.
   * Without a stop reason also when passages of earlier questions left the prompt for it, before its first word; and of a summary
   * each time a part begins: frames of part `i` have `partMessageId(message.id, i)`.
   */
  onMessage: z.object({ chatId: idSchema, message: messageSchema }),
  /** straight from the engine process, at most 60 a second */
  onStream: streamFrameSchema,
  /** a window-level menu or key command from the main process */
  onCommand: z.object({
    command: z.enum(['new-chat', 'settings', 'search', 'focus-input', 'stop', 'diagnostics', 'third-party-notices']),
  }),
} as const satisfies Record<string, z.ZodType>;

export type Operations = typeof operations;
export type OperationName = keyof Operations;
export type OperationInput<N extends OperationName> = InputOf<Operations[N]>;
export type OperationOutput<N extends OperationName> = OutputOf<Operations[N]>;

export type Events = typeof events;
export type EventName = keyof Events;
export type EventPayload<N extends EventName> = z.output<Events[N]>;

export type Handlers = HandlersOf<Operations>;
export type Client = ClientOf<Operations, Events>;

/** The window API that the preload script puts on `window.concertina` in Electron. */
export interface WindowApi {
  /** the raw call: answers with an envelope, never throws (errors do not survive contextBridge as classes) */
  call(name: OperationName, input: unknown): Promise<Envelope>;
  on(name: EventName, listener: (payload: unknown) => void): () => void;
  /** adds dropped files by their real paths, which the page itself never sees */
  addDroppedFiles(files: File[]): Promise<Envelope>;
  /** `documents.addPaths` for dropped files, in the same way */
  attachDroppedFiles(files: File[]): Promise<Envelope>;
}

export const operationNames = Object.keys(operations) as OperationName[];
export const eventNames = Object.keys(events) as EventName[];
