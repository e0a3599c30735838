/**
 * Questions to the hub and to the hosts that it sends us to. Redirects are followed here, because the token goes to the hub alone and
 * because the first answer of several tells what the file is. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honored.
 */

import type { Readable } from 'node:stream';
import { msg } from '@lingui/core/runtime-macro';
import type { Dispatcher, request } from 'undici';
import type { z } from 'zod';
import { ConcertinaError, type ErrorCode } from '../../contract/errors';
import type { Translatable } from '../../contract/lib/language';
import { troubleOf } from '../../contract/lib/systemErrors';
import { countSchema } from '../../contract/limits';

const maxRedirects = 6;
const maxJsonBytes = 32 * 1024 * 1024;
const redirects = new Set([301, 302, 303, 307, 308]);

interface HubHttpOptions {
  endpoint: URL;
  token: () => string | null;
  userAgent: string;
  environment?: NodeJS.ProcessEnv;
  /** ms without an answer, or without a byte of it, after which a connection counts as dead */
  stallMs?: number;
}

interface Question {
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** named in refusals */
  repo?: string | null;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** must be read to its end or destroyed */
  body: Readable;
  /** what the hub itself said of the file before it sent us on; its checksum is the entity tag of a large file */
  linked: { etag: string | null; bytes: number | null; commit: string | null };
}

export class HubHttp {
  readonly endpoint: URL;
  /** what the endpoint is asked through, for people; null: nothing */
  readonly proxy: string | null;
  private connecting: Promise<Connections> | null = null;

  constructor(private readonly options: HubHttpOptions) {
    this.endpoint = options.endpoint;
    this.proxy = proxyFor(this.endpoint, options.environment ?? process.env);
  }

  get hasToken(): boolean {
    return this.options.token() !== null;
  }

  /** Any answer below 400. Throws `HubError`, or `AbortError` when `signal` says so. */
  async open(path: string, { headers = {}, signal, repo = null }: Question = {}): Promise<Answer> {
    let url = new URL(path, this.endpoint);
    const linked: Answer['linked'] = { etag: null, bytes: null, commit: null };
    for (let hops = 0; hops <= maxRedirects; hops++) {
      const answer = await this.ask(url, headers, signal);
      const told = single(answer.headers);
      linked.etag ??= told['x-linked-etag'] ?? null;
      linked.bytes ??= countSchema.safeParse(Number(told['x-linked-size'])).data ?? null;
      linked.commit ??= told['x-repo-commit'] ?? null;
      const { statusCode: status, body } = answer;
      if (status < 300 || status === 304) return { status, headers: told, body, linked };
      await drop(body);
      if (!redirects.has(status)) throw this.refusal(status, told, url, repo);
      url = nextOf(url, told.location);
    }
    throw new HubError('network-failed', `${this.endpoint.host} sends us around in a circle.`, 'Try again later.');
  }

  async json<T extends z.ZodType>(
    path: string,
    schema: T,
    question: Question = {},
  ): Promise<{ value: z.output<T>; headers: Headers }> {
    const { text, headers } = await this.text(path, question);
    try {
      return { value: schema.parse(JSON.parse(text)), headers };
    } catch (cause) {
      const message = `${this.endpoint.host} gave an answer that is not understood.`;
      throw new HubError('network-failed', message, 'A mirror of HF_ENDPOINT must answer as the hub does.', { cause });
    }
  }

  async text(
    path: string,
    { headers, ...question }: Question = {},
    maxBytes = maxJsonBytes,
  ): Promise<{ text: string; headers: Headers }> {
    const answer = await this.open(path, { headers: { accept: 'application/json, text/*', ...headers }, ...question });
    const pieces: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const piece of answer.body as AsyncIterable<Buffer>) {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > maxBytes) break;
      }
    } catch (error) {
      throw question.signal?.aborted ? error : connectionError(error, this.endpoint.host);
    }
    return { text: Buffer.concat(pieces).toString('utf8', 0, Math.min(bytes, maxBytes)), headers: answer.headers };
  }

  async close(): Promise<void> {
    const { dispatcher } = (await this.connecting) ?? {};
    await dispatcher?.destroy();
  }

  private async ask(url: URL, headers: Record<string, string>, signal: AbortSignal | undefined) {
    const token = this.options.token();
    const own = url.origin === this.endpoint.origin && token !== null ? { authorization: `Bearer ${token}` } : {};
    const all = { 'user-agent': this.options.userAgent, 'accept-encoding': 'identity', ...headers, ...own };
    this.connecting ??= connections(this.options);
    const { dispatcher, request } = await this.connecting;
    try {
      const answer = await request(url, { dispatcher, headers: all, ...(signal ? { signal } : {}) });
      // a line that is cut before anyone reads must not end the app; whoever reads gets the error all the same
      answer.body.on('error', () => undefined);
      return answer;
    } catch (error) {
      throw signal?.aborted ? error : connectionError(error, url.host);
    }
  }

  private refusal(status: number, headers: Headers, url: URL, repo: string | null): HubError {
    const { host } = url;
    if (url.origin === this.endpoint.origin) return refusalOf({ status, headers, host, repo, hasToken: this.hasToken });
    // a signed address has run out: the hub gives a new one
    if ([400, 401, 403, 404, 410].includes(status)) {
      const message = `${host} does not give the file out any more (${status}).`;
      return new HubError('network-failed', message, 'Try again later.', { retriable: true });
    }
    return refusalOf({ status, headers, host, repo: null, hasToken: false });
  }
}

interface Connections {
  request: typeof request;
  dispatcher: Dispatcher;
}

/** Loaded with the first question: it is a hundred modules, and most starts of the app, of the server and of commands ask nothing. */
async function connections({ environment = process.env, stallMs = 30_000 }: HubHttpOptions): Promise<Connections> {
  const { Agent, EnvHttpProxyAgent, request } = await import('undici');
  const limits = { bodyTimeout: stallMs, headersTimeout: stallMs, connect: { timeout: Math.min(stallMs, 15_000) } };
  const value = (name: string) => environment[name.toLowerCase()] || environment[name] || '';
  const proxies = { httpProxy: value('HTTP_PROXY'), httpsProxy: value('HTTPS_PROXY'), noProxy: value('NO_PROXY') };
  const proxied = proxies.httpProxy !== '' || proxies.httpsProxy !== '';
  return { request, dispatcher: proxied ? new EnvHttpProxyAgent({ ...limits, ...proxies }) : new Agent(limits) };
}

function nextOf(url: URL, location: string | undefined): URL {
  const next = location === undefined ? null : urlOrNull(location, url);
  // what began encrypted stays so
  if (!next || (next.protocol !== 'https:' && next.protocol !== url.protocol)) {
    throw new HubError('network-failed', `${url.host} sends us to no usable address.`, 'Try again later.');
  }
  return next;
}

function single(headers: Record<string, string | string[] | undefined>): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : value,
    ]),
  );
}

/** Lets the connection be used again where the rest is short. */
async function drop(body: Dispatcher.ResponseData['body']): Promise<void> {
  await body.dump({ limit: 65_536 }).catch(() => undefined);
}

// Where the hub is. The one place that knows the address of the usual one.

const usual = 'https://huggingface.co';
const own = new Set(['localhost', '127.0.0.1', '[::1]']);

/** HF_ENDPOINT names a mirror. Throws `bad-request` when it is no address that a token could be sent to. */
export function endpointOf(environment: NodeJS.ProcessEnv): URL {
  const asked = environment.HF_ENDPOINT?.trim() || usual;
  const url = urlOrNull(asked);
  const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && own.has(url.hostname));
  if (!url || !safe || url.username !== '' || url.password !== '') {
    throw new ConcertinaError(
      'bad-request',
      msg`HF_ENDPOINT is not an address that can be used.`,
      msg`It begins with https:// and has no name or password in it (http:// only for this machine).`,
    );
  }
  url.pathname = url.pathname.replace(/\/*$/, '/');
  url.search = '';
  url.hash = '';
  return url;
}

/**
 * The proxy that the environment names for an address, by the same rules as the network library (NO_PROXY holds whole names,
 * or endings that begin with a dot or a star). Without the name and password that may be in it; null: none.
 */
export function proxyFor({ protocol, hostname, port }: URL, environment: NodeJS.ProcessEnv): string | null {
  const read = (name: string) => environment[name.toLowerCase()] ?? environment[name] ?? '';
  const named = (protocol === 'https:' && read('HTTPS_PROXY')) || read('HTTP_PROXY');
  const proxy = urlOrNull(named);
  if (!proxy) return null;
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  const spared = read('NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      const [host = '', only = usedPort] = entry.split(':');
      if (host === '' || only !== usedPort) return false;
      return /^[.*]/.test(host) ? hostname.endsWith(host.replace(/^\*/, '')) : hostname === host;
    });
  return spared ? null : proxy.host;
}

/** Null: no address. What `URL.parse` does, which the Node of the tests' Electron does not have. */
export function urlOrNull(address: string, base?: URL): URL | null {
  try {
    return new URL(address, base);
  } catch {
    return null;
  }
}

// What an answer of the hub that is no success means to a person, and whether trying again can help.

type Headers = Readonly<Record<string, string | undefined>>;

interface RefusalFacts {
  status: number;
  headers: Headers;
  host: string;
  /** `owner/name`; null: it was no question about one model */
  repo: string | null;
  hasToken: boolean;
}

const longestWaitMs = 15 * 60_000;

export class HubError extends ConcertinaError {
  /** the same question may have another answer later */
  readonly retriable: boolean;
  /** what the hub asks for; null: it does not say */
  readonly retryAfterMs: number | null;

  constructor(
    code: ErrorCode,
    message: Translatable,
    hint: Translatable,
    { retriable = false, retryAfterMs = null as number | null, cause = undefined as unknown } = {},
  ) {
    super(code, message, hint, { cause });
    this.name = 'HubError';
    this.retriable = retriable;
    this.retryAfterMs = retryAfterMs;
  }
}

function refusalOf({ status, headers, host, repo, hasToken }: RefusalFacts): HubError {
  const code = headers['x-error-code'];
  const model = repo ?? 'This model';
  if (status === 429) {
    const retryAfterMs = retryAfter(headers['retry-after'], Date.now());
    const account = hasToken ? '' : ' With an access token it allows more.';
    return new HubError('rate-limited', `${host} asks for a pause: too many questions.`, `Try again later.${account}`, {
      retriable: true,
      retryAfterMs,
    });
  }
  if (code === 'GatedRepo' || (status === 403 && repo)) return gated(model, host, hasToken);
  if (status === 404 || code === 'RepoNotFound') return missing(code, model, host, hasToken);
  if (status === 401) {
    return hasToken
      ? new HubError('access-denied', `${host} does not accept your access token.`, 'Save a new one in the settings.')
      : new HubError('access-denied', `${host} wants an access token for ${model}.`, tokenHint);
  }
  if (status === 403) {
    return new HubError('access-denied', `${host} refuses this (403).`, 'Check the access token and its rights.');
  }
  if (status === 408 || status >= 500) {
    const retryAfterMs = retryAfter(headers['retry-after'], Date.now());
    return new HubError('network-failed', `${host} has a problem at the moment (${status}).`, 'Try again later.', {
      retriable: true,
      retryAfterMs,
    });
  }
  return new HubError('network-failed', `${host} gave an answer that is not understood (${status}).`, addressHint);
}

const tokenHint = 'Save one in the settings (without a window: the environment variable HF_TOKEN).';
const addressHint = 'Check the connection, and HF_ENDPOINT and HTTPS_PROXY where they are set.';

function gated(model: string, host: string, hasToken: boolean): HubError {
  const hint = hasToken
    ? `Ask for access on its page at ${host} with the account of your token; some authors take days to answer.`
    : `Agree to its terms on its page at ${host}. ${tokenHint}`;
  return new HubError('access-denied', `${model} is given only to people who agreed to its terms.`, hint);
}

function missing(code: string | undefined, model: string, host: string, hasToken: boolean): HubError {
  if (code === 'EntryNotFound') {
    return new HubError('not-found', `${model} has no such file any more.`, 'Look at its page again.');
  }
  if (code === 'RevisionNotFound') {
    return new HubError('not-found', `${model} has no such revision.`, 'Look at its page again.');
  }
  const hint = hasToken ? 'Check the name.' : 'Check the name. A private model needs an access token.';
  return new HubError('not-found', `There is no model ${model} at ${host}, or it is not public.`, hint);
}

/** Seconds, or a date. */
function retryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(longestWaitMs, Math.max(0, ms)) : null;
}

/** A connection that failed. Messages of the network library stay behind: they may quote addresses with signatures. */
export function connectionError(error: unknown, host: string): HubError {
  const trouble = troubleOf(error);
  const certificate = trouble?.kind === 'certificate';
  const why = trouble?.why ?? msg`the connection failed`;
  const hint = certificate ? trouble.remedy : addressHint;
  // the code alone, for the log
  const cause = trouble ? Object.assign(new Error(trouble.code), { code: trouble.code }) : undefined;
  return new HubError('network-failed', msg`${{ host }}: ${{ why }}.`, hint, { retriable: !certificate, cause });
}
