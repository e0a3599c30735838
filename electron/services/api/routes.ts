/**
 * Paths of the API, as llama-server registers them (tools/server/server.cpp), and who answers each. Not here, and so not found:
 * its tools, its proxy, MCP, streams that outlive their connection, transcriptions, and a router's loading of models.
 */
import { urlPath } from '../lib/staticFiles';

/** `anthropic`: errors have the form of the Messages API */
export type Dialect = 'openai' | 'anthropic';

export interface Route {
  method: 'GET' | 'POST';
  /** member of `server_routes`; `health` and `models` we answer ourselves */
  handler: string;
  dialect: Dialect;
  /** of the path, decoded */
  params: Record<string, string>;
}

/** They answer without a key. */
const publicHandlers = new Set(['health']);

/** Their bodies may be empty: what they do stands in the address. */
const bodiless = new Set(['post_slots', 'post_props']);

const gets: Record<string, readonly string[]> = {
  health: ['/health', '/v1/health'],
  models: ['/models', '/v1/models'],
  get_metrics: ['/metrics'],
  get_props: ['/props'],
  get_slots: ['/slots'],
  get_lora_adapters: ['/lora-adapters'],
};

const posts: Record<string, readonly string[]> = {
  post_props: ['/props'],
  post_completions: ['/completion', '/completions'],
  post_completions_oai: ['/v1/completions'],
  post_chat_completions: ['/chat/completions', '/v1/chat/completions'],
  post_chat_completions_tok: ['/chat/completions/input_tokens', '/v1/chat/completions/input_tokens'],
  post_control: ['/v1/chat/completions/control'],
  post_responses_oai: ['/responses', '/v1/responses'],
  post_responses_tok_oai: ['/responses/input_tokens', '/v1/responses/input_tokens'],
  post_anthropic_messages: ['/v1/messages'],
  post_anthropic_count_tokens: ['/v1/messages/count_tokens'],
  post_infill: ['/infill'],
  post_embeddings: ['/embedding', '/embeddings'],
  post_embeddings_oai: ['/v1/embeddings'],
  post_rerank: ['/rerank', '/reranking', '/v1/rerank', '/v1/reranking'],
  post_tokenize: ['/tokenize'],
  post_detokenize: ['/detokenize'],
  post_apply_template: ['/apply-template'],
  post_lora_adapters: ['/lora-adapters'],
  post_slots: ['/slots/:id_slot'],
};

interface Entry {
  method: Route['method'];
  handler: string;
  /** of the path; a parameter has a name */
  parts: { text: string; name: string | null }[];
}

const table: Entry[] = [entriesOf('GET', gets), entriesOf('POST', posts)].flat();

function entriesOf(method: Route['method'], paths: Record<string, readonly string[]>): Entry[] {
  return Object.entries(paths).flatMap(([handler, all]) =>
    all.map((path) => ({
      ...{ method, handler },
      parts: path.split('/').map((text) => ({ text, name: text.startsWith(':') ? text.slice(1) : null })),
    })),
  );
}

/** Null: there is no such path, or not with this method. `target`: of the request line; a HEAD is asked for as a GET. */
export function routeOf(method: string, target: string): Route | null {
  const path = urlPath(target);
  if (path === null) return null;
  const asked = method === 'HEAD' ? 'GET' : method;
  for (const entry of table) {
    const params = entry.method === asked ? paramsOf(entry, path) : null;
    if (params) return { method: entry.method, handler: entry.handler, dialect: dialectOf(target), params };
  }
  return null;
}

/** Whether the API answers it, where the page is served on the same port: its own paths, and all that a page never asks for. */
export function isApiTarget(method: string, target: string): boolean {
  const path = urlPath(target);
  if (path === null) return false;
  return path.startsWith('/v1/') || (path !== '/' && method === 'POST') || table.some((entry) => paramsOf(entry, path));
}

/** How an error of this path is told, whether there is such a path or not. */
export function dialectOf(target: string): Dialect {
  return /^\/v1\/messages(?:[/?]|$)/.test(target) ? 'anthropic' : 'openai';
}

export function isPublic({ handler }: Route): boolean {
  return publicHandlers.has(handler);
}

export function mayBeBodiless({ handler }: Route): boolean {
  return bodiless.has(handler);
}

function paramsOf({ parts }: Entry, path: string): Record<string, string> | null {
  const asked = path.split('/');
  if (asked.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [index, { text, name }] of parts.entries()) {
    const value = asked[index] ?? '';
    if (name !== null && value !== '') params[name] = value;
    else if (value !== text) return null;
  }
  return params;
}
