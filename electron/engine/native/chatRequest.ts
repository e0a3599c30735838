/**
 * What an answer is asked for, in the words of llama-server's API (llama.cpp, tools/server/README.md): the chat as the body of
 * POST /v1/chat/completions, and the choice of tokens as parameters of POST /completion.
 */
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import { decodableFile } from './mediaChecks';
import type { RawAddon, RawCancellation, RawContext, RawModel } from './raw';
import { requireSafe } from './requestChecks';
import type { ChatMessage, GenerateOptions, PromptOptions } from './types';

/** Of a completion, as the server makes them of a chat: what is used here. The template's own ends of a turn are in `stop`. */
export interface ChatParams {
  stop: string[];
  message_delimiters: unknown;
  json_schema?: unknown;
  /** only of templates that mark thinking, from here */
  chat_format?: number;
  generation_prompt?: string;
  chat_parser?: string;
  /** of an answer that may think first and then follows the schema */
  grammar?: string;
  /** marks around thinking; the first mark of its end is the one that is forced */
  reasoning_budget_start_tag?: string;
  reasoning_budget_end_tags?: string[];
}

export const noChat: ChatParams = { stop: [], message_delimiters: [] };

/** Throws `bad-request` for a constraint that cannot be used. */
export function checkConstraint({ jsonSchema, grammar, continueFrom }: GenerateOptions): void {
  if (grammar && jsonSchema) {
    throw new ConcertinaError('bad-request', msg`A grammar and a JSON schema were both given`, msg`Give one of them.`);
  }
  requireSafe({ ...(grammar && { grammar }), ...(jsonSchema && { json_schema: parsedSchema(jsonSchema) }) });
  if ((grammar || jsonSchema) && (continueFrom?.text || continueFrom?.thinking)) {
    // it would begin again
    throw new ConcertinaError(
      'bad-request',
      msg`An answer that a grammar constrains cannot be continued`,
      msg`Ask again.`,
    );
  }
}

type BodyOptions = PromptOptions & { jsonSchema?: string };

/** Who reads a prompt: images and sound the context alone. */
export interface PromptReader {
  addon: Pick<RawAddon, 'mediaMarker'>;
  model: Pick<RawModel, 'chatTokens' | 'renderChat'>;
  context: Pick<RawContext, 'readMedia'>;
}

/** The parameters of the completion, as JSON, and the tokens of its prompt, see `Context.chatTokens`. */
export async function readPrompt(
  { addon, model, context }: PromptReader,
  messages: ChatMessage[],
  options: BodyOptions,
  cancellation: RawCancellation,
): Promise<{ params: string; tokens: Int32Array }> {
  const body = chatBody(messages, options, addon.mediaMarker);
  const files = messages.flatMap(({ media = [] }) => media);
  if (files.length === 0) return model.chatTokens(body, cancellation);
  const { prompt, ...params } = JSON.parse(await model.renderChat(body, cancellation));
  const read = await Promise.all(files.map(({ path }) => decodableFile(path)));
  return { params: JSON.stringify(params), tokens: await context.readMedia(prompt, read, true) };
}

/** JSON. The prompt ends inside `continueFrom`, whose turn stays open. `marker`: for each image and sound; '': there may be none */
export function chatBody(messages: ChatMessage[], options: BodyOptions, marker = ''): string {
  if (messages.length === 0)
    throw new ConcertinaError('bad-request', msg`The chat is empty`, msg`Write a message first.`);
  const { now = Date.now(), thinking = true, templateVariables = '', jsonSchema, continueFrom } = options;
  const { tools = [], mustCall = false } = options;
  requireSafe({ tools });
  const { text = '', thinking: thought = '' } = continueFrom ?? {};
  const open = text !== '' || thought !== '';
  const soFar = { role: 'assistant', content: text, ...(thought && { reasoning_content: thought }) };
  return JSON.stringify({
    messages: [...messages.map((message) => withMarkers(message, marker)), ...(open ? [soFar] : [])],
    ...(open && { add_generation_prompt: false, continue_final_message: text ? 'content' : 'reasoning_content' }),
    ...(jsonSchema && { json_schema: parsedSchema(jsonSchema) }),
    ...(tools.length > 0 && {
      tools: tools.map((one) => ({ type: 'function', function: one })),
      ...(mustCall && { tool_choice: 'required', parallel_tool_calls: false }),
    }),
    now: Math.floor(now),
    // upstream sets the dates from its own clock
    chat_template_kwargs: { ...datesOf(now), enable_thinking: thinking, ...variablesIn(templateVariables) },
  });
}

/**
 * Upstream's grammar of an answer that must call a tool lets it write first for as long as it likes (`until-191? tool-calls`), call
 * without end, and put blank lines anywhere. This one is of a single call, with which the answer begins. A grammar of another form
 * stays as it is: the call comes at some time.
 */
export function beginningWithCall(params: ChatParams): ChatParams {
  const { grammar } = params;
  if (!grammar) return params;
  const single = grammar
    .replace(/^root ::= .*$/m, (root) => root.replace(/\buntil-\d+\?? (?=tool)/g, ''))
    .replace(/^(tool-calls|tools) ::= \((.+)\)\+$/m, '$1 ::= $2')
    .replace(/^space ::= .*$/m, 'space ::= | " "');
  return { ...params, grammar: single };
}

function withMarkers({ role, content, media = [], ...called }: ChatMessage, marker: string): object {
  if (media.length > 0 && marker === '')
    throw new ConcertinaError('bad-request', msg`Images and sound cannot be used here`, msg`Leave them out.`);
  const cuts = [0, ...media.map(({ at }) => at), content.length];
  const pieces = cuts.slice(1).map((cut, index) => content.slice(cuts[index], cut));
  const { thinking = '', toolCalls = [], toolCallId } = called;
  return {
    ...{ role, content: pieces.join(marker) },
    ...(thinking && { reasoning_content: thinking }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, ...call }) => ({ id, type: 'function', function: call })),
    }),
    ...(toolCallId !== undefined && { tool_call_id: toolCallId }),
  };
}

function parsedSchema(schema: string): unknown {
  try {
    return JSON.parse(schema);
  } catch (error) {
    throw new ConcertinaError('bad-request', msg`The JSON schema cannot be used: ${{ error }}`, msg`Check the schema.`);
  }
}

/** Local time, as templates have it: 03 Feb 2001, Feb 03 2001. */
function datesOf(now: number): { date_string: string; datetime: string } {
  const [, month, day, year] = new Date(now).toDateString().split(' ');
  return { date_string: `${day} ${month} ${year}`, datetime: `${month} ${day} ${year}` };
}

function variablesIn(variables: string): object {
  if (variables === '') return {};
  let value: unknown = null;
  try {
    value = JSON.parse(variables);
  } catch {
    // said below
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new ConcertinaError(
    'bad-request',
    msg`The template variables are no JSON object`,
    'Write {"name": value} in the settings of the model.',
  );
}

/** What the core chooses tokens by. Nothing of it is left to what a model's file or an option of the server says. */
export function completionFields(options: GenerateOptions): object {
  const { sampling, maxTokens, candidates = 0, ignoreEnd = false, grammar } = options;
  const { temperature } = sampling;
  return {
    ...{ temperature, top_k: sampling.topK, top_p: sampling.topP, min_p: sampling.minP, seed: sampling.seed },
    repeat_penalty: sampling.repeatPenalty,
    presence_penalty: sampling.presencePenalty ?? 0,
    frequency_penalty: sampling.frequencyPenalty ?? 0,
    repeat_last_n: sampling.penaltyTokens ?? 64,
    dry_multiplier: sampling.dryMultiplier ?? 0,
    dry_base: sampling.dryBase ?? 1.75,
    dry_allowed_length: sampling.dryAllowed ?? 2,
    dry_penalty_last_n: sampling.dryTokens ?? 64,
    xtc_probability: sampling.xtcProbability ?? 0,
    xtc_threshold: sampling.xtcThreshold ?? 0.1,
    ...{ typical_p: 1, top_n_sigma: -1, mirostat: 0, dynatemp_range: 0 },
    ...(temperature <= 0 && { top_k: 1, samplers: ['penalties', 'dry', 'top_k'] }),
    ...(grammar && { grammar, grammar_type: '', grammar_lazy: false }),
    ...{ n_predict: maxTokens > 0 ? maxTokens : -1, n_probs: candidates, ignore_eos: ignoreEnd },
    ...{ stream: true, return_progress: true, return_tokens: true, timings_per_token: true },
    response_fields: ['stop', 'stop_type', 'stopping_word', 'truncated'],
  };
}
