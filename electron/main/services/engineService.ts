/** The loaded model and its context: loads, loads again when settings ask for it, recovers after a crash, tells its state. */
import type { ComparePlan } from '../../shared/compare';
import type { OperationInput } from '../../shared/contract';
import type { EngineStatus, GenerationResult, MemoryEstimate, StreamFrame } from '../../shared/engine';
import type {
  CalibrationPlaces,
  CompareTask,
  EngineOperations,
  GenerateRequest,
  LoadResult,
  PromptMessage,
  PromptOptions,
} from '../../shared/engineContract';
import { ConcertinaError, toErrorPayload } from '../../shared/errors';
import type { ContextFit } from '../../shared/fit';
import type { InputOf } from '../../shared/operation';
import type { ContextSettings } from '../../shared/settings';
import { Emitter } from './emitter';
import type { CrashReport, EngineHost } from './engineHost';
import { looksTheSame } from './memoryChange';
import { MemoryWatch } from './memoryWatch';
import type { ModelLibrary } from './modelLibrary';
import type { SettingsService } from './settingsService';
import { waitUntil } from './waitUntil';

const reloadDelayMs = 500;
const maxNotes = 20;

type Refused = EngineStatus['refused'];

/** A model that was in use when another one was asked for. */
interface Former {
  status: Pick<EngineStatus, 'model' | 'context' | 'memory' | 'contextUsed'> & { modelId: string };
  askedContext: ContextSettings | null;
  work: EngineHost['work'];
}

const nothingLoaded = {
  model: null,
  context: null,
  memory: null,
  contextUsed: 0,
  loadProgress: null,
  loadStep: null,
} as const;

export class EngineService {
  readonly changed = new Emitter<EngineStatus>();
  readonly frames = new Emitter<StreamFrame>();
  private current: EngineStatus = {
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
  /** counts loads: the latest one wins */
  private loadNumber = 0;
  private loadsDone = 0;
  /** the load that a person cancelled, which may still wait for the process to start */
  private cancelledLoad = 0;
  /** tells the host of the end of a load that was cancelled */
  private loadEnded: (() => void) | null = null;
  /** settings of the context as it was last asked for */
  private askedContext: ContextSettings | null = null;
  /** goes on being used where the load that runs fails */
  private former: Former | null = null;
  private answers = 0;
  private reloadWhenIdle = false;
  private reloadAfterRestart = true;
  private reloadTimer: NodeJS.Timeout | null = null;
  private readonly memoryWatch = new MemoryWatch(() => this.readMemory());

  constructor(
    private readonly host: EngineHost,
    private readonly library: ModelLibrary,
    private readonly settings: SettingsService,
    private readonly calibration: CalibrationPlaces,
    private readonly scratch: string,
    /** bytes of the app's processes without the engine; null: not told */
    private readonly appMemory: () => number | null = () => null,
  ) {
    host.ready.on(() => void this.onReady());
    host.crashed.on((report) => this.onCrash(report));
    host.stalled.on((stalled) => this.update({ stalled }));
    host.client.on('onNotice', ({ text }) => this.update({ notes: [...this.current.notes, text].slice(-maxNotes) }));
    host.client.on('onFrame', (frame) => this.frames.emit(frame));
    host.client.on('onLoadProgress', ({ step, fraction }) => {
      if (this.current.state === 'loading') this.update({ loadProgress: fraction, loadStep: step });
    });
    settings.changed.on(() => this.onSettings());
  }

  /** Starts the process; the remembered model (or the embedded one) is loaded as soon as it is ready. */
  start(): void {
    this.host.start();
  }

  /** Starts the process only: something else than the remembered model is loaded next. */
  startEmpty(): void {
    this.reloadAfterRestart = false;
    this.host.start();
  }

  status(): EngineStatus {
    return this.current;
  }

  modelName(): string {
    return this.current.model?.name ?? '';
  }

  /** Loads a model; remembers it once it is loaded. A load that fails shows in the status. */
  async select(modelId: string, force = false): Promise<EngineStatus> {
    await this.library.pathOf(modelId);
    const status = await this.load(modelId, force);
    if (status.state === 'ready' && status.modelId === modelId) await this.settings.update({ modelId });
    return this.current;
  }

  async reload(force = false): Promise<EngineStatus> {
    const modelId = this.current.modelId ?? (await this.wantedModelId());
    if (modelId === null)
      throw new ConcertinaError('model-missing', 'There is no model to load.', 'Add a model first.');
    return this.load(modelId, force);
  }

  /** While the model is measured, only the measuring ends: turbo works without. */
  async cancelLoad(): Promise<void> {
    if (this.current.state === 'loading' && this.current.loadStep === 'calibration' && this.host.state === 'ready') {
      await this.host.client.call('skipCalibration', undefined);
      return;
    }
    this.cancelledLoad = this.loadNumber;
    await this.endRunningLoad();
  }

  /** For an engine that does not answer. */
  restart(): void {
    this.host.restart();
  }

  async estimate(modelId: string | undefined, context: ContextSettings): Promise<MemoryEstimate> {
    return this.host.client.call('estimate', { path: await this.pathOf(modelId), context });
  }

  async fit({ modelId, context, ...question }: OperationInput<'engine.fit'>): Promise<ContextFit> {
    const asked = context ?? this.settings.of(modelId ?? this.current.modelId).context;
    return this.host.client.call('fit', { path: await this.pathOf(modelId), context: asked, ...question });
  }

  countTokens(messages: PromptMessage[], options: PromptOptions): Promise<{ tokens: number }> {
    return this.host.client.call('countTokens', { messages, ...options });
  }

  async countTexts(texts: string[]): Promise<number[]> {
    return (await this.host.client.call('countTexts', { texts })).tokens;
  }

  /** how many have succeeded */
  loads(): number {
    return this.loadsDone;
  }

  /** tokens; 0: nothing is loaded */
  contextSize(): number {
    return this.current.context?.nCtx ?? 0;
  }

  /** Throws when no answer can be expected without the person doing something first. */
  requireUsable(): void {
    const { state, error } = this.current;
    if (state === 'unavailable' || state === 'failed') {
      throw error
        ? ConcertinaError.fromPayload(error)
        : new ConcertinaError('engine-unavailable', 'The engine is not running.', 'Choose a model to start it again.');
    }
    if (state === 'empty') throw new ConcertinaError('model-missing', 'No model is loaded.', 'Choose a model first.');
  }

  /** Waits for a model that is on its way; rejects when none is. */
  async whenReady(signal: AbortSignal): Promise<void> {
    // somebody waits for an answer: the pause before an automatic restart is over
    if (this.host.state === 'waiting') this.host.start();
    await this.whenLoaded(signal);
  }

  /** Writes an answer, after the model is loaded and earlier answers have ended. */
  async generate(request: GenerateRequest, signal: AbortSignal): Promise<GenerationResult> {
    await this.whenReady(signal);
    this.answers++;
    if (this.current.state === 'ready') this.update({ state: 'generating' });
    try {
      const answer = this.host.client.call('generate', request);
      const result = await this.cancellable(request.requestId, signal, answer);
      this.host.reportSuccess();
      this.update({ contextUsed: result.stats.contextUsed });
      return result;
    } finally {
      this.answers--;
      this.onAnswerEnded();
    }
  }

  /**
   * Runs a comparison; answers wait until it has ended. It may take the memory of what is loaded, which is then loaded
   * again. Resolves also when it was cancelled: its events tell what was done.
   */
  async compare(task: CompareTask, signal: AbortSignal): Promise<void> {
    this.host.start();
    await this.host.whenReady();
    await this.whenSettled(signal);
    if (signal.aborted) throw new ConcertinaError('cancelled', 'The comparison was cancelled before it began.');
    const { modelId, state } = this.current;
    const loaded = state === 'ready' || state === 'generating';
    const number = this.loadNumber;
    this.answers++;
    this.update({ comparing: task.runId, ...(loaded ? { state: 'generating' } : {}) });
    try {
      await this.cancellable(task.runId, signal, this.host.client.call('compare', task));
      this.host.reportSuccess();
    } finally {
      if (number === this.loadNumber) await this.putBack(loaded ? modelId : null).catch(() => undefined);
      this.answers--;
      this.update({ comparing: null });
      this.onAnswerEnded();
    }
  }

  planComparison(question: InputOf<EngineOperations['planComparison']>): Promise<ComparePlan> {
    return this.host.client.call('planComparison', question);
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
    else if (memory === null) await this.load(modelId);
  }

  /** Keeps the memory figures fresh until the returned function is called. */
  watch(): () => void {
    return this.memoryWatch.watch();
  }

  async close(): Promise<void> {
    // an answer that ends now must not bring the process back
    this.reloadWhenIdle = false;
    if (this.reloadTimer) clearTimeout(this.reloadTimer);
    this.memoryWatch.close();
    await this.host.stop();
  }

  private async endRunningLoad(): Promise<void> {
    if (this.current.state !== 'loading' || this.host.state !== 'ready') return;
    this.loadEnded ??= this.host.expectEnd();
    await this.host.client.call('cancelLoad', undefined);
  }

  /** `refused`: another model, in whose place this one is loaded again */
  private async load(modelId: string, force = false, refused: Refused = null): Promise<EngineStatus> {
    const number = ++this.loadNumber;
    this.former = this.inUse() ?? this.former;
    const isLatest = () => number === this.loadNumber;
    await this.endRunningLoad().catch(() => undefined);
    const { context } = this.settings.of(modelId);
    this.askedContext = context;
    this.reloadWhenIdle = false;
    this.update({
      ...nothingLoaded,
      state: 'loading',
      modelId,
      loadProgress: 0,
      loadStep: 'weights',
      error: null,
      refused,
    });
    try {
      const path = await this.library.pathOf(modelId);
      if (!isLatest()) return this.current;
      this.reloadAfterRestart = false;
      this.host.start();
      await this.host.whenReady();
      if (number === this.cancelledLoad) throw new ConcertinaError('cancelled', 'Loading was cancelled.');
      this.host.work = { key: `${path}|${JSON.stringify(context)}`, loading: true };
      const result = await this.host.client.call('load', {
        ...{ path, context },
        ...{ calibration: this.calibration, scratch: this.scratch, force },
      });
      if (isLatest()) this.onLoaded(result);
      this.tellLoadEnded();
    } catch (error) {
      this.tellLoadEnded();
      if (isLatest()) await this.onLoadFailed(error, isLatest);
    }
    return this.current;
  }

  private tellLoadEnded(): void {
    this.loadEnded?.();
    this.loadEnded = null;
  }

  private onLoaded(result: LoadResult): void {
    this.loadsDone++;
    this.former = null;
    if (this.host.work) this.host.work.loading = false;
    const { model, context, carriedTokens } = result;
    const memory = { ...result.memory, app: this.appMemory() };
    this.update({ ...nothingLoaded, state: 'ready', model, context, memory, contextUsed: carriedTokens, error: null });
  }

  private inUse(): Former | null {
    const { modelId, model, context, memory, contextUsed } = this.current;
    if (modelId === null || model === null) return null;
    const status = { modelId, model, context, memory, contextUsed };
    return { status, askedContext: this.askedContext, work: this.host.work };
  }

  private async onLoadFailed(error: unknown, isLatest: () => boolean): Promise<void> {
    // after a crash the crash report tells the state, and the process is not there to be told anything
    if (this.host.state !== 'ready') {
      const state = this.host.state === 'unavailable' ? 'unavailable' : 'failed';
      if (this.current.state === 'loading') this.update({ ...nothingLoaded, state, error: toErrorPayload(error) });
      return;
    }
    this.host.work = null;
    const payload = toErrorPayload(error);
    const cancelled = payload.code === 'cancelled';
    const { modelId } = this.current;
    if (this.former && modelId !== null && this.former.status.modelId !== modelId) {
      return this.goBack(this.former, cancelled ? null : { modelId, error: payload }, isLatest);
    }
    this.former = null;
    // neither can be had: what was asked for is told
    const told = this.current.refused ?? { modelId, error: cancelled ? null : payload };
    this.update({ ...nothingLoaded, ...told, state: told.error ? 'failed' : 'empty', refused: null });
    // a load that did not get as far as the engine left the former model in its memory
    void this.host.client.call('unload', undefined).catch(() => undefined);
  }

  /** To the model that was used before: it is still loaded where the other one was refused beforehand. */
  private async goBack(former: Former, refused: Refused, isLatest: () => boolean): Promise<void> {
    const { memory, contextUsed } = await this.host.client
      .call('memory', undefined)
      .catch(() => ({ memory: null, contextUsed: 0 }));
    if (!isLatest()) return;
    if (!memory) return void (await this.load(former.status.modelId, false, refused));
    this.former = null;
    this.askedContext = former.askedContext;
    this.host.work = former.work;
    const shown = { ...memory, app: this.appMemory() };
    this.update({ ...nothingLoaded, ...former.status, state: 'ready', memory: shown, contextUsed, refused });
    // they may have changed meanwhile
    this.onSettings();
  }

  private async onReady(): Promise<void> {
    const { capabilities, problem } = this.host;
    this.update({ capabilities });
    if (problem) return this.update({ ...nothingLoaded, state: 'unavailable', error: problem.toPayload() });
    if (this.current.state === 'loading') return;
    const { modelId: failedId, error } = this.current;
    if (!this.reloadAfterRestart && this.former && failedId !== null && error)
      return void (await this.load(this.former.status.modelId, false, { modelId: failedId, error }));
    if (!this.reloadAfterRestart) return this.update({ state: this.current.error ? 'failed' : 'empty' });
    const number = this.loadNumber;
    const modelId = this.current.modelId ?? (await this.wantedModelId());
    if (number !== this.loadNumber) return; // a model was chosen meanwhile
    if (modelId === null) this.update({ state: 'empty' });
    else await this.load(modelId);
  }

  private onCrash(report: CrashReport): void {
    this.host.work = null;
    if (this.former?.status.modelId === this.current.modelId) this.former = null;
    this.reloadAfterRestart = report.reload;
    const restarting = report.restartInMs !== null && report.reload;
    this.update({
      ...nothingLoaded,
      state: restarting ? 'restarting' : 'failed',
      refused: null,
      error: report.error.toPayload(),
      restarts: this.current.restarts + (report.restartInMs === null || report.asked ? 0 : 1),
    });
  }

  private onSettings(): void {
    const asked = this.askedContext;
    if (!asked || JSON.stringify(asked) === JSON.stringify(this.wantedContext())) return;
    if (this.reloadTimer) clearTimeout(this.reloadTimer);
    this.reloadTimer = setTimeout(() => void this.reloadForSettings(), reloadDelayMs);
  }

  private async reloadForSettings(): Promise<void> {
    this.reloadTimer = null;
    const { state, modelId } = this.current;
    // a slider that went back to where it was needs no new context
    const changed = JSON.stringify(this.askedContext) !== JSON.stringify(this.wantedContext());
    if (!changed || modelId === null || !['ready', 'generating', 'loading', 'failed'].includes(state)) return;
    if (this.answers > 0) this.reloadWhenIdle = true;
    else await this.load(modelId);
  }

  private onAnswerEnded(): void {
    if (this.answers > 0) return;
    if (this.current.state === 'generating') this.update({ state: 'ready' });
    if (this.reloadWhenIdle) void this.reloadForSettings();
  }

  /** of the named model, or of the one that is loaded or would be */
  private async pathOf(modelId: string | undefined): Promise<string> {
    const id = modelId ?? this.current.modelId ?? (await this.wantedModelId());
    if (id === null) throw new ConcertinaError('model-missing', 'There is no model to estimate.', 'Add a model first.');
    return this.library.pathOf(id);
  }

  /** of the model in use, as they are set now */
  private wantedContext(): ContextSettings {
    return this.settings.of(this.current.modelId).context;
  }

  private async wantedModelId(): Promise<string | null> {
    return this.settings.get().modelId ?? (await this.library.defaultModelId());
  }

  /** Waits while a model is on its way; rejects when none is. */
  private whenLoaded(signal: AbortSignal): Promise<void> {
    return waitUntil(this.changed, signal, () => {
      if (signal.aborted) throw new ConcertinaError('cancelled', 'The answer was stopped before it began.');
      this.requireUsable();
      const { state, comparing } = this.current;
      return comparing === null && (state === 'ready' || state === 'generating');
    });
  }

  /** Waits while a model is on its way, wherever that leads. */
  private whenSettled(signal: AbortSignal): Promise<void> {
    const moving = () => ['starting', 'loading', 'restarting'].includes(this.current.state);
    return waitUntil(this.changed, signal, () => signal.aborted || !moving());
  }

  private async readMemory(): Promise<void> {
    if (!['ready', 'generating'].includes(this.current.state)) return;
    const { memory, contextUsed } = await this.host.client.call('memory', undefined);
    if (!memory || !this.current.context) return;
    const read = { ...memory, app: this.appMemory() };
    const shown = this.current.memory;
    if (shown && contextUsed === this.current.contextUsed && looksTheSame(shown, read)) return;
    this.update({ memory: read, contextUsed });
  }

  private update(change: Partial<EngineStatus>): void {
    this.current = { ...this.current, ...change };
    this.changed.emit(this.current);
  }
}
