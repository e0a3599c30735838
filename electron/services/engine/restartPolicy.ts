/** When a crashed engine process is started again: at most once a minute, and never into the same failure twice. */

const minimumMs = 60_000;

/** What the process was doing. `startKey` before it was ready; else a text that names the load settings. */
export const startKey = 'start';

export interface Crash {
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
