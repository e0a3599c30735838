/** What goes wrong with a request of the API, in the forms in which clients expect to be told. */
import { ConcertinaError, type ErrorCode, messageOf } from '../../contract/errors';
import type { Dialect } from './routes';

/** of llama-server (`format_error_response`), of the Messages API (413, 429) and of OpenAI's */
type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'server_error'
  | 'unavailable_error';

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: ErrorType,
    message: string,
    /** where a client looks for more than the status */
    readonly code: string | number = status,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }

  /**
   * The body: llama-server's form, which has what clients of OpenAI read; for the Messages API with what its clients look
   * for around it.
   */
  body(dialect: Dialect): string {
    const error = { code: this.code, message: this.message, type: this.type };
    return JSON.stringify(dialect === 'anthropic' ? { type: 'error', error } : { error });
  }

  /** The same in the middle of a stream of events. */
  event(dialect: Dialect): string {
    return `${dialect === 'anthropic' ? 'event: error\n' : ''}data: ${this.body(dialect)}\n\n`;
  }
}

/** As llama-server says it, also where nothing is on its way: clients know to ask again. */
export function notLoaded(message = 'Loading model'): ApiError {
  return new ApiError(503, 'unavailable_error', message);
}

export function noSuchPath(): ApiError {
  return new ApiError(404, 'not_found_error', 'File Not Found');
}

const statuses: Partial<Record<ErrorCode, number>> = {
  'bad-request': 400,
  'not-found': 404,
  cancelled: 503,
  busy: 503,
  'model-missing': 503,
  'out-of-memory': 503,
  'engine-unavailable': 503,
  'engine-crashed': 503,
};

const types: Record<number, ErrorType> = {
  400: 'invalid_request_error',
  404: 'not_found_error',
  503: 'unavailable_error',
};

/** Of anything that a service throws. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const status = (error instanceof ConcertinaError && statuses[error.code]) || 500;
  const message =
    error instanceof ConcertinaError ? `${error.message.replace(/\.$/, '')}. ${error.hint}`.trim() : messageOf(error);
  return new ApiError(status, types[status] ?? 'server_error', message);
}

// What the handlers of llama-server say is wrong, for clients of the Messages API: they read the form, and of one message the words.

interface TheirError {
  type?: string;
  message?: string;
  n_prompt_tokens?: number;
  n_ctx?: number;
}

/** `text`: the body of an error as llama-server writes it. */
export function inDialect(text: string, dialect: Dialect): string {
  const { error } = dialect === 'anthropic' ? parsed(text) : {};
  return error ? JSON.stringify({ type: 'error', error: asClientsKnow(error) }) : text;
}

function parsed(text: string): { error?: TheirError } {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

/** Claude Code shortens its conversation where it reads this sentence with its two numbers, and gives up on another one. */
function asClientsKnow(error: TheirError): TheirError {
  if (error.type !== 'exceed_context_size_error') return error;
  const message = `prompt is too long: ${error.n_prompt_tokens} tokens > ${error.n_ctx} maximum`;
  return { ...error, type: 'invalid_request_error' satisfies ErrorType, message };
}
