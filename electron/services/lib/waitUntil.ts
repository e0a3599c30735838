/** Waits for a state of something that tells its changes. */
import type { Emitter } from './emitter';

/** Asks `reached` now, at each change and when the signal is aborted; rejects with what it throws. */
export function waitUntil<T>(changed: Emitter<T>, signal: AbortSignal, reached: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const off = changed.on(ask);
    signal.addEventListener('abort', ask);

    function ask(): void {
      try {
        if (!reached()) return;
        resolve();
      } catch (error) {
        reject(error);
      }
      off();
      signal.removeEventListener('abort', ask);
    }
    ask();
  });
}
