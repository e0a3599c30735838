/** The smallest typed event: listeners of one subject. A failing listener does not keep the others from hearing. */
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
