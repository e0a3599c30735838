/** How patient a download is. Tests are less so. */
import type { HubError } from '../hub/httpErrors';

export interface Timing {
  /** attempts without a new byte, after which a download has failed */
  maxAttempts: number;
  /** ms before the second attempt; later ones wait longer */
  firstDelayMs: number;
  longestDelayMs: number;
}

export const usualTiming: Timing = { maxAttempts: 8, firstDelayMs: 1000, longestDelayMs: 60_000 };

/** What the hub asks for goes first; else twice as long each time, and by chance, so that not all come back at once. */
export function delayBefore(
  attempt: number,
  error: HubError,
  timing: Timing,
  random: () => number = Math.random,
): number {
  const { firstDelayMs, longestDelayMs } = timing;
  const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1));
  return Math.max(error.retryAfterMs ?? 0, longest * (0.5 + random() / 2));
}

/** Ends early when `signal` is aborted (rejects) or `wake` is called. */
export class Pause {
  private wakeUp: (() => void) | null = null;

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.wakeUp = null;
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const timer = setTimeout(end, ms);
      this.wakeUp = end;
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }

  wake(): void {
    this.wakeUp?.();
  }
}
