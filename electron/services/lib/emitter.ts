/** The smallest typed event: listeners of one subject. A listener that throws does not stop the others. */
export class Emitter<T> {
  private readonly listeners = new Set<(payload: T) => void>();

  on(listener: (payload: T) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  emit(payload: T): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(payload);
      } catch (error) {
        console.error('A listener failed:', error);
      }
    }
  }
}

// Waits for a state of something that emits its changes.

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

/** Resolves when the signal fires, or has fired. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
