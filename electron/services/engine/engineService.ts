/** The engine as the other services ask for it: which model it has, and what that does: answers, counts and comparisons. */

import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import { requireOne } from '../../contract/compare/models';
import type { OperationInput } from '../../contract/contract';
import type { EngineStatus, GenerationResult, StreamFrame } from '../../contract/engine';
import {
  type ApiPart,
  type ApiRequest,
  type ApiSettings,
  type AsideRequest,
  type CalibrationPlaces,
  type CompareTask,
  type GenerateRequest,
  type PromptMessage,
  type PromptOptions,
  templateOptionsOf,
} from '../../contract/engineContract';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { ContextFit } from '../../contract/fit';
import type { LoadedWorkers } from '../../contract/lib/domains/workers';
import { type Apply, isBudget, type TemplateSettings } from '../../contract/settings';

import { aborted, Emitter } from '../lib/emitter';
import type { ModelLibrary } from '../models/modelLibrary';
import type { SettingsService } from '../settings/settingsStore';
import { ContextReload } from './contextReload';
import type { EngineHost } from './engineHost';
import { EngineMemory } from './engineMemory';
import { LiveStatus, nothingLoaded } from './engineStatus';
import type { ModelInspector } from './modelInspector';
import { ModelLoads } from './modelLoader';

const maxNotes = 20;
/** tokens read and written from which an answer tells how fast a model is */
const timedRead = 256;
const timedWritten = 16;

/** Tokens per second. */
export interface Speeds {
  read: number;
  write: number;
}

export class EngineService {
  readonly frames = new Emitter<StreamFrame>();
  readonly live = new LiveStatus();
  readonly changed = this.live.changed;
  /** nothing has been asked for some seconds */
  readonly rested = new Emitter<void>();
  readonly memory: EngineMemory;
  private readonly loading: ModelLoads;
  private readonly reloading: ContextReload;
  /** the last answer or comparison that ran has ended */
  private readonly idle = new Emitter<void>();
  /** answers and comparisons that run or wait in the engine */
  private running = 0;
  /** responses of the API that run */
  private responding = 0;
  /** by model */
  private readonly speeds = new Map<string, Speeds>();

  constructor(
    private readonly host: EngineHost,
    private readonly inspector: Pick<
      ModelInspector,
      'api' | 'asOffered' | 'beside' | 'estimate' | 'fit' | 'requireHarmless'
    >,
    private readonly library: ModelLibrary,
    private readonly settings: SettingsService,
    calibration: CalibrationPlaces,
    scratch: string,
    /** bytes of the app's processes without the engine; null: not known */
    appMemory: () => number | null = () => null,
    workers: () => Promise<LoadedWorkers> = async () => ({ workers: [], missing: [] }),
  ) {
    const { live, idle } = this;
    this.memory = new EngineMemory(host, live, appMemory);
    const { memory } = this;
    this.loading = new ModelLoads({
      ...{ host, inspector, status: live, memory, library, settings, calibration, scratch, workers },
    });
    // a model that was refused beforehand has not disturbed the answer that the former one writes
    this.loading.wentBack.on(() => {
      if (this.running > 0) live.update({ state: 'generating' });
    });
    this.reloading = new ContextReload(live, this.loading, { idle, running: () => this.isBusy() }, settings);
    host.stalled.on((stalled) => live.update({ stalled }));
    host.client.on('onNotice', ({ text }) => live.update({ notes: [...live.current.notes, text].slice(-maxNotes) }));
    host.client.on('onRest', () => this.rested.emit());
    host.client.on('onFrame', (frame) => {
      this.frames.emit(frame);
      // until it is read, the cells are still those of the chat before
      const reads = frame.stats.phase === 'prefill' || frame.stats.phase === 'decode';
      if (reads && live.current.contextChat !== frame.chatId) live.update({ contextChat: frame.chatId });
    });
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

  /** What contexts have for the API; null: nothing. The one in use is made again, after a pause and when it is not used. */
  offerApi(api: ApiSettings | null): void {
    this.loading.api = this.inspector.api = api;
    this.reloading.look();
  }

  /** Whether the context in use, or on its way, was made with what is offered now. */
  get hasOfferedApi(): boolean {
    return this.loading.hasOfferedApi;
  }

  async close(): Promise<void> {
    // a load that is on its way to the engine is overtaken: it would start the process again
    this.loading.sequence.begin();
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

  /**
   * Settings that a person applies count at once: another model is loaded as by `select`; the one in use (null), or the one
   * that would be, where they need another context than it has. `atLeast`: see `applySchema`.
   */
  async apply(modelId: string | null, { force = false, atLeast }: Apply = {}): Promise<void> {
    const wanted = modelId ?? this.live.current.modelId;
    if (atLeast && wanted !== null) this.loading.grow(wanted, atLeast);
    if (modelId !== null && modelId !== this.live.current.modelId) await this.select(modelId, force);
    else await this.reloading.now(force, atLeast);
  }

  /** Loads the model in use again, or the one that would be. Rejects with `model-missing` when there is none. */
  async reload(force = false): Promise<EngineStatus> {
    const modelId = this.live.current.modelId ?? (await this.loading.wantedModelId());
    if (modelId === null)
      throw new ConcertinaError('model-missing', msg`There is no model to load.`, msg`Add a model first.`);
    return this.loading.load(modelId, force);
  }

  /** While the model is measured, only the measuring ends: turbo works without. */
  cancelLoad(): Promise<void> {
    return this.loading.sequence.cancel();
  }

  async plan({ modelId, context, ...question }: OperationInput<'engine.plan'>): Promise<ContextFit> {
    const requested = context ?? this.settings.of(modelId ?? this.live.current.modelId).context;
    const path = await this.pathOf(modelId);
    const asked = { path, context: await this.library.withFiles(path, requested), ...question };
    const { state, modelId: inUse } = this.live.current;
    const isLoaded = (state === 'ready' || state === 'generating') && (modelId ?? inUse) === inUse;
    // the engine does not know what a budget is spent on
    const known = isLoaded && question.marks === false && !isBudget(requested.typeK ?? '');
    const own = { ...this.inspector.asOffered(asked), beside: this.inspector.beside() };
    return (known && (await this.host.client.call('fit', own))) || this.inspector.fit(asked);
  }

  async countTokens(messages: PromptMessage[], options: PromptOptions): Promise<{ tokens: number }> {
    await this.settings.settled();
    return this.host.client.call('countTokens', { messages, ...options, ...templateOptionsOf(this.template()) });
  }

  /** of the model in use: part of every prompt, whoever asks for it */
  private template(): TemplateSettings {
    return this.settings.of(this.live.current.modelId).template;
  }

  async countTexts(texts: string[]): Promise<number[]> {
    return (await this.host.client.call('countTexts', { texts })).tokens;
  }

  countMedia(paths: string[]): Promise<{ tokens: number[] }> {
    return this.host.client.call('countMedia', { paths });
  }

  /** Waits for a model that is on its way; rejects when none is, and with `cancelled`. */
  async whenReady(signal: AbortSignal): Promise<void> {
    // somebody waits for an answer: the pause before an automatic restart is over
    if (this.host.state === 'waiting') this.host.start();
    if (this.rests) await Promise.race([this.reload(), aborted(signal)]);
    await this.live.whenLoaded(signal);
  }

  /** Frees the memory of the model in use, which nobody has needed for a while; not while it is used. `reload` loads it again. */
  async rest(): Promise<void> {
    if (this.live.current.state !== 'ready' || this.isBusy()) return;
    this.live.update({ ...nothingLoaded, state: 'empty', resting: true });
    await this.host.client.call('unload', undefined);
  }

  /** Whether the memory of the model in use was freed by `rest`, and no load has begun since. */
  get rests(): boolean {
    return this.live.current.resting;
  }

  private isBusy(): boolean {
    return this.running + this.responding > 0;
  }

  /**
   * A request of the API to the model in use. Parts come in order; `taken` says how many bytes (UTF-8) of them are on their
   * way. Resolves when the response is complete. Rejects with what the engine refuses it for, with `cancelled`, and with
   * `engine-crashed`.
   */
  async respond(
    request: ApiRequest,
    onPart: (part: ApiPart, taken: (bytes: number) => void) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) throw new ConcertinaError('cancelled', msg`The request was canceled before it began.`);
    const { client } = this.host;
    const requestId = randomUUID();
    const taken = (bytes: number) => void client.call('responseTaken', { requestId, bytes }).catch(() => undefined);
    const off = client.on('onResponse', ({ requestId: id, ...part }) => id === requestId && onPart(part, taken));
    this.responding++;
    try {
      await this.cancelable(requestId, signal, client.call('respond', { ...request, requestId }));
      this.host.reportSuccess();
    } finally {
      off();
      this.responding--;
      if (!this.isBusy()) this.idle.emit();
    }
  }

  /**
   * Writes an answer, after the model is loaded and earlier answers have ended. Rejects as `whenReady` does, with what
   * the engine refuses it for, and with `engine-crashed`; one that is canceled while it is written resolves.
   */
  async generate(request: GenerateRequest, signal: AbortSignal): Promise<GenerationResult> {
    await this.settings.settled();
    await this.whenReady(signal);
    this.running++;
    if (this.live.current.state === 'ready') this.live.update({ state: 'generating' });
    const template = this.template();
    const options = { ...templateOptionsOf(template), thinkingBudget: template.thinkingBudget ?? undefined };
    try {
      const answer = this.host.client.call('generate', { ...request, ...options });
      const result = await this.cancelable(request.requestId, signal, answer);
      this.host.reportSuccess();
      this.live.update({ contextUsed: result.stats.contextUsed, contextChat: request.chatId });
      this.learn(result);
      return result;
    } finally {
      this.running--;
      this.onEnded();
    }
  }

  private learn({ stats }: GenerationResult): void {
    const { modelId } = this.live.current;
    const { promptTokens, cachedTokens, promptTokensPerSecond: read, answerTokens, tokensPerSecond: write } = stats;
    const enough = promptTokens - cachedTokens >= timedRead && answerTokens >= timedWritten;
    if (modelId !== null && enough && read > 0 && write > 0) this.speeds.set(modelId, { read, write });
  }

  /** Of the last answer that tells it, since the app started; null: there was none. */
  speedsOf(modelId: string): Speeds | null {
    return this.speeds.get(modelId) ?? null;
  }

  /**
   * Asks the chat that the context holds, without thinking and at no cost for its next question. Null: the context holds
   * another text, or something else is asked, which always goes first.
   */
  async aside(request: AsideRequest): Promise<string | null> {
    if (this.isBusy() || this.live.current.state !== 'ready') return null;
    return (await this.host.client.call('aside', { ...request, ...templateOptionsOf(this.template()) })).text;
  }

  /**
   * Runs a comparison; answers wait until it has ended. It may take the memory of what is loaded, which is then loaded
   * again. Resolves also when it was canceled: its events say what was done. Rejects with `cancelled` when that was
   * before it began, when no model of it can be loaded, and when the engine cannot be started or ends.
   */
  async compare(asked: CompareTask, signal: AbortSignal): Promise<void> {
    const task = { ...asked, models: await this.withProblems(asked.models) };
    this.host.start();
    await this.host.whenReady();
    await this.live.whenSettled(signal);
    if (signal.aborted) throw new ConcertinaError('cancelled', msg`The comparison was canceled before it began.`);
    const { modelId, state } = this.live.current;
    const loaded = state === 'ready' || state === 'generating';
    const { number } = this.loading;
    this.running++;
    this.live.update({ comparing: task.runId, ...(loaded ? { state: 'generating' } : {}) });
    try {
      await this.cancelable(task.runId, signal, this.host.client.call('compare', task));
      this.host.reportSuccess();
    } finally {
      if (number === this.loading.number) await this.putBack(loaded ? modelId : null).catch(() => undefined);
      this.running--;
      this.live.update({ comparing: null });
      this.onEnded();
    }
  }

  /** One that ends a process which looks at it is not loaded. Rejects where none can be. */
  private async withProblems(models: CompareTask['models']): Promise<CompareTask['models']> {
    const looked: CompareTask['models'] = [];
    for (const model of models) {
      const look = () => this.inspector.requireHarmless(model.path, model.settings).then(() => null, toErrorPayload);
      looked.push({ ...model, problem: model.problem ?? (await look()) });
    }
    requireOne(looked);
    return looked;
  }

  /** Passes a cancel on to work that runs; one that is not heeded is noticed. */
  private async cancelable<T>(requestId: string, signal: AbortSignal, work: Promise<T>): Promise<T> {
    let ended = () => {};
    const cancel = () => {
      ended = this.host.expectEnd();
      this.host.client.call('cancel', { requestId }).catch(() => undefined);
    };
    signal.addEventListener('abort', cancel);
    // canceled on the way here: nobody will say so again
    if (signal.aborted) cancel();
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
    else if (memory === null) await this.loading.load(modelId);
  }

  private onEnded(): void {
    if (this.running > 0) return;
    if (this.live.current.state === 'generating') this.live.update({ state: 'ready' });
    if (!this.isBusy()) this.idle.emit();
  }

  /** of the named model, or of the one that is loaded or would be */
  private async pathOf(modelId: string | undefined): Promise<string> {
    const id = modelId ?? this.live.current.modelId ?? (await this.loading.wantedModelId());
    if (id === null)
      throw new ConcertinaError('model-missing', msg`There is no model to estimate.`, msg`Add a model first.`);
    return this.library.pathOf(id);
  }
}
