/**
 * Loads the model in use again when settings of its context change: at once when a person applies them, else after a pause and
 * after answers that are being written.
 */
import type { ContextSettings } from '../../contract/settings';
import type { Emitter } from '../lib/emitter';
import type { SettingsService } from '../settings/settingsStore';
import type { LiveStatus } from './engineStatus';
import type { ModelLoads } from './modelLoader';

/** a program may change one setting after the other */
const delayMs = 500;

export class ContextReload {
  private timer: NodeJS.Timeout | null = null;
  private whenIdle = false;
  private closed = false;

  constructor(
    private readonly status: LiveStatus,
    private readonly loads: ModelLoads,
    private readonly tasks: { idle: Emitter<void>; running: () => boolean },
    private readonly settings: SettingsService,
  ) {
    settings.changed.on(() => this.look());
    // they may have changed while the other model was tried
    loads.wentBack.on(() => this.look());
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

  async now(force: boolean, atLeast = 0): Promise<void> {
    const { state, modelId, context } = this.status.current;
    const wanted = modelId ?? (await this.loads.wantedModelId());
    const grows = state !== 'loading' && atLeast > (context?.nCtx ?? 0);
    const inUse = ['ready', 'generating', 'loading'].includes(state) && !this.hasChanged() && !grows;
    if (wanted !== null && (force || !inUse)) await this.loads.load(wanted, force);
  }

  /** What a context should have may be another now. */
  look(): void {
    if (this.closed || !this.loads.requestedContext || !this.hasChanged()) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.reload(), delayMs);
  }

  private async reload(): Promise<void> {
    this.timer = null;
    const { state, modelId } = this.status.current;
    // a slider that went back to where it was needs no new context
    if (!this.hasChanged() || modelId === null || !['ready', 'generating', 'loading', 'failed'].includes(state)) return;
    if (this.tasks.running()) this.whenIdle = true;
    else await this.loads.load(modelId);
  }

  private hasChanged(): boolean {
    const { requestedContext, hasOfferedApi } = this.loads;
    return !hasOfferedApi || JSON.stringify(requestedContext) !== JSON.stringify(this.wantedContext());
  }

  /** of the model in use, as they are set now */
  private wantedContext(): ContextSettings {
    return this.settings.of(this.status.current.modelId).context;
  }
}
