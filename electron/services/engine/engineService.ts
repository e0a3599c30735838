/** The engine as the other services ask for it: joins what loads models, what works with the loaded one, and their status. */

import type { ComparePlan } from '../../contract/compare';
import type { OperationInput } from '../../contract/contract';
import type { EngineStatus, GenerationResult, StreamFrame } from '../../contract/engine';
import type {
  CalibrationPlaces,
  CompareTask,
  GenerateRequest,
  PromptMessage,
  PromptOptions,
} from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import type { ContextFit } from '../../contract/fit';
import type { ContextSettings } from '../../contract/settings';
import { Emitter } from '../lib/emitter';
import type { ModelLibrary } from '../models/modelLibrary';
import type { SettingsService } from '../settings/settingsStore';
import type { EngineHost } from './engineHost';
import { EngineMemory } from './engineMemory';
import { LiveStatus } from './engineStatus';
import { EngineTasks } from './engineTasks';
import type { ModelInspector } from './modelInspector';
import { ModelLoads } from './modelLoader';

const maxNotes = 20;

export class EngineService {
  readonly frames = new Emitter<StreamFrame>();
  readonly changed: Emitter<EngineStatus>;
  private readonly live = new LiveStatus();
  private readonly memory: EngineMemory;
  private readonly loading: ModelLoads;
  private readonly tasks: EngineTasks;
  private readonly reloading: ContextReload;

  constructor(
    private readonly host: EngineHost,
    private readonly inspector: Pick<ModelInspector, 'estimate' | 'fit' | 'planComparison' | 'requireHarmless'>,
    private readonly library: ModelLibrary,
    private readonly settings: SettingsService,
    calibration: CalibrationPlaces,
    scratch: string,
    /** bytes of the app's processes without the engine; null: not told */
    appMemory: () => number | null = () => null,
  ) {
    const { live } = this;
    this.changed = live.changed;
    this.memory = new EngineMemory(host, live, appMemory);
    const { memory } = this;
    this.loading = new ModelLoads({ host, inspector, status: live, memory, library, settings, calibration, scratch });
    this.tasks = new EngineTasks(host, inspector, live, this.loading);
    this.reloading = new ContextReload(live, this.loading, this.tasks, settings);
    host.stalled.on((stalled) => live.update({ stalled }));
    host.client.on('onNotice', ({ text }) => live.update({ notes: [...live.current.notes, text].slice(-maxNotes) }));
    host.client.on('onFrame', (frame) => this.frames.emit(frame));
  }

  /** Starts the process; the remembered model (or the embedded one) is loaded as soon as it is ready. */
  start(): void {
    this.host.start();
  }

  /** Starts the process only: something else than the remembered model is loaded next. */
  startEmpty(): void {
    this.loading.beginEmpty();
    this.host.start();
  }

  /** For an engine that does not answer. */
  restart(): void {
    this.host.restart();
  }

  async close(): Promise<void> {
    this.reloading.close();
    this.memory.close();
    await this.host.stop();
  }

  status(): EngineStatus {
    return this.live.current;
  }

  modelName(): string {
    return this.live.current.model?.name ?? '';
  }

  /** tokens; 0: nothing is loaded */
  contextSize(): number {
    return this.live.current.context?.nCtx ?? 0;
  }

  /** tokens; 0: not known */
  trainedContext(): number {
    return this.live.current.model?.nCtxTrain ?? 0;
  }

  /** how many have succeeded */
  loads(): number {
    return this.loading.succeeded;
  }

  /** Keeps the memory figures fresh until the returned function is called. */
  watch(): () => void {
    return this.memory.watch();
  }

  /**
   * Loads a model; remembers it once it is loaded. A load that fails shows in the status. Rejects, and loads nothing,
   * when there is no such model or its file cannot be used.
   */
  async select(modelId: string, force = false): Promise<EngineStatus> {
    await this.library.pathOf(modelId);
    const status = await this.loading.load(modelId, force);
    if (status.state === 'ready' && status.modelId === modelId) await this.settings.update({ modelId });
    return this.live.current;
  }

  /** Loads the model in use again, or the one that would be. Rejects with `model-missing` when there is none. */
  async reload(force = false): Promise<EngineStatus> {
    const modelId = this.live.current.modelId ?? (await this.loading.wantedModelId());
    if (modelId === null)
      throw new ConcertinaError('model-missing', 'There is no model to load.', 'Add a model first.');
    return this.loading.load(modelId, force);
  }

  /** While the model is measured, only the measuring ends: turbo works without. */
  cancelLoad(): Promise<void> {
    return this.loading.cancel();
  }

  async plan({ modelId, context, ...question }: OperationInput<'engine.plan'>): Promise<ContextFit> {
    const asked = context ?? this.settings.of(modelId ?? this.live.current.modelId).context;
    return this.inspector.fit({ path: await this.pathOf(modelId), context: asked, ...question });
  }

  countTokens(messages: PromptMessage[], options: PromptOptions): Promise<{ tokens: number }> {
    return this.host.client.call('countTokens', { messages, ...options });
  }

  async countTexts(texts: string[]): Promise<number[]> {
    return (await this.host.client.call('countTexts', { texts })).tokens;
  }

  /** See `LiveStatus.requireUsable`. */
  requireUsable(): void {
    this.live.requireUsable();
  }

  /** See `EngineTasks.whenReady`. */
  whenReady(signal: AbortSignal): Promise<void> {
    return this.tasks.whenReady(signal);
  }

  /** See `EngineTasks.generate`. */
  generate(request: GenerateRequest, signal: AbortSignal): Promise<GenerationResult> {
    return this.tasks.generate(request, signal);
  }

  /** See `EngineTasks.compare`. */
  compare(task: CompareTask, signal: AbortSignal): Promise<void> {
    return this.tasks.compare(task, signal);
  }

  planComparison(question: Parameters<ModelInspector['planComparison']>[0]): Promise<ComparePlan> {
    return this.inspector.planComparison(question);
  }

  /** of the named model, or of the one that is loaded or would be */
  private async pathOf(modelId: string | undefined): Promise<string> {
    const id = modelId ?? this.live.current.modelId ?? (await this.loading.wantedModelId());
    if (id === null) throw new ConcertinaError('model-missing', 'There is no model to estimate.', 'Add a model first.');
    return this.library.pathOf(id);
  }
}

// Loads the model in use again when settings of its context change: after a pause, and after answers that are being written.

const delayMs = 500;

class ContextReload {
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
