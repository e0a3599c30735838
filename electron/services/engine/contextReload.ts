/** Loads the model in use again when settings of its context change: after a pause, and after answers that are being written. */
import type { ContextSettings } from '../../contract/settings';
import type { SettingsService } from '../settings/settingsService';
import type { LiveStatus } from './engineStatus';
import type { EngineTasks } from './engineTasks';
import type { ModelLoads } from './modelLoader';

const delayMs = 500;

export class ContextReload {
  private timer: NodeJS.Timeout | null = null;
  private whenIdle = false;
  private closed = false;

  constructor(
    private readonly status: LiveStatus,
    private readonly loads: ModelLoads,
    private readonly tasks: EngineTasks,
    private readonly settings: SettingsService,
  ) {
    settings.changed.on(() => this.onSettings());
    // they may have changed while the other model was tried
    loads.wentBack.on(() => this.onSettings());
    loads.began.on(() => (this.whenIdle = false));
    tasks.idle.on(() => {
      if (this.whenIdle) void this.reload();
    });
  }

  /** Neither an answer that ends after this nor settings that change bring the process back. */
  close(): void {
    this.closed = true;
    this.whenIdle = false;
    if (this.timer) clearTimeout(this.timer);
  }

  private onSettings(): void {
    if (this.closed || !this.loads.askedContext || !this.hasChanged()) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.reload(), delayMs);
  }

  private async reload(): Promise<void> {
    this.timer = null;
    const { state, modelId } = this.status.current;
    // a slider that went back to where it was needs no new context
    if (!this.hasChanged() || modelId === null || !['ready', 'generating', 'loading', 'failed'].includes(state)) return;
    if (this.tasks.running) this.whenIdle = true;
    else await this.loads.load(modelId);
  }

  private hasChanged(): boolean {
    return JSON.stringify(this.loads.askedContext) !== JSON.stringify(this.wantedContext());
  }

  /** of the model in use, as they are set now */
  private wantedContext(): ContextSettings {
    return this.settings.of(this.status.current.modelId).context;
  }
}
