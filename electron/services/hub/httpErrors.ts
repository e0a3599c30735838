/** What an answer of the hub that is no success means to a person, and whether trying again can help. */
import { ConcertinaError, type ErrorCode } from '../../contract/errors';

export type Headers = Readonly<Record<string, string | undefined>>;

export interface RefusalFacts {
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
    message: string,
    hint: string,
    { retriable = false, retryAfterMs = null as number | null, cause = undefined as unknown } = {},
  ) {
    super(code, message, hint, { cause });
    this.name = 'HubError';
    this.retriable = retriable;
    this.retryAfterMs = retryAfterMs;
  }
}

export function refusalOf({ status, headers, host, repo, hasToken }: RefusalFacts): HubError {
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
export const addressHint = 'Check the connection, and HF_ENDPOINT and HTTPS_PROXY where they are set.';

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
export function retryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.min(longestWaitMs, Math.max(0, ms)) : null;
}

const sentences: Record<string, string> = {
  ENOTFOUND: 'there is no such address, or no network',
  EAI_AGAIN: 'there is no network',
  ENETUNREACH: 'there is no network',
  EHOSTUNREACH: 'there is no way to it',
  ECONNREFUSED: 'it does not take the connection',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the connection was cut',
  ETIMEDOUT: 'it does not answer',
  UND_ERR_CONNECT_TIMEOUT: 'it does not answer',
  UND_ERR_HEADERS_TIMEOUT: 'it does not answer',
  UND_ERR_BODY_TIMEOUT: 'nothing arrives any more',
};

/** A connection that failed. Messages of the network library stay behind: they may quote addresses with signatures. */
export function connectionError(error: unknown, host: string): HubError {
  const code = codeOf(error);
  const known = sentences[code];
  const certificate = /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code);
  const why = known ?? (certificate ? `its certificate is not trusted (${code})` : `the connection failed (${code})`);
  const hint = certificate ? 'Behind a company proxy, name its certificate with NODE_EXTRA_CA_CERTS.' : addressHint;
  return new HubError('network-failed', `${host}: ${why}.`, hint, { retriable: !certificate });
}

function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause ? codeOf(cause) : 'unknown';
}
