/** How fast this machine reads a prompt and moves a cache to and from the disk: measured where it can be, else supposed. */

import { type GenerateRequest, promptOptionsIn } from '../../contract/engineContract';
import { commonPrefix } from '../contextReuse';
import type { Model } from '../native/types';

/** before anything was measured; on the slow side for the disk and the fast side for the model, so that little is moved in vain */
const supposed = { readTokens: 1000, saveBytes: 200e6, restoreBytes: 400e6 };
/** of smaller files and prompts, the time is that of everything else */
const measurableBytes = 4e6;
const measurableTokens = 256;
/** of opening, checking and renaming files */
const fixedMs = 3;
/** spared time must be this many times what it costs */
const margin = 2;

export class Rates {
  private saveBytes = supposed.saveBytes;
  private restoreBytes = supposed.restoreBytes;
  private readTokens = 0;

  /** tokens per second of the prompts that were read last; 0: not measured */
  get readingRate(): number {
    return this.readTokens;
  }

  /** Another model, or another context. */
  forgetReading(): void {
    this.readTokens = 0;
  }

  read(tokens: number, perSecond: number): void {
    if (tokens >= measurableTokens && perSecond > 0) this.readTokens = perSecond;
  }

  saved(bytes: number, ms: number): void {
    if (bytes >= measurableBytes && ms > 0) this.saveBytes = (bytes / ms) * 1000;
  }

  restored(bytes: number, ms: number): void {
    if (bytes >= measurableBytes && ms > 0) this.restoreBytes = (bytes / ms) * 1000;
  }

  saveMs(bytes: number): number {
    return fixedMs + (bytes / this.saveBytes) * 1000;
  }

  /** Writing `bytes` now is clearly less than reading `tokens` again would be. */
  worthSaving(tokens: number, bytes: number): boolean {
    return this.readMs(tokens, 0) > margin * this.saveMs(bytes);
  }

  /** `knownRate`: at which the session was read, for as long as nothing was measured in this context */
  worthRestoring(tokens: number, bytes: number, knownRate: number): boolean {
    return this.readMs(tokens, knownRate) > margin * this.restoreMs(bytes);
  }

  restoreMs(bytes: number): number {
    return fixedMs + (bytes / this.restoreBytes) * 1000;
  }

  /** Milliseconds that restoring spares. */
  gain(tokens: number, bytes: number, knownRate: number): number {
    return this.readMs(tokens, knownRate) - this.restoreMs(bytes);
  }

  private readMs(tokens: number, knownRate: number): number {
    return (tokens / (this.readTokens || knownRate || supposed.readTokens)) * 1000;
  }
}

// How much of a prompt a cache spares: what begins alike.

/**
 * Tokens of the prompt that need not be read again when the cache holds `held`. `rewinds`: the cache can forget its last
 * tokens; where it cannot (sliding window, recurrent state) all of them must be continued, or those up to a checkpoint.
 */
export function sparedBy(
  held: Int32Array,
  prompt: Int32Array,
  rewinds: boolean,
  checkpoints: ArrayLike<number> = [],
): number {
  const common = commonPrefix(held, prompt);
  if (rewinds || common === held.length) return common;
  return Math.max(0, ...Array.from(checkpoints).filter((length) => length <= common));
}

export function continues(held: Int32Array, prompt: Int32Array): boolean {
  return held.length > prompt.length && commonPrefix(held, prompt) === prompt.length;
}

/**
 * Where the documents end that the prompt of `held` begins with, the first `known` left out: in tokens, as many as are the
 * same whatever question follows. One that was not read to its end, because its answer was stopped, is none.
 */
export async function beginnings(
  model: Pick<Model, 'chatTokens'>,
  request: GenerateRequest,
  tokens: Int32Array,
  known: number,
) {
  const at = request.messages.findIndex(({ role }) => role === 'user');
  const { content = '', documents = [] } = request.messages[at] ?? {};
  const { continueFrom: _, ...options } = promptOptionsIn(request);
  const found: { documents: { id: string; name: string }[]; end: number }[] = [];
  for (let index = known; index < documents.length; index++) {
    const text = content.slice(0, documents[index]?.end);
    const asked = (question: string) =>
      model.chatTokens([...request.messages.slice(0, at), { role: 'user', content: text + question }], options);
    const [one, other] = [await asked('a'), await asked('1')];
    const whole = commonPrefix(one, other);
    if (tokens.length < whole) break;
    const end = Math.min(whole, commonPrefix(one, tokens));
    found.push({ documents: documents.slice(0, index + 1).map(({ id, name }) => ({ id, name })), end });
  }
  return found;
}

// Runs a task once nothing has been asked for a while.

/** Does the task after so many milliseconds, unless it is canceled by what comes back. */
export type After = (ms: number, task: () => void) => () => void;

const afterwards: After = (ms, task) => {
  const timer = setTimeout(task, ms).unref();
  return () => clearTimeout(timer);
};

export class IdleTimer {
  /** null: it does not run */
  private cancel: (() => void) | null = null;

  constructor(
    private readonly ms: number,
    private readonly task: () => void,
    private readonly after: After = afterwards,
  ) {}

  /** Starts the wait, or restarts it. */
  start(): void {
    this.stop();
    this.cancel = this.after(this.ms, () => {
      this.cancel = null;
      this.task();
    });
  }

  startIfStopped(): void {
    if (!this.cancel) this.start();
  }

  stop(): void {
    this.cancel?.();
    this.cancel = null;
  }
}
