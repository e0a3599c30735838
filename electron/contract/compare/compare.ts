/**
 * Comparing side by side: one prompt, two to six contexts that differ in model, K type, V type or length. A run has a column
 * for each configuration; it is kept as a file, and what one column found stays when a later one fails. The figures come
 * from the engine process: bytes are its allocation, times its clock, probabilities the full softmax.
 */
import { z } from 'zod';
import { effectiveContextSchema, liveStatsSchema, memoryEstimateSchema } from '../engine';
import { errorPayloadSchema } from '../errors';
import { budgetSchema } from '../fit';
import { attachmentSchema } from '../lib/attachments';
import { translatableSchema } from '../lib/language';
import { idSchema, limits, momentSchema, nothing, operation } from '../limits';
import { modelInfoSchema } from '../models';
import { cacheChoiceSchema, contextSettingsSchema, samplingSettingsSchema } from '../settings';
import {
  agreementSchema,
  columnAnswerSchema,
  curvePointSchema,
  differenceSchema,
  longestSchema,
  needlesSchema,
  qualitySchema,
  speedSchema,
  toolCallsSchema,
} from './figures';
import { columnModelSchema, modelsOf } from './models';

const text = z.string().max(limits.maxMessage);
const count = z.number().int().min(0);
const name = z.string().trim().min(1).max(limits.maxTitle);
const tokens = z.number().int().min(limits.minContext).max(limits.maxContext);

export const minConfigurations = 2;
export const maxConfigurations = 6;

/** `nCtx`: cells asked for; `column.context` tells what became of all three. `modelId` left out: the model of the comparison */
export const compareConfigurationSchema = z.object({
  modelId: idSchema.optional(),
  typeK: cacheChoiceSchema,
  typeV: cacheChoiceSchema,
  nCtx: tokens,
});
export type CompareConfiguration = z.infer<typeof compareConfigurationSchema>;

const configurations = z.array(compareConfigurationSchema).min(minConfigurations).max(maxConfigurations);

/** What every column reads. */
export const comparePromptSchema = z.discriminatedUnion('kind', [
  /** `asIs`: continued without the model's chat template and the system prompt */
  z.object({ kind: z.literal('text'), text: text.min(1), asIs: z.boolean().default(false) }),
  /** the branch of a chat that ends in `leafId` (null: the one that is shown), up to its last question */
  z.object({ kind: z.literal('chat'), chatId: idSchema, leafId: idSchema.nullable() }),
  /** documents before a question about them, as in a chat */
  z.object({ kind: z.literal('documents'), attachments: z.array(attachmentSchema).min(1), question: text.min(1) }),
  /** a check of the model: no answer, but tasks, and a text of the app that fills `depth` tokens */
  z.object({ kind: z.literal('check'), depth: tokens }),
]);
export type ComparePrompt = z.infer<typeof comparePromptSchema>;

export const compareOptionsSchema = z.object({
  /** index of the configuration that the others are judged by; it runs first */
  reference: z
    .number()
    .int()
    .min(0)
    .max(maxConfigurations - 1)
    .default(0),
  /** of each answer, at the most */
  maxTokens: z.number().int().min(1).max(16_384).default(256),
  /** times that decoding is measured again behind the prompt, for figures of speed; 0: the answers alone */
  rounds: z.number().int().min(0).max(20).default(0),
  /** all contexts at once, answers written at the same time; refused when they do not fit. Speeds are then no measure */
  together: z.boolean().default(false),
  /** perplexity and KL divergence; `tokens`: at most so many of the prompt are scored, its last ones */
  quality: z
    .object({ tokens: z.number().int().min(16).max(65_536).default(4096) })
    .nullable()
    .prefault({}),
  /** facts hidden in the text of the prompt, at these depths: 0 is its beginning, 1 its end */
  needle: z
    .object({ depths: z.array(z.number().min(0).max(1)).min(1).max(12) })
    .nullable()
    .default(null),
  /** decoding with this many tokens in the cache; depths that a context cannot hold are left out of its column */
  curve: z
    .object({ depths: z.array(count.max(limits.maxContext)).min(1).max(16) })
    .nullable()
    .default(null),
  /** the same for every column; greedy, and a `seed` of null counts as 0 */
  sampling: samplingSettingsSchema.prefault({ temperature: 0, seed: 0 }),
});
export type CompareOptions = z.infer<typeof compareOptionsSchema>;

export const compareRequestSchema = z
  .object({
    /** made of the prompt when it is left out */
    name: name.optional(),
    modelId: idSchema,
    prompt: comparePromptSchema,
    configurations,
    options: compareOptionsSchema.prefault({}),
  })
  .refine(({ configurations, options }) => options.reference < configurations.length, {
    path: ['options', 'reference'],
    message: 'the reference is none of the configurations',
  })
  .refine(
    ({ prompt, configurations, options: { reference } }) =>
      prompt.kind !== 'check' ||
      (configurations[reference]?.typeK === 'f16' && configurations[reference]?.typeV === 'f16'),
    { path: ['options', 'reference'], message: 'a check is judged by f16' },
  )
  .refine(
    (request) => !(request.options.together || request.prompt.kind === 'check') || modelsOf(request).length === 1,
    {
      path: ['configurations'],
      message: 'a check, and contexts that are in memory together, have one model',
    },
  );
export type CompareRequest = z.infer<typeof compareRequestSchema>;

/** Memory of a column by part, in bytes: the engine's allocation. */
export const columnMemorySchema = z.object({
  weights: z.number(),
  kvK: z.number(),
  kvV: z.number(),
  /** what the same cache would take at f16 */
  kvF16: z.number(),
  compute: z.number(),
});
export type ColumnMemory = z.infer<typeof columnMemorySchema>;

/**
 * What a column is at. `calibration`: the model is measured, once, for its turbo caches; `floor`: the reference is the yardstick of
 * what any change of the cache costs with these weights.
 */
export const columnStepSchema = z.enum([
  'calibration',
  'context',
  'prompt',
  'answer',
  'speed',
  'quality',
  'needles',
  'tools',
  'curve',
  'floor',
]);
export type ColumnStep = z.infer<typeof columnStepSchema>;

/** Figures are null (points: none) until their step has ended, and stay so when it was not asked for. */
export const compareColumnSchema = z.object({
  configuration: compareConfigurationSchema,
  /** null: that of the run, which has no other */
  model: columnModelSchema.nullable().default(null),
  /** `interrupted`: the engine or the app ended while it ran; what it has stays */
  state: z.enum(['waiting', 'running', 'done', 'failed', 'cancelled', 'interrupted']),
  /** while it runs */
  step: columnStepSchema.nullable().default(null),
  /** of the step, 0 to 1 */
  progress: z.number().default(0),
  /** why it failed */
  error: errorPayloadSchema.nullable().default(null),
  /** effective types, centering, kernels; fallbacks with their reasons */
  context: effectiveContextSchema.nullable().default(null),
  memory: columnMemorySchema.nullable().default(null),
  answer: columnAnswerSchema.nullable().default(null),
  /** against the reference; null also when the answers do not differ, and for the reference */
  difference: differenceSchema.nullable().default(null),
  agreement: agreementSchema.nullable().default(null),
  speed: speedSchema.nullable().default(null),
  quality: qualitySchema.nullable().default(null),
  needles: needlesSchema.nullable().default(null),
  /** of a check */
  tools: toolCallsSchema.nullable().default(null),
  curve: z.array(curvePointSchema).default([]),
  longest: longestSchema.nullable().default(null),
  /** what a person should know about these figures, as sentences */
  notes: z.array(z.string()).default([]),
});
export type CompareColumn = z.infer<typeof compareColumnSchema>;

/** What a figure of speed or memory hangs on besides the configuration. */
export const compareMachineSchema = z.object({
  os: z.string(),
  cpu: z.string(),
  physicalCores: count,
  memoryBytes: z.number(),
  backend: z.string(),
  device: z.string(),
  gpus: z.array(z.string()),
});

export const compareBuildSchema = z.object({
  /** of the app */
  version: z.string(),
  /** llama.cpp tag and commit */
  upstream: z.string(),
  /** level of the turbo kernels, of the weights' kernels, and the variant that runs */
  simd: z.string(),
  simdWeights: z.string(),
  kernelVariant: z.string(),
});

export const compareModelSchema = z.object({
  fileName: z.string(),
  /** hash of the file's header, size and samples of its weights; hexadecimal */
  fingerprint: z.string(),
  info: modelInfoSchema,
});

export const runStateSchema = z.enum(['running', 'done', 'cancelled', 'failed', 'interrupted']);
export type RunState = z.infer<typeof runStateSchema>;

export const compareRunSchema = z.object({
  version: z.literal(1),
  id: idSchema,
  name,
  createdAt: momentSchema,
  /** null while it runs */
  endedAt: z.number().nullable(),
  /** `failed`: `error` says why, no column could go on; `interrupted`: the engine or the app ended in the middle */
  state: runStateSchema,
  error: errorPayloadSchema.nullable(),
  /** what is done before the columns and behind them, where a person waits for it; null: the columns tell */
  step: z.enum(['loading', 'saving-chat', 'restoring-chat']).nullable().default(null),
  /** of that step, 0 to 1 */
  progress: z.number().default(0),
  request: compareRequestSchema,
  /** settings that all columns share, of the reference's model; its types and length are not used */
  settings: contextSettingsSchema,
  /** of the reference; null until it is loaded */
  model: compareModelSchema.nullable(),
  machine: compareMachineSchema.nullable(),
  build: compareBuildSchema.nullable(),
  /** of the reference; 0 until it is known */
  promptTokens: count,
  /** in the order of the configurations */
  columns: z.array(compareColumnSchema),
  /** as sentences: the chat's cache was released, the text was cut for the needles, ... */
  notes: z.array(z.string()),
});
export type CompareRun = z.infer<typeof compareRunSchema>;

/** The request can hold a long text and does not change: `compare.get` brings it once. */
export const compareProgressSchema = compareRunSchema.omit({ request: true });
export type CompareProgress = z.infer<typeof compareProgressSchema>;

/** What a check has found, for the model of this content: see `verdictOf`. */
export const modelCheckSchema = z.object({
  fingerprint: z.string(),
  modelId: idSchema,
  /** tokens */
  depth: count,
  /** that were measured and judged; `keeps`: nothing is lost beside f16; `calls`: of tools, that were right */
  pairs: z.array(
    compareConfigurationSchema.pick({ typeK: true, typeV: true }).extend({ keeps: z.boolean(), calls: count }),
  ),
  /** calls of tools: that there were, and that were right under f16 */
  calls: z.object({ all: count, right: count }),
  /** index of the column that is recommended; null: the model cannot be judged by it */
  pick: count.nullable(),
});
export type ModelCheck = z.infer<typeof modelCheckSchema>;

export const compareSummarySchema = z.object({
  id: idSchema,
  name,
  createdAt: momentSchema,
  state: runStateSchema,
  modelName: z.string(),
  configurations: z.array(compareConfigurationSchema),
  /** null: it is no check, or has not come to its end */
  check: modelCheckSchema.nullable().default(null),
});
export type CompareSummary = z.infer<typeof compareSummarySchema>;

/** New text of the answer that a column writes, at most 40 a second; the column brings the whole answer when it has ended. */
export const compareFrameSchema = z.object({
  runId: idSchema,
  /** of the column */
  index: count,
  text: z.string(),
  thinking: z.string(),
  stats: liveStatsSchema,
});
export type CompareFrame = z.infer<typeof compareFrameSchema>;

/** What the contexts would take: each alone, and all at once beside what is in memory now. */
export const comparePlanSchema = z.object({
  columns: z.array(
    z.object({
      /** null: the model cannot have these types; `problem` says why */
      estimate: memoryEstimateSchema.nullable(),
      fits: z.boolean(),
      problem: z.string(),
      longest: longestSchema.nullable(),
    }),
  ),
  together: z.object({ fits: z.boolean(), budgets: z.array(budgetSchema) }),
});
export type ComparePlan = z.infer<typeof comparePlanSchema>;

const checkQuestion = z.object({
  modelId: idSchema,
  /** tokens; left out: as long as the context in use, or what is set for the model. Cut to what the model was trained for */
  depth: tokens.optional(),
});

/** What a check would run, told before. */
export const checkPlanSchema = z.object({
  depth: count,
  /** f16 first, which the others are judged by */
  configurations,
  /** of the whole check, about */
  seconds: z.number(),
  /** false: this model has not read or written enough on this machine yet, and its speed is supposed */
  measured: z.boolean(),
  /** why it would come to nothing, as a sentence; empty: it does not fail beforehand */
  problem: translatableSchema,
});
export type CheckPlan = z.infer<typeof checkPlanSchema>;

export const compareFormatSchema = z.enum(['markdown', 'csv', 'json']);
export type CompareFormat = z.infer<typeof compareFormatSchema>;

const run = z.object({ runId: idSchema });

export const compareOperations = {
  /** One run at a time (`busy`). Answers of chats wait until it has ended; a chat that was loaded is put back then. */
  'compare.start': operation(compareRequestSchema, run),
  /** finished columns stay; nothing happens when it has ended already */
  'compare.cancel': operation(run, nothing),
  /** newest first */
  'compare.list': operation(nothing, z.array(compareSummarySchema)),
  'compare.get': operation(run, compareRunSchema),
  'compare.rename': operation(run.extend({ name }), compareSummarySchema),
  /** a run that is going is canceled first */
  'compare.remove': operation(run, nothing),
  /** the same request again, as a run of its own */
  'compare.rerun': operation(run, run),
  'compare.export': operation(
    run.extend({ format: compareFormatSchema }),
    z.object({ fileName: z.string(), text: z.string() }),
  ),
  'compare.estimate': operation(z.object({ modelId: idSchema, configurations }), comparePlanSchema),
  'compare.planCheck': operation(checkQuestion, checkPlanSchema),
  /** starts a comparison of f16 and the usual pairs by tasks; it is canceled, kept and exported as any other */
  'compare.check': operation(checkQuestion, run),
  /** tokens of the prompt, as the columns would read it; null: another model is loaded, or none */
  'compare.count': operation(
    z.object({ modelId: idSchema, prompt: comparePromptSchema }),
    z.object({ tokens: count.nullable() }),
  ),
} as const;

export const compareEvents = {
  /** a run as it is now, without its request: at each change of a column, and at most four times a second while one makes progress */
  onCompare: compareProgressSchema,
  onCompareFrame: compareFrameSchema,
  /** the list changed */
  onCompareRuns: z.array(compareSummarySchema),
} as const satisfies Record<string, z.ZodType>;
