/**
 * A prompt is one text, in which the tokenizer reads the template's marks ("<|im_end|>") as control tokens. In a document or a
 * message the same words would be read so too: they could end a question and write an answer of their own. There they get a
 * zero-width space behind their first character, which people do not see and the tokenizer takes for no mark.
 * A text without marks keeps its bytes, and so its cache.
 */
import { setImmediate } from 'node:timers/promises';
import type { PromptTool } from '../contract/tools/tools';
import type { ChatMessage, Model } from './native/types';

type Vocabulary = Pick<Model, 'tokenize' | 'detokenize'> & { info: Pick<Model['info'], 'vocabSize'> };

export interface Marks {
  all: ReadonlySet<string>;
  /** of the marks, in UTF-16 units */
  lengths: readonly number[];
  /** what one of them can begin with; null: there are none */
  first: RegExp | null;
}

/** ids that are looked at before others come to their turn: a few milliseconds */
const idsAtOnce = 2000;
const between = '\u200b';
/** a mark begins and ends with a sign: what does not is not looked at twice */
const signs = /^[^\p{L}\p{N}\s].+[^\p{L}\p{N}\s]$/su;

const known = new WeakMap<Vocabulary, Promise<Marks>>();

/** Looks through the whole vocabulary, once for each model. */
export function marksOf(model: Vocabulary): Promise<Marks> {
  const found = known.get(model) ?? findMarks(model);
  known.set(model, found);
  return found;
}

export async function withoutMarks(model: Vocabulary, messages: ChatMessage[]): Promise<ChatMessage[]> {
  const marks = await marksOf(model);
  return messages.map(({ role, content, documents, media, thinking, toolCalls, toolCallId }) => {
    const moved = (at: number) => breakMarks(content.slice(0, at), marks).length;
    return {
      ...{ role, content: breakMarks(content, marks) },
      ...(documents && { documents: documents.map((one) => ({ ...one, end: moved(one.end) })) }),
      ...(media && { media: media.map((one) => ({ ...one, at: moved(one.at) })) }),
      ...(thinking && { thinking: breakMarks(thinking, marks) }),
      ...(toolCalls && { toolCalls: withoutMarksIn(toolCalls, marks) }),
      ...(toolCallId !== undefined && { toolCallId: breakMarks(toolCallId, marks) }),
    };
  });
}

/** Of a request: its messages, and what servers say of their tools. */
export async function escaped<R extends { messages: ChatMessage[]; tools?: PromptTool[] | undefined }>(
  model: Vocabulary,
  request: R,
): Promise<R> {
  const messages = await withoutMarks(model, request.messages);
  if (!request.tools) return { ...request, messages };
  return { ...request, messages, tools: withoutMarksIn(request.tools, await marksOf(model)) };
}

/** Every text in it, whatever its form, and every key: both reach the prompt. The same value where there is no mark. */
export function withoutMarksIn<T>(value: T, marks: Marks): T {
  if (typeof value === 'string') return breakMarks(value, marks) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const broken = value.map((one) => withoutMarksIn(one, marks));
    return broken.some((one, index) => one !== value[index]) ? (broken as T) : value;
  }
  const entries = Object.entries(value);
  const broken = entries.map(([key, inner]) => [breakMarks(key, marks), withoutMarksIn(inner, marks)] as const);
  const changed = broken.some(([key, inner], index) => key !== entries[index]?.[0] || inner !== entries[index]?.[1]);
  return changed ? (Object.fromEntries(broken) as T) : value;
}

export function breakMarks(text: string, { all, lengths, first }: Marks): string {
  if (!first) return text;
  let broken = '';
  let from = 0;
  for (const { 0: sign, index } of text.matchAll(first)) {
    if (!lengths.some((length) => all.has(text.slice(index, index + length)))) continue;
    const behind = index + sign.length;
    broken += text.slice(from, behind) + between;
    from = behind;
  }
  return from === 0 ? text : broken + text.slice(from);
}

async function findMarks(model: Vocabulary): Promise<Marks> {
  const found = new Set<string>();
  for (let id = 0; id < model.info.vocabSize; id++) {
    if (id % idsAtOnce === 0) await setImmediate();
    const text = model.detokenize(Int32Array.of(id));
    if (signs.test(text) && isMark(model, text)) found.add(text);
  }
  return marksFrom(found);
}

export function marksFrom(all: ReadonlySet<string>): Marks {
  const firsts = new Set([...all].map((mark) => String.fromCodePoint(mark.codePointAt(0) ?? 0)));
  return {
    all,
    lengths: [...new Set([...all].map(({ length }) => length))],
    first: firsts.size === 0 ? null : new RegExp([...firsts].map(literal).join('|'), 'gu'),
  };
}

/** Read in another way where marks count. */
function isMark(model: Vocabulary, text: string): boolean {
  return String(model.tokenize(text, { parseSpecial: true })) !== String(model.tokenize(text));
}

function literal(sign: string): string {
  return sign.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
