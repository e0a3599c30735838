/** The engine's status as the windows see it, the one copy of it, and what it allows. Whoever learns something updates it. */
import { msg } from '@lingui/core/runtime-macro';
import type { EngineStatus } from '../../contract/engine';
import { ConcertinaError } from '../../contract/errors';
import { type Senses, sensesOf } from '../../contract/lib/attachments';
import { Emitter, waitUntil } from '../lib/emitter';

export const nothingLoaded = {
  model: null,
  context: null,
  memory: null,
  contextUsed: 0,
  contextChat: null,
  loadProgress: null,
  loadStep: null,
  resting: false,
} as const;

export class LiveStatus {
  readonly changed = new Emitter<EngineStatus>();
  private sensed: Senses | null = null;
  private status: EngineStatus = {
    ...nothingLoaded,
    state: 'starting',
    capabilities: null,
    modelId: null,
    error: null,
    stalled: null,
    refused: null,
    restarts: 0,
    comparing: null,
    notes: [],
  };

  get current(): EngineStatus {
    return this.status;
  }

  /** All listeners were called when this returns. */
  update(change: Partial<EngineStatus>): void {
    if (this.status.context) this.sensed = sensesOf(this.status.context);
    this.status = { ...this.status, ...change };
    this.changed.emit(this.status);
  }

  /** What the model in use, or the one that rests, reads beside text; null: none is there, or it is on its way. */
  senses(): Senses | null {
    const { context, resting } = this.status;
    if (context) return sensesOf(context);
    return resting ? this.sensed : null;
  }

  /**
   * Throws when no answer can be expected without the person doing something first: the error that the engine stands
   * still for, or `engine-unavailable`, or `model-missing`.
   */
  requireUsable(): void {
    const { state, error, resting } = this.status;
    // whoever waits for a model has it loaded again
    if (resting) return;
    if (state === 'unavailable' || state === 'failed') {
      throw error
        ? ConcertinaError.fromPayload(error)
        : new ConcertinaError(
            'engine-unavailable',
            msg`The engine is not running.`,
            msg`Choose a model to start it again.`,
          );
    }
    if (state === 'empty')
      throw new ConcertinaError('model-missing', msg`No model is loaded.`, msg`Choose a model first.`);
  }

  /** Waits while a model is on its way; rejects as `requireUsable` throws when none is, and with `cancelled`. */
  whenLoaded(signal: AbortSignal): Promise<void> {
    return waitUntil(this.changed, signal, () => {
      if (signal.aborted) throw new ConcertinaError('cancelled', msg`The answer was stopped before it began.`);
      this.requireUsable();
      const { state, comparing } = this.status;
      return comparing === null && (state === 'ready' || state === 'generating');
    });
  }

  /** Waits while a model is on its way, wherever that leads; resolves when aborted too. */
  whenSettled(signal: AbortSignal): Promise<void> {
    const moving = () => ['starting', 'loading', 'restarting'].includes(this.status.state);
    return waitUntil(this.changed, signal, () => signal.aborted || !moving());
  }
}
