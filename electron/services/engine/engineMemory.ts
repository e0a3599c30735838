/** The memory figures of the status: the engine's own, and with them what the app's other processes take. */
import type { Memory } from '../../contract/engine';
import type { EngineHost } from './engineHost';
import type { LiveStatus } from './engineStatus';
import { looksTheSame } from './memoryChange';
import { MemoryWatch } from './memoryWatch';

export class EngineMemory {
  private readonly reader = new MemoryWatch(() => this.read());

  constructor(
    private readonly host: EngineHost,
    private readonly status: LiveStatus,
    /** bytes of the app's processes without the engine; null: not told */
    private readonly appMemory: () => number | null,
  ) {}

  /** Keeps the figures fresh until the returned function is called. */
  watch(): () => void {
    return this.reader.watch();
  }

  close(): void {
    this.reader.close();
  }

  /** The engine's figures, which do not tell of the app. */
  withApp(memory: Memory): Memory {
    return { ...memory, app: this.appMemory() };
  }

  private async read(): Promise<void> {
    if (!['ready', 'generating'].includes(this.status.current.state)) return;
    const { memory, contextUsed } = await this.host.client.call('memory', undefined);
    if (!memory || !this.status.current.context) return;
    const read = this.withApp(memory);
    const shown = this.status.current.memory;
    if (shown && contextUsed === this.status.current.contextUsed && looksTheSame(shown, read)) return;
    this.status.update({ memory: read, contextUsed });
  }
}
