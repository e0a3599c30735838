/** What a loaded model is asked to do: answers and comparisons. Each can be cancelled, and waits for what it needs. */
import type { GenerationResult } from '../../contract/engine';
import type { CompareTask, GenerateRequest } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { Emitter } from '../lib/emitter';
import type { EngineHost } from './engineHost';
import type { LiveStatus } from './engineStatus';
import type { ModelInspector } from './modelInspector';
import type { ModelLoads } from './modelLoader';

export class EngineTasks {
  /** the last one that ran has ended */
  readonly idle = new Emitter<void>();
  private count = 0;

  constructor(
    private readonly host: EngineHost,
    private readonly inspector: Pick<ModelInspector, 'requireHarmless'>,
    private readonly status: LiveStatus,
    private readonly loads: ModelLoads,
  ) {
    // a model that was refused beforehand has not disturbed the answer that the former one writes
    loads.wentBack.on(() => {
      if (this.running) this.status.update({ state: 'generating' });
    });
  }

  get running(): boolean {
    return this.count > 0;
  }

  /** Waits for a model that is on its way; rejects when none is, and with `cancelled`. */
  async whenReady(signal: AbortSignal): Promise<void> {
    // somebody waits for an answer: the pause before an automatic restart is over
    if (this.host.state === 'waiting') this.host.start();
    await this.status.whenLoaded(signal);
  }

  /**
   * Writes an answer, after the model is loaded and earlier answers have ended. Rejects as `whenReady` does, with what
   * the engine refuses it for, and with `engine-crashed`; one that is cancelled while it is written resolves.
   */
  async generate(request: GenerateRequest, signal: AbortSignal): Promise<GenerationResult> {
    await this.whenReady(signal);
    this.count++;
    if (this.status.current.state === 'ready') this.status.update({ state: 'generating' });
    try {
      const answer = this.host.client.call('generate', request);
      const result = await this.cancellable(request.requestId, signal, answer);
      this.host.reportSuccess();
      this.status.update({ contextUsed: result.stats.contextUsed });
      return result;
    } finally {
      this.count--;
      this.onEnded();
    }
  }

  /**
   * Runs a comparison; answers wait until it has ended. It may take the memory of what is loaded, which is then loaded
   * again. Resolves also when it was cancelled: its events tell what was done. Rejects with `cancelled` when that was
   * before it began, when the file of the model is refused, and when the engine cannot be started or ends.
   */
  async compare(task: CompareTask, signal: AbortSignal): Promise<void> {
    await this.inspector.requireHarmless(task.path, task.settings);
    this.host.start();
    await this.host.whenReady();
    await this.status.whenSettled(signal);
    if (signal.aborted) throw new ConcertinaError('cancelled', 'The comparison was cancelled before it began.');
    const { modelId, state } = this.status.current;
    const loaded = state === 'ready' || state === 'generating';
    const { number } = this.loads;
    this.count++;
    this.status.update({ comparing: task.runId, ...(loaded ? { state: 'generating' } : {}) });
    try {
      await this.cancellable(task.runId, signal, this.host.client.call('compare', task));
      this.host.reportSuccess();
    } finally {
      if (number === this.loads.number) await this.putBack(loaded ? modelId : null).catch(() => undefined);
      this.count--;
      this.status.update({ comparing: null });
      this.onEnded();
    }
  }

  /** Passes a cancel on to work that runs; one that is not heeded is noticed. */
  private async cancellable<T>(requestId: string, signal: AbortSignal, work: Promise<T>): Promise<T> {
    let ended = () => {};
    const cancel = () => {
      ended = this.host.expectEnd();
      this.host.client.call('cancel', { requestId }).catch(() => undefined);
    };
    signal.addEventListener('abort', cancel);
    try {
      return await work;
    } finally {
      signal.removeEventListener('abort', cancel);
      ended();
    }
  }

  /** After a comparison: loads what was loaded before it, if its context is gone; null: nothing was. */
  private async putBack(modelId: string | null): Promise<void> {
    // after a crash the model is loaded with the new process
    if (this.host.state !== 'ready') return;
    const { memory } = await this.host.client.call('memory', undefined);
    if (modelId === null) await this.host.client.call('unload', undefined);
    else if (memory === null) await this.loads.load(modelId);
  }

  private onEnded(): void {
    if (this.running) return;
    if (this.status.current.state === 'generating') this.status.update({ state: 'ready' });
    this.idle.emit();
  }
}
