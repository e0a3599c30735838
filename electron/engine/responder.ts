/**
 * Requests of the API in the engine process: any number at a time, beside an answer of the window. What takes the context
 * away ends them first. The texts of messages reach the chat template without marks of special tokens, whatever a document
 * in them says.
 */

import { basename } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { z } from 'zod';
import type { ApiPart, ApiRequest } from '../contract/engineContract';
import { ConcertinaError } from '../contract/errors';
import type { AdapterInUse } from '../contract/lib/domains/adapters';
import { type Marks, marksOf, withoutMarksIn } from './escapeSpecialTokens';
import type { Loaded } from './modelHolder';
import { asRefusal, requireSafe } from './native/requestChecks';
import type { ApiResponse } from './native/types';

type Asked = ApiRequest & { requestId: string };
type OnPart = (part: ApiPart & { requestId: string }) => void;

interface Running {
  controller: AbortController;
  /** null: its texts are looked through */
  response: ApiResponse | null;
  ended: Promise<void>;
}

export class Responder {
  private readonly running = new Map<string, Running>();
  /** tasks that want the context for themselves */
  private closed = 0;

  constructor(
    /** throws when nothing is loaded */
    private readonly loaded: () => Loaded,
    private readonly onPart: OnPart,
  ) {}

  /** Resolves when the response is complete. Rejects with `cancelled`, and with `busy` while a task has the context. */
  respond(request: Asked): Promise<void> {
    if (this.closed > 0) {
      throw new ConcertinaError('busy', msg`A model is being loaded or compared.`, msg`Ask again when that has ended.`);
    }
    if (this.running.has(request.requestId)) {
      throw new ConcertinaError('bad-request', msg`There is a request ${{ requestId: request.requestId }} already.`);
    }
    const one: Running = { controller: new AbortController(), response: null, ended: Promise.resolve() };
    this.running.set(request.requestId, one);
    const ended = this.write(request, this.loaded, one).finally(() => this.running.delete(request.requestId));
    one.ended = ended.catch(() => undefined);
    return ended;
  }

  private async write({ requestId, ...request }: Asked, loaded: () => Loaded, one: Running): Promise<void> {
    const { model, context } = loaded();
    const { signal } = one.controller;
    const fields = textFields[request.handler];
    const asked = fields === anthropic ? asHandlersRead(request.body) : request.body;
    requireOwnScales(request.handler, asked, context.effective.adapters);
    const body = fields ? withoutMarks(asked, fields, await marksOf(model)) : asked;
    if (request.handler !== 'post_lora_adapters' && body !== '') requireSafe(parseObject(body));
    if (signal.aborted) throw ended();
    const send = (parts: ApiPart[]) => {
      if (signal.aborted) return;
      const shown = request.handler === 'get_lora_adapters' ? parts.map(withoutFolders) : parts;
      for (const part of shown) this.onPart({ requestId, ...asRefusal(part) });
    };
    one.response = context.respond({ ...request, body }, send, signal);
    await one.response.done;
    if (signal.aborted) throw ended();
  }

  get isBusy(): boolean {
    return this.running.size > 0;
  }

  taken(requestId: string, bytes: number): void {
    this.running.get(requestId)?.response?.taken(bytes);
  }

  cancel(requestId: string): void {
    this.running.get(requestId)?.controller.abort();
  }

  /** Cancels everything and resolves when nothing runs. */
  async drain(): Promise<void> {
    const all = [...this.running.values()];
    for (const { controller } of all) controller.abort();
    await Promise.all(all.map(({ ended }) => ended));
  }

  /** None begins while the task runs. */
  async closedFor<T>(task: () => Promise<T>): Promise<T> {
    this.closed++;
    try {
      return await task();
    } finally {
      this.closed--;
    }
  }
}

// LoRA adapters. Those of the settings have the scales of the settings: what the cache holds, and what is saved of it, was computed
// with them, for chats too. Those that options of llama-server chose are the requests' own, as there.

function requireOwnScales(handler: string, body: string, adapters: readonly AdapterInUse[]): void {
  const changes = handler === 'post_lora_adapters' || (body.includes('"lora"') && 'lora' in parseObject(body));
  if (!changes || !adapters.some(({ byOption }) => !byOption)) return;
  throw new ConcertinaError(
    'bad-request',
    msg`The scales of these LoRA adapters are set in the app, by --lora or for the model; requests cannot change them.`,
    msg`Leave “lora” out, or start concertina serve with -- --lora-scaled FILE:SCALE.`,
  );
}

/** Clients are not told where files lie. */
function withoutFolders(part: ApiPart): ApiPart {
  try {
    const list = z.array(z.looseObject({ path: z.string() })).parse(JSON.parse(part.data));
    return { ...part, data: JSON.stringify(list.map((one) => ({ ...one, path: basename(one.path) }))) };
  } catch {
    return part;
  }
}

function ended(): ConcertinaError {
  return new ConcertinaError('cancelled', msg`The response was ended before it was complete.`, msg`Ask again.`);
}

// Texts that people and documents write, in the bodies of requests that a chat template makes a prompt of.

const chat = ['messages', 'tools'];
const responses = ['instructions', 'input', 'tools'];
const anthropic = ['system', 'messages', 'tools'];

/** Fields of the body that hold such texts, by handler; one that is not here takes its prompt as it is. */
const textFields: Record<string, readonly string[]> = {
  post_chat_completions: chat,
  post_chat_completions_tok: chat,
  post_apply_template: chat,
  post_responses_oai: responses,
  post_responses_tok_oai: responses,
  post_anthropic_messages: anthropic,
  post_anthropic_count_tokens: anthropic,
};

/**
 * Every string below these fields loses its marks, whatever form the message has: a role or the name of a tool reaches the
 * prompt as a text does. A body without marks keeps its bytes. Throws `bad-request` where it is no object: a reader that is
 * less strict would find texts in it.
 */
export function withoutMarks(body: string, fields: readonly string[], marks: Marks): string {
  const asked = Object.entries(parseObject(body));
  const broken = asked.map(([key, value]) => [key, fields.includes(key) ? withoutMarksIn(value, marks) : value]);
  const changed = broken.some(([, value], index) => value !== asked[index]?.[1]);
  return changed ? JSON.stringify(Object.fromEntries(broken)) : body;
}

// What clients of the Messages API say in words that the handlers do not know.

interface MessagesBody {
  output_config?: { format?: { type?: string; schema?: unknown } };
  thinking?: { type?: string };
  chat_template_kwargs?: Record<string, unknown>;
}

/** The schema of an answer under the name that the handlers know, and no thinking where the client wants none. */
export function asHandlersRead(body: string): string {
  const asked: MessagesBody = parseObject(body);
  const more: Record<string, unknown> = {};
  const { type, schema } = asked.output_config?.format ?? {};
  if (type === 'json_schema') more.response_format = { type, json_schema: { schema } };
  if (asked.thinking?.type === 'disabled') {
    more.chat_template_kwargs = { enable_thinking: false, ...asked.chat_template_kwargs };
  }
  return Object.keys(more).length === 0 ? body : JSON.stringify({ ...asked, ...more });
}

function parseObject(body: string): Record<string, unknown> {
  let value: unknown = null;
  try {
    value = JSON.parse(body);
  } catch {
    // said below
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw new ConcertinaError('bad-request', msg`The body of the request is not a JSON object.`);
}
