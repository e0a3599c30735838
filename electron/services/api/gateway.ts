/**
 * The API over HTTP, wherever it listens: who may ask, within which limits, and the way of a response to a client that reads
 * slowly, or no longer. What it says where something is wrong is what llama-server says (tools/server/server-http.cpp).
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerOptions, ServerResponse } from 'node:http';
import { messageOf, stackOf } from '../../contract/errors';
import type { Logger } from '../lib/logger';
import { type Cors, corsHeaders, hasKey, isOwnHost, mayAsk, preflightHeaders } from './access';
import { ApiError, inDialect, noSuchPath, notLoaded, toApiError } from './apiError';
import { type After, type ApiService, afterTimer, type OnPart } from './apiService';
import { ResponsesEvents } from './responsesEvents';
import { type Dialect, dialectOf, isApiTarget, isPublic, mayBeBodiless, type Route, routeOf } from './routes';

export interface GatewayOptions {
  service: Pick<ApiService, 'answer' | 'look' | 'models' | 'isReady'>;
  /** that clients must show; null: none */
  key: string | null;
  cors: Cors;
  /** that the server listens on */
  hosts: readonly string[];
  log: Logger;
  limits?: Partial<GatewayLimits>;
  after?: After;
}

interface GatewayLimits {
  /** of a body: several books */
  bodyBytes: number;
  /** that run or wait */
  requests: number;
  /** milliseconds in which a client that is sent something reads nothing */
  stallMs: number;
}

const usualLimits: GatewayLimits = { bodyBytes: 64 * 2 ** 20, requests: 64, stallMs: 60_000 };

/** Of a server that the gateway is part of: a client that sends slowly must not keep its connection for ever. */
export const slowClients = { headersTimeout: 30_000, requestTimeout: 300_000 } satisfies ServerOptions;

export interface Gateway {
  /** False: the request is none of the API, and somebody else answers it. `port`: that the server listens on */
  handle(request: IncomingMessage, response: ServerResponse, port: number): boolean;
}

export function createGateway(options: GatewayOptions): Gateway {
  const { service, key, cors, hosts, log, after = afterTimer } = options;
  const limits = { ...usualLimits, ...options.limits };
  let running = 0;
  /** ends each request whose body is still on its way, the one that has come for the longest first */
  const coming: Coming = new Set();

  async function answer(request: IncomingMessage, response: ServerResponse, port: number): Promise<void> {
    const { method = '', url = '' } = request;
    // a page that may ask does so by CORS; as an image or a script nobody's page gets an answer
    response.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    if (!isOwnHost(request, port, hosts)) throw forbidden('This host name is not served.');
    const allowed = mayAsk(request, port, cors);
    for (const [name, value] of Object.entries(corsHeaders(request, allowed))) response.setHeader(name, value ?? '');
    // browsers show no key when they ask beforehand
    if (method === 'OPTIONS') return void response.writeHead(200, preflightHeaders).end();
    if (!allowed)
      throw forbidden(
        'Pages of this origin may not ask. `concertina serve --cors ORIGIN` lets them, and so does the window.',
      );
    const route = routeOf(method, url);
    if (!(route && isPublic(route)) && !hasKey(request, key)) {
      throw new ApiError(401, 'authentication_error', 'Invalid API Key');
    }
    if (!route) throw noSuchPath();
    if (route.handler === 'health') {
      if (!service.isReady()) throw notLoaded();
      return sendJson(response, 200, JSON.stringify({ status: 'ok' }));
    }
    // whoever sends slowly keeps nobody out
    const [slowest] = running >= limits.requests ? coming : [];
    if (slowest) slowest();
    else if (running >= limits.requests) {
      const message = `${limits.requests} requests run already. Ask again when one of them has ended.`;
      throw new ApiError(429, 'rate_limit_error', message, 429, { 'Retry-After': '1' });
    }
    running++;
    try {
      await run(route, request, response);
    } finally {
      running--;
    }
  }

  async function run(route: Route, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    if (route.handler === 'models') {
      return sendJson(response, 200, JSON.stringify(await service.models(gone.signal)));
    }
    const body = route.method === 'POST' ? await readBody(request, limits.bodyBytes, coming) : '';
    const needed = route.method === 'POST' && !(body === '' && mayBeBodiless(route));
    const named = needed ? modelNamedIn(body) : null;
    const sender = new Sender(response, route, () => after(limits.stallMs, () => response.destroy()));
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://host');
    const asked = {
      ...{ handler: route.handler, path: pathname, query: searchParams.toString(), body },
      params: { ...Object.fromEntries(searchParams), ...route.params },
    };
    try {
      const onPart: OnPart = (part, taken) => sender.add(part, taken);
      if (route.method === 'GET') await service.look(asked, onPart, gone.signal);
      else await service.answer(asked, { named, client: request.headers['user-agent'] ?? '' }, onPart, gone.signal);
      sender.end();
    } catch (error) {
      if (!sender.hasBegun) throw error;
      sender.breakOff(error);
    }
  }

  /** It may go wrong after the beginning of a response, and after its client has gone. */
  function fail(error: unknown, dialect: Dialect, response: ServerResponse): void {
    if (response.destroyed) return;
    const problem = toApiError(error);
    if (problem.status === 500) log.error(`a request of the API failed: ${stackOf(error)}`);
    if (response.headersSent) response.destroy();
    else sendJson(response, problem.status, problem.body(dialect), problem.headers);
  }

  return {
    handle(request, response, port) {
      const { method = '', url = '' } = request;
      if (!isApiTarget(method, url)) return false;
      answer(request, response, port).catch((error: unknown) => fail(error, dialectOf(url), response));
      return true;
    },
  };
}

function forbidden(message: string): ApiError {
  return new ApiError(403, 'permission_error', message);
}

function sendJson(response: ServerResponse, status: number, text: string, headers: OutgoingHttpHeaders = {}): void {
  response.writeHead(status, { ...headers, ...json, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

const json = { 'Content-Type': 'application/json; charset=utf-8', 'X-Content-Type-Options': 'nosniff' };

// The body of a request: read within limits, and checked before anything is done with it.

type Coming = Set<() => void>;

/**
 * Also where the client does not say how long it is. Rejects with an `ApiError`, when the client goes, and when another one wants
 * its place.
 */
async function readBody(request: IncomingMessage, maxBytes: number, coming: Coming): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let giveWay = (): void => undefined;
  await new Promise<void>((resolve, reject) => {
    giveWay = () => {
      coming.delete(giveWay);
      reject(tooSlow());
    };
    coming.add(giveWay);
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) chunks.push(chunk);
      else reject(tooLarge(maxBytes));
    });
    request.on('end', resolve);
    request.on('error', reject);
    request.on('close', () => reject(new ApiError(400, 'invalid_request_error', 'The request ended early.')));
  }).finally(() => coming.delete(giveWay));
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new ApiError(400, 'invalid_request_error', 'The body of the request is not UTF-8.');
  }
}

function tooLarge(maxBytes: number): ApiError {
  const message = `The body of the request is larger than ${Math.round(maxBytes / 2 ** 20)} MiB.`;
  // the rest of it is not waited for
  return new ApiError(413, 'request_too_large', message, 413, { Connection: 'close' });
}

function tooSlow(): ApiError {
  const message = 'The body of the request came too slowly, and others wait. Send it again.';
  return new ApiError(408, 'invalid_request_error', message, 408, { Connection: 'close' });
}

/** of arrays and objects in one another: readers that call themselves for each level have an end */
const maxDepth = 100;

/** @returns the model that it names; null: none. Throws an `ApiError` where it is no JSON. */
function modelNamedIn(body: string): string | null {
  if (depthOf(body) > maxDepth) {
    throw new ApiError(400, 'invalid_request_error', `The JSON is nested deeper than ${maxDepth} levels.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw new ApiError(400, 'invalid_request_error', `The body of the request is not JSON: ${messageOf(error)}`);
  }
  const { model } = (value ?? {}) as { model?: unknown };
  return typeof model === 'string' && model !== '' ? model : null;
}

/** Before it is parsed: a body of nothing but brackets would take many times its size. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index++) {
    const sign = text[index];
    if (sign === '"') index = endOfString(text, index);
    else if (sign === '[' || sign === '{') deepest = Math.max(deepest, ++depth);
    else if (sign === ']' || sign === '}') depth--;
  }
  return deepest;
}

/** Of the quotation mark that ends the string that begins there; brackets in between count for nothing. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

function isEscaped(text: string, index: number): boolean {
  let backslashes = 0;
  while (text[index - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

// The parts of one response on their way to its client. What the engine is told of as taken has left our memory.

/** bytes that are told of together: the engine goes on with 256 KiB ahead */
const reportBytes = 32 * 1024;

class Sender {
  hasBegun = false;
  private isStream = false;
  /** a response that is no stream has its length in its head, where it comes in one part */
  private held: string | null = null;
  /** bytes that the connection has, or has not yet taken */
  private untold = 0;
  private tell: (bytes: number) => void = () => undefined;
  private stopWatch: (() => void) | null = null;
  private readonly dialect: Dialect;
  /** null: the events go on as they come */
  private readonly events: ResponsesEvents | null;

  constructor(
    private readonly response: ServerResponse,
    { dialect, handler }: Route,
    /** drops the client unless the result is called before */
    private readonly watch: () => () => void,
  ) {
    this.dialect = dialect;
    this.events = handler === 'post_responses_oai' ? new ResponsesEvents() : null;
    response.on('drain', () => this.onRead());
    response.on('close', () => this.stopWatch?.());
  }

  add({ status, contentType, headers, data }: Parameters<OnPart>[0], taken: (bytes: number) => void): void {
    if (this.response.destroyed) return;
    this.tell = taken;
    if (status !== null) this.begin(status, { ...headers, 'Content-Type': contentType });
    this.untold += Buffer.byteLength(data);
    if (status !== null && !this.isStream) {
      this.held = status >= 400 ? inDialect(data, this.dialect) : data;
      this.report(true);
    } else {
      this.write(`${this.held ?? ''}${this.isStream && this.events ? this.events.add(data) : data}`);
      this.held = null;
    }
  }

  end(): void {
    if (!this.hasBegun) throw new Error('The engine gave no response.');
    this.response.end(this.held ?? this.events?.end());
    if (!this.response.writableFinished) this.stopWatch ??= this.watch();
  }

  /** The client sees that this is not the end: an event says so, or the connection ends. */
  breakOff(error: unknown): void {
    if (this.isStream) this.response.end(toApiError(error).event(this.dialect));
    else if (this.held !== null) sendFailure(this.response, toApiError(error), this.dialect);
    else this.response.destroy();
  }

  private begin(status: number, headers: Record<string, string>): void {
    this.hasBegun = true;
    this.isStream = headers['Content-Type']?.startsWith('text/event-stream') === true;
    this.response.statusCode = status;
    this.response.setHeaders(new Map(Object.entries(headers)));
    this.response.setHeader('X-Content-Type-Options', 'nosniff');
    // a proxy in between is not to wait for the end
    if (this.isStream) this.response.setHeader('X-Accel-Buffering', 'no');
  }

  private write(data: string): void {
    if (this.response.write(data)) this.report(false);
    else this.stopWatch ??= this.watch();
  }

  private onRead(): void {
    this.stopWatch?.();
    this.stopWatch = null;
    this.report(true);
  }

  private report(all: boolean): void {
    if (this.untold === 0 || (!all && this.untold < reportBytes)) return;
    this.tell(this.untold);
    this.untold = 0;
  }
}

function sendFailure(response: ServerResponse, problem: ApiError, dialect: Dialect): void {
  sendJson(response, problem.status, problem.body(dialect), problem.headers);
}
