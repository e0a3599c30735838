/**
 * Questions to the hub and to the hosts that it sends us to. Redirects are followed here, because the token goes to the hub alone and
 * because the first answer of several tells what the file is. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured.
 */
import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici';
import type { z } from 'zod';
import { countSchema } from '../../contract/hub';
import { proxyFor } from './endpoint';
import { connectionError, type Headers, HubError, refusalOf } from './httpErrors';
import { urlOrNull } from './urlOrNull';

const maxRedirects = 6;
const maxJsonBytes = 32 * 1024 * 1024;
const redirects = new Set([301, 302, 303, 307, 308]);

export interface HubHttpOptions {
  endpoint: URL;
  token: () => string | null;
  userAgent: string;
  environment?: NodeJS.ProcessEnv;
  /** ms without an answer, or without a byte of it, after which a connection counts as dead */
  stallMs?: number;
}

export interface Question {
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
  private readonly dispatcher: Dispatcher;

  constructor(private readonly options: HubHttpOptions) {
    this.endpoint = options.endpoint;
    const { environment = process.env, stallMs = 30_000 } = options;
    const limits = { bodyTimeout: stallMs, headersTimeout: stallMs, connect: { timeout: Math.min(stallMs, 15_000) } };
    const value = (name: string) => environment[name.toLowerCase()] || environment[name] || '';
    const proxies = { httpProxy: value('HTTP_PROXY'), httpsProxy: value('HTTPS_PROXY'), noProxy: value('NO_PROXY') };
    const proxied = proxies.httpProxy !== '' || proxies.httpsProxy !== '';
    this.proxy = proxyFor(this.endpoint, environment);
    this.dispatcher = proxied ? new EnvHttpProxyAgent({ ...limits, ...proxies }) : new Agent(limits);
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

  close(): Promise<void> {
    return this.dispatcher.destroy();
  }

  private async ask(url: URL, headers: Record<string, string>, signal: AbortSignal | undefined) {
    const token = this.options.token();
    const own = url.origin === this.endpoint.origin && token !== null ? { authorization: `Bearer ${token}` } : {};
    const all = { 'user-agent': this.options.userAgent, 'accept-encoding': 'identity', ...headers, ...own };
    try {
      const answer = await request(url, { dispatcher: this.dispatcher, headers: all, ...(signal ? { signal } : {}) });
      // a line that is cut before anyone reads must not end the app; whoever reads is told all the same
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
