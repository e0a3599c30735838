/** Notices an engine process that is alive but does not answer. It only reports: slow work must not be ended. */

import { msg } from '@lingui/core/runtime-macro';
import type { Stall } from '../../contract/engine';
import { ConcertinaError } from '../../contract/errors';
import type { ProcessExit } from './engineTransport';

const tickMs = 5000;

/**
 * Ticks until a wait counts as a stall. A start compiles the GPU's kernels; what was canceled ends behind the batch
 * that is being read, which takes long on a slow processor.
 */
const limits: Record<Stall, number> = { start: 12, silent: 6, stop: 12 };

/** Counts ticks, not time: a machine that slept must not look like an engine that hangs. */
export class Watchdog {
  /** ticks that each wait has lasted */
  private readonly waits = new Map<Stall, number>();
  private timer: NodeJS.Timeout | null = null;
  private notified: Stall | null = null;

  /** `ping` asks the process for a sign of life, while there is a wait for `silent` */
  constructor(
    private readonly ping: () => void,
    private readonly notify: (stall: Stall | null) => void,
  ) {}

  /** `start`: for its first message; `silent`: for any message at all; `stop`: for the end of what was canceled. */
  begin(wait: Stall): void {
    this.waits.set(wait, 0);
    this.timer ??= setInterval(() => this.tick(), tickMs);
  }

  end(wait: Stall): void {
    this.waits.delete(wait);
    if (this.waits.size === 0) this.stopTimer();
    this.judge();
  }

  /** What is waited for has moved on, if it was waited for. */
  reset(wait: Stall): void {
    if (!this.waits.has(wait)) return;
    this.waits.set(wait, 0);
    this.judge();
  }

  /** The process is gone. */
  clear(): void {
    this.waits.clear();
    this.stopTimer();
    this.judge();
  }

  private tick(): void {
    for (const [wait, ticks] of this.waits) this.waits.set(wait, ticks + 1);
    this.judge();
    if (this.waits.has('silent')) this.ping();
  }

  private judge(): void {
    const over = [...this.waits].filter(([wait, ticks]) => ticks >= limits[wait]).map(([wait]) => wait);
    // a process that says nothing at all is the plainest of them
    const stall = over.find((wait) => wait !== 'stop') ?? over[0] ?? null;
    if (stall === this.notified) return;
    this.notified = stall;
    this.notify(stall);
  }

  private stopTimer(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }
}

// When a crashed engine process is started again: at most once a minute, and never into the same failure twice.

const minimumMs = 60_000;

/** What the process was doing. `startKey` before it was ready; else a text that names the load settings. */
export const startKey = 'start';

interface Crash {
  key: string;
  /** the system ended it for want of memory: the same load would end the same way */
  outOfMemory: boolean;
}

export interface RestartDecision {
  /** null: do not start it again by itself */
  delayMs: number | null;
  /** load the same model with the same settings again */
  reload: boolean;
}

export class RestartPolicy {
  private lastRestartAt = Number.NEGATIVE_INFINITY;
  private readonly crashes = new Map<string, number>();

  decide(crash: Crash, now: number): RestartDecision {
    const count = (this.crashes.get(crash.key) ?? 0) + 1;
    this.crashes.set(crash.key, count);
    const deterministic = crash.outOfMemory || count > 1;
    if (deterministic && crash.key === startKey) return { delayMs: null, reload: false };
    const at = Math.max(now, this.lastRestartAt + minimumMs);
    this.lastRestartAt = at;
    return { delayMs: at - now, reload: !deterministic };
  }

  /** The process was started; earlier than decided when a person asked for it. */
  started(now: number): void {
    this.lastRestartAt = Math.min(this.lastRestartAt, now);
  }

  /** Work with these settings went well: a later crash is not the same deterministic failure. */
  succeeded(key: string): void {
    this.crashes.delete(key);
  }
}

// What the app says about an engine process that cannot start or has ended.

export const unavailableHint = 'Build the engine again with `npm run build:engine`, or reinstall the app.';

export function nameOf(exit: ProcessExit): string {
  return exit.signal ?? `code ${exit.code}`;
}

/** Linux ends a process that takes too much memory with SIGKILL. */
export function isKill(exit: ProcessExit): boolean {
  return exit.signal === 'SIGKILL' || exit.code === 137;
}

export function crashError(exit: ProcessExit, whileStarting: boolean, retryInMs: number | null): ConcertinaError {
  const what = whileStarting ? 'The engine could not start' : 'The engine stopped unexpectedly';
  return new ConcertinaError('engine-crashed', `${what} (${nameOf(exit)}).`, crashHint(retryInMs));
}

export function endedWhenAsked(loading: boolean): ConcertinaError {
  return loading
    ? new ConcertinaError(
        'engine-crashed',
        msg`The engine did not answer while it loaded the model, and was restarted.`,
        msg`Try again, or choose other settings or another model.`,
      )
    : new ConcertinaError(
        'engine-crashed',
        msg`The engine did not answer and was restarted.`,
        msg`Nothing that was written is lost.`,
      );
}

function crashHint(retryInMs: number | null): string {
  if (retryInMs === null) return 'It stopped like this before. Choose other settings or another model and try again.';
  if (retryInMs < 1000) return 'It is started again now; nothing that was written is lost.';
  return `It is started again in ${Math.ceil(retryInMs / 1000)} seconds, or as soon as you send a message.`;
}

export function killedWhileLoading(): ConcertinaError {
  return new ConcertinaError(
    'out-of-memory',
    msg`The system ended the engine while it loaded the model, most likely for want of memory.`,
    msg`Choose a shorter context, a smaller cache type or a smaller model, or close other programs.`,
  );
}
