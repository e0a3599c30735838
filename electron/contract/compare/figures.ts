/** What a comparison finds for one configuration. Shares are 0 to 1, KL divergences in nats, rates in tokens per second. */
import { z } from 'zod';
import { answerStatsSchema, stopReasonSchema } from '../chats';

const count = z.number().int().min(0);
const rate = z.number().min(0);

/** One token that a column could have chosen at a place, and how likely two columns held it for. */
export const candidateSchema = z.object({
  /** null: a word, of two models that have no tokens in common */
  token: z.number().int().nullable(),
  /** as the model's vocabulary writes it; a mark that ends the answer is `end` */
  text: z.string(),
  end: z.boolean(),
  /** of all tokens, in this column; null: not among its likeliest `candidatesKept`, or a word */
  probability: z.number().nullable(),
  /** the same in the reference */
  referenceProbability: z.number().nullable(),
});
export type Candidate = z.infer<typeof candidateSchema>;

/** likeliest tokens that are kept of each step while a run lasts */
export const candidatesKept = 16;

/** Where an answer leaves that of the reference. */
export const differenceSchema = z.object({
  /** tokens that both have in common before it; words where the candidates are words */
  index: count,
  /** where the text of this column's answer begins to differ, in UTF-16 units as `String.slice` counts */
  offset: count,
  /** the same in the reference's text */
  referenceOffset: count,
  /** what this column chose, and what the reference chose */
  own: candidateSchema,
  reference: candidateSchema,
});
export type Difference = z.infer<typeof differenceSchema>;

/** How much of two answers is the same, in tokens; the mark of the end counts as one. */
export const agreementSchema = z.object({
  /** in words instead: of two models of different vocabularies */
  words: z.literal(true).optional(),
  /** length of the common beginning */
  prefix: count,
  own: count,
  reference: count,
  /** tokens in the same order in both (longest common subsequence), as a share of the longer answer */
  share: z.number(),
});
export type Agreement = z.infer<typeof agreementSchema>;

export const columnAnswerSchema = z.object({
  text: z.string(),
  thinking: z.string(),
  stopReason: stopReasonSchema,
  /** null: it was cut off before the engine summed up */
  stats: answerStatsSchema.nullable(),
});
export type ColumnAnswer = z.infer<typeof columnAnswerSchema>;

/** Decoding behind the prompt, measured again and again. */
export const speedSchema = z.object({
  /** all contexts were alive and took turns; false: they did not fit together, each was measured after its answer */
  interleaved: z.boolean(),
  /** decode steps of a round */
  tokens: count,
  /** each round */
  rounds: z.array(rate),
  median: rate,
  /** times the speed of the reference: of the two medians, and of the outermost rounds; null for the reference itself */
  ratio: z.object({ median: rate, low: rate, high: rate }).nullable(),
});
export type Speed = z.infer<typeof speedSchema>;

/** Teacher-forced over the tokens of the prompt, as llama-perplexity does: the model sees the true text, not its own. */
export const qualitySchema = z.object({
  /** scored; those before them only give context */
  tokens: count,
  perplexity: z.number(),
  /** from the reference; for the reference itself 0 and 1 by definition; null: it failed, or has another vocabulary */
  meanKld: z.number().nullable(),
  /** standard error of the mean, tokens taken as independent */
  meanKldError: z.number().nullable(),
  kld999: z.number().nullable(),
  /** tokens whose likeliest one is that of the reference */
  sameTop: z.number().nullable(),
});
export type Quality = z.infer<typeof qualitySchema>;

export const needlesSchema = z.object({
  /** of the text with its facts */
  tokens: count,
  found: count,
  results: z.array(
    z.object({
      /** 0 beginning, 1 end of the text */
      depth: z.number(),
      fact: z.string(),
      question: z.string(),
      answer: z.string(),
      reply: z.string(),
      found: z.boolean(),
    }),
  ),
});
export type Needles = z.infer<typeof needlesSchema>;

/** Calls of tools that a model was asked for, one question each. */
export const toolCallsSchema = z.object({
  right: count,
  results: z.array(
    z.object({
      question: z.string(),
      /** of the tool that answers it */
      tool: z.string(),
      /** what was called, with its arguments as they were written; without a call what was written in its place */
      reply: z.string(),
      /**
       * null: right. `no-call`: none, or several; `json`: its arguments are no JSON object; `tool`: another tool; `arguments`: some
       * are missing, wrong or too many
       */
      fault: z.enum(['no-call', 'json', 'tool', 'arguments']).nullable(),
    }),
  ),
});
export type ToolCalls = z.infer<typeof toolCallsSchema>;

export const curvePointSchema = z.object({
  /** tokens in the cache before the first measured step */
  depth: count,
  tokensPerSecond: rate,
  /** decode steps that it rests on */
  tokens: count,
  /** of reading the text from the depth before to this one; null: nothing was read */
  promptTokensPerSecond: rate.nullable(),
  /** what a context of this length would allocate for its cache; at depth 0 the shortest context */
  kvBytes: z.number(),
});
export type CurvePoint = z.infer<typeof curvePointSchema>;

export const longestSchema = z.object({
  /** tokens of the longest context that fits this machine now; 0: none does */
  nCtx: count,
  /** weights, cache and buffers then */
  bytes: z.number(),
});
