/** Chunks that a callback pushes, read by an async generator. */

export class ChunkStream<T> {
  #queue: T[] = [];
  #ended = false;
  #wake: (() => void) | null = null;

  push(chunks: T[]): void {
    for (const chunk of chunks) this.#queue.push(chunk);
    this.#wake?.();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *read(): AsyncGenerator<T, void, void> {
    for (;;) {
      const chunks = this.#queue;
      this.#queue = [];
      yield* chunks;
      if (this.#queue.length > 0) continue;
      if (this.#ended) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
  }
}
