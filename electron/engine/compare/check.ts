/**
 * What a check of a model asks beside the figures of a comparison: a text of the app that fills the context, of which the end was
 * not read before, and calls of tools. The calls go where those of programs go, to the handler of POST /v1/chat/completions: the
 * model's own template describes the tools, and upstream's parser reads the calls. Greedy, so that the same cache gives the same.
 */

import { isDeepStrictEqual } from 'node:util';
import type { ToolCalls } from '../../contract/compare/figures';
import type { ApiPart } from '../../contract/engineContract';
import type { Context, Model } from '../native/types';
import { instructions, type ToolTask, tasks, tools } from './battery';

/** room for a call, and for a thought of a model that cannot do without */
const callTokens = 512;
/** characters of a reply that are kept */
const replyLength = 300;
/** of the text, at its end: it stands at the end of what is read and nowhere else, and no model is measured with it */
const unreadShare = 1 / 3;

export interface CheckText {
  /** as many as the depth; repeats its beginning up to the part that is scored */
  tokens: Int32Array;
  /** tokens at the end that were not read before */
  scored: number;
  /** words for hidden facts, more than fit */
  material: string;
}

export function checkText(model: Pick<Model, 'tokenize'>, text: string, depth: number): CheckText {
  const all = model.tokenize(text, { addSpecial: true });
  const inside = model.tokenize(text);
  const unread = Math.min(Math.floor(inside.length * unreadShare), Math.floor(depth / 2) - 1);
  const tokens = new Int32Array(depth);
  const before = depth - unread;
  let from = all;
  for (let at = 0; at < before; ) {
    const piece = from.subarray(0, Math.min(from.length - unread, before - at));
    tokens.set(piece, at);
    at += piece.length;
    from = inside;
  }
  tokens.set(all.subarray(all.length - unread), before);
  const copies = Math.ceil(depth / Math.max(1, all.length)) + 1;
  return { tokens, scored: unread, material: `${text.trim()}\n\n`.repeat(copies) };
}

/** Calls of the battery, one after another; rejects with the reason of `signal` when that was aborted. */
export async function callTools(
  context: Pick<Context, 'respond'>,
  signal: AbortSignal,
  onProgress: (fraction: number) => void,
): Promise<ToolCalls> {
  const results: ToolCalls['results'] = [];
  for (const task of tasks) {
    signal.throwIfAborted();
    const answer = await respond(context, toolBody(task), signal);
    results.push({ question: task.question, tool: task.tool, ...judged(answer, task) });
    onProgress(results.length / tasks.length);
  }
  return { right: results.filter(({ fault }) => fault === null).length, results };
}

/** JSON of POST /v1/chat/completions. */
export function toolBody({ question }: Pick<ToolTask, 'question'>, change: object = {}): string {
  return JSON.stringify({
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content: question },
    ],
    tools: tools.map((one) => ({ type: 'function', function: one })),
    ...{ tool_choice: 'auto', temperature: 0, top_k: 1, seed: 0, max_tokens: callTokens, stream: false },
    chat_template_kwargs: { enable_thinking: false },
    ...change,
  });
}

/** The body of the response, whatever its status. */
export async function respond(context: Pick<Context, 'respond'>, body: string, signal: AbortSignal): Promise<string> {
  const parts: ApiPart[] = [];
  const request = { handler: 'post_chat_completions', path: '/v1/chat/completions', query: '', params: {}, body };
  const { done } = context.respond(request, (some) => parts.push(...some), signal);
  await done.catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
  signal.throwIfAborted();
  return parts.map(({ data }) => data).join('');
}

interface Response {
  error?: { message?: string };
  choices?: {
    message?: { content?: string | null; tool_calls?: { function?: { name?: string; arguments?: string } }[] };
  }[];
}

/** @param answer body of a response: a template may refuse tools, which is no call */
export function judged(answer: string, task: ToolTask): Pick<ToolCalls['results'][number], 'reply' | 'fault'> {
  const response = parsed(answer) as Response | null;
  const message = response?.choices?.[0]?.message;
  const calls = message?.tool_calls ?? [];
  const words = calls.map((one) => `${one.function?.name}(${one.function?.arguments})`).join(' ');
  const reply = (words || message?.content || response?.error?.message || '').slice(0, replyLength);
  const [call] = calls;
  if (!call || calls.length > 1) return { reply, fault: 'no-call' };
  const given = parsed(call.function?.arguments ?? '');
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { reply, fault: 'json' };
  if (call.function?.name !== task.tool) return { reply, fault: 'tool' };
  return { reply, fault: isDeepStrictEqual(plain(given), plain(task.expected)) ? null : 'arguments' };
}

function plain(value: unknown): unknown {
  if (typeof value === 'string') return value.trim().toLowerCase();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
