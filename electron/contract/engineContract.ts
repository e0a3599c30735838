/**
 * The contract between the main process (or the headless server) and the engine process.
 * Same rules as `contract.ts`: each operation and event is declared here once, both ends derive from it.
 */

import { z } from 'zod';
import { roleSchema } from './chats';
import {
  compareColumnSchema,
  compareConfigurationSchema,
  compareFrameSchema,
  compareOptionsSchema,
  comparePlanSchema,
} from './compare/compare';
import { comparedModelSchema } from './compare/models';
import {
  capabilitiesSchema,
  generationResultSchema,
  loadedContextSchema,
  loadStepSchema,
  memoryEstimateSchema,
  memorySchema,
  savedSessionSchema,
  streamFrameSchema,
} from './engine';
import { contextFitSchema, machineMemorySchema } from './fit';
import { workersField } from './lib/domains/workers';
import { idSchema, limits, nothing, operation } from './limits';
import { memoryProbeSchema } from './machine';
import { modelInfoSchema } from './models';
import type { ClientOf, HandlersOf, OperationMap } from './rpc';
import type { TemplateSettings } from './settings';
import { contextSettingsSchema, ownSamplingSchema, sessionSettingsSchema } from './settings';
import { promptCallSchema, promptToolSchema } from './tools/tools';

/** A document of which the same text stands at the beginning of every chat that begins with it; `end`: in UTF-16 units. */
const leadingDocumentSchema = z.object({ id: z.string(), name: z.string(), end: z.number().int().min(0) });

/** One message as the chat template sees it. */
const promptMessageSchema = z.object({
  role: z.enum(['system', ...roleSchema.options, 'tool']),
  content: z.string(),
  /** of an answer that goes on behind the results of its calls: what it thought before them */
  thinking: z.string().optional(),
  /** of an answer; their results follow as messages of the role `tool`, with the id of the call */
  toolCalls: z.array(promptCallSchema).optional(),
  toolCallId: z.string().optional(),
  /** of the first question: what its content begins with, one behind the other; no template sees it */
  documents: z.array(leadingDocumentSchema).optional(),
  /** files of images and sound; `at`: where in the content each stands, in UTF-16 units, ascending */
  media: z.array(z.object({ path: z.string(), at: z.number().int().min(0) })).optional(),
});
export type PromptMessage = z.infer<typeof promptMessageSchema>;

const loadResultSchema = z.object({
  model: modelInfoSchema,
  context: loadedContextSchema,
  memory: memorySchema,
  /** tokens of the former context that the new one holds; 0: none, a chat is read again */
  carriedTokens: z.number().int(),
});
export type LoadResult = z.infer<typeof loadResultSchema>;

/** Where the measurements of models are kept, and the text that models are measured with. */
const calibrationPlacesSchema = z.object({ folder: z.string(), textFile: z.string() });
export type CalibrationPlaces = z.infer<typeof calibrationPlacesSchema>;

const apiSettingsSchema = z.object({
  /** answers that are written at the same time */
  slots: z.number().int().min(1),
  /** options of llama-server for its core: `--context-shift` */
  options: z.array(z.string()),
});
export type ApiSettings = z.infer<typeof apiSettingsSchema>;

/** What the handlers of llama-server are to have; null: they are not wanted, and the context has one slot. */
const apiField = { api: apiSettingsSchema.nullish() };

const loadRequestSchema = z.object({
  path: z.string(),
  context: contextSettingsSchema,
  calibration: calibrationPlacesSchema,
  /** a folder of its own, for taking a cache over into the next context; without it that is not done */
  scratch: z.string().optional(),
  /** leaves the load check out */
  force: z.boolean().optional(),
  /** with the length Auto: tokens that the context has to hold, where the memory does */
  atLeast: z.number().int().optional(),
  /** bytes of RAM that the app's other processes will take for a model of theirs, and have not taken yet */
  beside: z.number().optional(),
  ...apiField,
  ...workersField,
});
export type LoadRequest = z.infer<typeof loadRequestSchema>;

const sessionOptionsSchema = sessionSettingsSchema.extend({ folder: z.string() });
export type SessionOptions = z.infer<typeof sessionOptionsSchema>;

/** An answer that was stopped, as it was shown. */
const answerSoFarSchema = z.object({ text: z.string(), thinking: z.string() });

const chatIds = z.object({ chatIds: z.array(idSchema) });

/** What a chat template is told; left out: what it does by itself. */
const templateOptions = {
  /** false: the model shall answer without thinking */
  thinking: z.boolean().optional(),
  /** a JSON object: what else the template is told, by name */
  templateVariables: z.string().optional(),
};
export type TemplateOptions = Pick<GenerateRequest, keyof typeof templateOptions>;

export function templateOptionsOf({ thinking, effort, variables }: TemplateSettings): TemplateOptions {
  const all = { ...(effort && { reasoning_effort: effort }), ...variables };
  return {
    ...(thinking ? {} : { thinking }),
    ...(Object.keys(all).length > 0 ? { templateVariables: JSON.stringify(all) } : {}),
  };
}

/** What decides a prompt beside its messages. */
const promptOptions = {
  /** milliseconds since 1970 that a template tells the model as the time: the same for all turns of a chat */
  now: z.number(),
  ...templateOptions,
  /** text that the answer has already: it goes on behind it, and only what is new comes back */
  continueFrom: answerSoFarSchema.optional(),
  /** what the model may call, and whether it has to */
  tools: z.array(promptToolSchema).optional(),
  mustCall: z.boolean().optional(),
};

const generateRequestSchema = z.object({
  requestId: idSchema,
  chatId: idSchema,
  messageId: idSchema,
  messages: z.array(promptMessageSchema).min(1),
  ...promptOptions,
  /** the rest is as the model recommends, or the default */
  sampling: ownSamplingSchema,
  /** tokens of thinking at the most; left out: no limit */
  thinkingBudget: z.number().int().min(0).optional(),
  /** constrains the answer; null: free text */
  jsonSchema: z.record(z.string(), z.unknown()).nullable().default(null),
  /** no later prompt begins like this one: its cache is not worth keeping */
  passing: z.boolean().optional(),
});
/** A question of the app's own to a chat that the context holds: see `aside`. */
const asideRequestSchema = z.object({
  /** ends in that question, the messages before it in those of the chat */
  messages: z.array(promptMessageSchema).min(3),
  ...promptOptions,
  maxTokens: z.number().int().positive(),
});
export type AsideRequest = z.infer<typeof asideRequestSchema>;

export type PromptOptions = Pick<GenerateRequest, keyof typeof promptOptions>;
export type GenerateRequest = z.infer<typeof generateRequestSchema>;

/** Of a request: what its prompt hangs on beside its messages. */
export function promptOptionsIn({ now, continueFrom, tools, mustCall, ...asked }: PromptOptions): PromptOptions {
  const called = tools && tools.length > 0 ? { tools, ...(mustCall && { mustCall }) } : {};
  return { now, ...templateOptionsIn(asked), ...(continueFrom && { continueFrom }), ...called };
}

export function templateOptionsIn({ thinking, templateVariables }: TemplateOptions): TemplateOptions {
  return { thinking, templateVariables };
}

/** A request of the API as a handler of llama-server takes it (`server_http_req`). */
export const apiRequestSchema = z.object({
  /** member of `server_routes`: `post_chat_completions` */
  handler: z.string(),
  path: z.string(),
  /** without the question mark */
  query: z.string(),
  /** of the path (`id_slot`) and of the query (`action`) */
  params: z.record(z.string(), z.string()),
  body: z.string(),
});
export type ApiRequest = z.infer<typeof apiRequestSchema>;

/** A piece of a response, in order. */
const apiPartSchema = z.object({
  /** of HTTP, on the first part; null on the others */
  status: z.number().int().nullable(),
  /** '' after the first part */
  contentType: z.string(),
  /** others that the handler sets, on the first part */
  headers: z.record(z.string(), z.string()).optional(),
  data: z.string(),
});
export type ApiPart = z.infer<typeof apiPartSchema>;

/** A comparison as the engine process is asked for it: files and texts in place of ids. */
const compareTaskSchema = z.object({
  runId: idSchema,
  /** that of the reference first: they take turns in memory. `settings`: what the columns share; its types and length are not used */
  models: z.array(comparedModelSchema.extend({ settings: contextSettingsSchema, ...templateOptions })).min(1),
  calibration: calibrationPlacesSchema,
  /** a folder of its own for what the reference says of each token; gone afterwards */
  scratch: z.string(),
  prompt: z.union([
    z.object({ messages: z.array(promptMessageSchema).min(1) }),
    /** without the chat template */
    z.object({ text: z.string().min(1) }),
    /** a check: the material, again and again, up to this many tokens */
    z.object({ depth: z.number().int() }),
  ]),
  /** the words of the prompt: facts are hidden in them, and they fill the caches of curves */
  material: z.string(),
  configurations: z.array(compareConfigurationSchema),
  options: compareOptionsSchema,
});
export type CompareTask = z.infer<typeof compareTaskSchema>;

/** What is known of a run besides its columns. */
const compareFactsSchema = z.object({
  runId: idSchema,
  step: z.enum(['loading', 'saving-chat']).nullable(),
  progress: z.number(),
  /** of the reference */
  model: z.object({ fingerprint: z.string(), info: modelInfoSchema }).nullable(),
  promptTokens: z.number().int(),
  notes: z.array(z.string()),
});
export type CompareFacts = z.infer<typeof compareFactsSchema>;

/** See `engine.plan` of the contract. */
const fitRequestSchema = z.object({
  ...{ path: z.string(), context: contextSettingsSchema, longest: z.number().int().optional() },
  ...{ marks: z.boolean().optional(), sides: z.boolean().optional(), asker: idSchema.optional() },
  ...{ ...apiField, ...workersField },
});
export type FitRequest = z.infer<typeof fitRequestSchema>;

export const engineOperations = {
  /** a sign of life: computing runs on other threads, so it is answered at once whatever the engine works on */
  ping: operation(nothing, nothing),
  capabilities: operation(nothing, capabilitiesSchema),
  /** how fast the memory is read, by threads; empty where too little is free to tell. Refused while an answer is written */
  probe: operation(nothing, memoryProbeSchema),
  cancelProbe: operation(nothing, nothing),
  /** checks, frees what was loaded, then loads. What was loaded stays if the check fails, and nothing if the load does: see `memory` */
  load: operation(loadRequestSchema, loadResultSchema),
  cancelLoad: operation(nothing, nothing),
  /** the running load goes on without measuring the model */
  skipCalibration: operation(nothing, nothing),
  unload: operation(nothing, nothing),
  /** queued behind the answer that is being written; ends when the answer has */
  generate: operation(generateRequestSchema, generationResultSchema),
  /**
   * Asked behind the last answer while nothing else is asked, without thinking. `text` null: the context holds something else,
   * or is too short, or something was asked in the meantime: whatever it is, it ends this at once.
   */
  aside: operation(asideRequestSchema, z.object({ text: z.string().nullable() })),
  cancel: operation(z.object({ requestId: idSchema }), nothing),
  /**
   * A request of the API, beside others and beside answers. Ends when the response is complete, whose parts come as events;
   * with `cancelled` after `cancel`, and where a load, a comparison or the measuring of the machine ends it. During the first
   * two it is refused with `busy`.
   */
  respond: operation(apiRequestSchema.extend({ requestId: idSchema }), nothing),
  /** so many bytes (UTF-8) of the response have gone to the client: with too many that have not, it waits */
  responseTaken: operation(z.object({ requestId: idSchema, bytes: z.number().int() }), nothing),
  /** of the prompt that they make; not held up by an answer that is written */
  countTokens: operation(
    z.object({ messages: z.array(promptMessageSchema), ...promptOptions }),
    z.object({ tokens: z.number().int() }),
  ),
  /**
   * Tokens of the prompt that they make, and how many of them an answer would not have to read: the context has them, or a
   * saved session. Waits for the answer that is being written.
   */
  spared: operation(
    z.object({ messages: z.array(promptMessageSchema).min(1), ...promptOptions }),
    z.object({ tokens: z.number().int(), spared: z.number().int() }),
  ),
  /** of each text as it stands inside a prompt, without the tokens that begin or end one */
  countTexts: operation(z.object({ texts: z.array(z.string()) }), z.object({ tokens: z.array(z.number().int()) })),
  /** of each image or sound as it stands in a prompt. Code `bad-request`: the model in use cannot read it */
  countMedia: operation(z.object({ paths: z.array(z.string()) }), z.object({ tokens: z.array(z.number().int()) })),
  /**
   * Ends when the run has, also when it was canceled; its columns come as events. In the queue like an answer, and canceled
   * as one by its run's id. It may take the memory of the loaded context: then none is loaded when it ends.
   */
  compare: operation(compareTaskSchema, nothing),
  /** without it nothing is saved or restored; again whenever the settings change */
  configureSessions: operation(sessionOptionsSchema, nothing),
  listSessions: operation(nothing, z.array(savedSessionSchema)),
  removeSession: operation(z.object({ sessionId: idSchema }), nothing),
  removeSessions: operation(chatIds, nothing),
  /** those of all other chats are removed: the chats are gone for good */
  retainSessions: operation(chatIds, nothing),
  clearSessions: operation(nothing, nothing),
  /** null: no load had files and settings like these, and what is not known of a file is asked of another process */
  fit: operation(fitRequestSchema.extend({ beside: z.number() }), contextFitSchema.nullable()),
  /** for what is asked of the process that looks at model files */
  machineMemory: operation(nothing, machineMemorySchema),
  memory: operation(nothing, z.object({ memory: memorySchema.nullable(), contextUsed: z.number().int() })),
} as const satisfies OperationMap;

export const engineEvents = {
  /** first message of the process; `null` capabilities mean that the binary could not be loaded, `problem` says why */
  onReady: z.object({ capabilities: capabilitiesSchema.nullable(), problem: z.string().nullable() }),
  /** frames for the main process (which writes them down); windows get the same over their own ports */
  onFrame: streamFrameSchema,
  onResponse: apiPartSchema.extend({ requestId: idSchema }),
  onCompareFacts: compareFactsSchema,
  /** a column as it is now */
  onCompareColumn: z.object({ runId: idSchema, index: z.number().int(), column: compareColumnSchema }),
  onCompareFrame: compareFrameSchema,
  /** a sentence for the person */
  onNotice: z.object({ text: z.string() }),
  /** nothing has been asked for some seconds, and what the context holds is saved where it is worth it */
  onRest: nothing,
  /** 0..1 */
  onProbeProgress: z.object({ fraction: z.number() }),
  onLoadProgress: z.object({ step: loadStepSchema, fraction: z.number() }),
  /** llama.cpp's own log lines of level warn and error */
  onLog: z.object({ level: z.enum(['warn', 'error']), text: z.string() }),
} as const satisfies Record<string, z.ZodType>;

export type EngineOperations = typeof engineOperations;
export type EngineEvents = typeof engineEvents;
export type EngineHandlers = HandlersOf<EngineOperations>;
export type EngineClient = ClientOf<EngineOperations, EngineEvents>;

/** The command line of the engine's program: what it must know before the first call. Written by its parent, read by its entry. */
const selfTest = '--self-test-folder=';
const inspector = '--inspector';

/** `selfTestFolder`: keeps what the self-test of the GPU kernels found */
export function engineArguments(selfTestFolder: string): string[] {
  return [`${selfTest}${selfTestFolder}`];
}

/** Of the process that looks at model files. */
export function inspectorArguments(selfTestFolder: string): string[] {
  return [...engineArguments(selfTestFolder), inspector];
}

/** '': nowhere */
export function selfTestFolder(argv: readonly string[]): string {
  return argv.find((argument) => argument.startsWith(selfTest))?.slice(selfTest.length) ?? '';
}

export function isInspector(argv: readonly string[]): boolean {
  return argv.includes(inspector);
}

// The contract with the process that looks at model files: headers, and dry runs of loads; another of the kind makes vectors of
// texts. A file may be any file, and llama.cpp ends the process over some, so this is not the process that answers. Same rules as
// `contract.ts`.

const file = z.object({ path: z.string() });
/** the engine's view; left out, when there is no engine: the process's own, with nothing loaded */
const machine = machineMemorySchema.optional();

/** Folder with what was measured of models, by which a budget is spent; left out: it is spent alike on all layers. */
const measured = z.object({ measurements: z.string().optional() });

const embedRequestSchema = file.extend({ texts: z.array(z.string()).max(limits.maxTextsToEmbed) });
export type EmbedRequest = z.infer<typeof embedRequestSchema>;

/** `fingerprint`: of the model. `vectors`: of length 1, one behind the other, as float32 (little-endian) */
const embedResultSchema = z.object({ fingerprint: z.string(), vectors: z.base64() });
export type EmbedResult = z.infer<typeof embedResultSchema>;

export const inspectorOperations = {
  inspect: operation(file, modelInfoSchema),
  estimate: operation(
    file.extend({ context: contextSettingsSchema, ...apiField, ...workersField, ...measured.shape }),
    memoryEstimateSchema,
  ),
  fit: operation(fitRequestSchema.extend({ machine, ...measured.shape }), contextFitSchema),
  planComparison: operation(
    file.extend({
      settings: contextSettingsSchema,
      configurations: z.array(compareConfigurationSchema.omit({ modelId: true })),
      machine,
      ...measured.shape,
    }),
    comparePlanSchema,
  ),
  /** one vector for each text; loads the model, which stays until the process ends. None: only its fingerprint */
  embed: operation(embedRequestSchema, embedResultSchema),
  /** bytes that it would take for that */
  embedderBytes: operation(file, z.object({ bytes: z.number() })),
} as const satisfies OperationMap;

export const inspectorEvents = { onReady: engineEvents.onReady, onLog: engineEvents.onLog } as const;

export type InspectorOperations = typeof inspectorOperations;
export type InspectorEvents = typeof inspectorEvents;
export type InspectorHandlers = HandlersOf<InspectorOperations>;
