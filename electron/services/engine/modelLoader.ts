/**
 * Loads of a model: by a person's choice, with a new process, in the place of one that cannot be had. The only one that
 * has the engine load. A load that fails shows in the status; the model that was in use before it is used on.
 */

import { basename } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { EngineStatus } from '../../contract/engine';
import type { ApiSettings, CalibrationPlaces, LoadResult } from '../../contract/engineContract';
import { ConcertinaError, type ErrorPayload, toErrorPayload } from '../../contract/errors';
import type { LoadedWorkers } from '../../contract/lib/domains/workers';
import type { ContextSettings } from '../../contract/settings';
import { Emitter } from '../lib/emitter';
import type { ModelLibrary } from '../models/modelLibrary';
import type { SettingsService } from '../settings/settingsStore';
import type { CrashReport, EngineHost, EngineWork } from './engineHost';
import type { EngineMemory } from './engineMemory';
import { type LiveStatus, nothingLoaded } from './engineStatus';
import type { ModelInspector } from './modelInspector';

type Refused = EngineStatus['refused'];

interface LoadParts {
  host: EngineHost;
  inspector: Pick<ModelInspector, 'requireHarmless' | 'beside'>;
  status: LiveStatus;
  memory: EngineMemory;
  library: ModelLibrary;
  settings: SettingsService;
  calibration: CalibrationPlaces;
  /** a folder of its own, for taking a cache over into the next context */
  scratch: string;
  workers: () => Promise<LoadedWorkers>;
}

export class ModelLoads {
  /** a load is about to show, with the settings as they are now */
  readonly began = new Emitter<void>();
  /** the former model is in use again as it was, with the settings of then */
  readonly wentBack = new Emitter<void>();
  readonly sequence: LoadSequence;
  private done = 0;
  /** settings of the context as it was last requested */
  private requested: ContextSettings | null = null;
  /** `api` as it was then */
  private requestedApi: ApiSettings | null = null;
  private readonly fallback = new FallbackModel();
  /** whether a process that starts is given a model at once */
  private loadWithProcess = true;
  /** tokens that contexts of the length Auto were grown to, by model */
  private readonly grown = new Map<string, number>();
  /** what contexts that are made from now on have for the API; null: nothing */
  api: ApiSettings | null = null;

  constructor(private readonly parts: LoadParts) {
    const { host, status } = parts;
    this.sequence = new LoadSequence(host, status);
    host.ready.on(() => void this.onReady());
    host.crashed.on((report) => this.onCrash(report));
    host.client.on('onLoadProgress', ({ step, fraction }) => {
      if (status.current.state === 'loading') status.update({ loadProgress: fraction, loadStep: step });
    });
  }

  /** how many were begun */
  get number(): number {
    return this.sequence.number;
  }

  /** how many have succeeded */
  get succeeded(): number {
    return this.done;
  }

  /** settings of the context in use or being loaded; null: none was requested yet */
  get requestedContext(): ContextSettings | null {
    return this.requested;
  }

  get hasOfferedApi(): boolean {
    return JSON.stringify(this.requestedApi) === JSON.stringify(this.api);
  }

  /** The next process begins without a model: something else is loaded then. */
  beginEmpty(): void {
    this.loadWithProcess = false;
  }

  /**
   * Resolves with the status that it led to, which shows a failure; a load that was overtaken by another one
   * resolves too. `force` leaves the memory check out.
   */
  async load(modelId: string, force = false): Promise<EngineStatus> {
    const { library, status } = this.parts;
    const { state, modelId: inUse } = status.current;
    if (state !== 'ready' || inUse !== modelId) return this.run(modelId, force, null);
    try {
      await library.pathOf(modelId);
    } catch (error) {
      // to unload it would be to lose it: it stays, with the settings that it has
      status.update({ refused: { modelId, error: goneWhileLoaded(error) } });
      return status.current;
    }
    return this.run(modelId, force, null);
  }

  /** With the length Auto, contexts of this model hold so many tokens from now on, where the memory does. */
  grow(modelId: string, tokens: number): void {
    this.grown.set(modelId, Math.max(tokens, this.grown.get(modelId) ?? 0));
  }

  /** the remembered model, else the embedded one; null: there is none */
  async wantedModelId(): Promise<string | null> {
    return this.parts.settings.get().modelId ?? (await this.parts.library.defaultModelId());
  }

  /** `refused`: another model, in whose place this one is loaded again */
  private async run(modelId: string, force: boolean, refused: Refused): Promise<EngineStatus> {
    const { host, inspector, status, library } = this.parts;
    const number = this.sequence.begin();
    this.fallback.keep(status.current, this.requested, this.requestedApi, host.work);
    await this.sequence.endRunning().catch(() => undefined);
    const context = this.show(modelId, refused);
    try {
      const path = await library.pathOf(modelId);
      if (!this.sequence.isLatest(number)) return status.current;
      this.loadWithProcess = false;
      host.start();
      await host.whenReady();
      this.sequence.requireWanted(number);
      const given = await library.withFiles(path, context);
      const drafts = given.speculation === 'draft' || given.speculation === 'mtp';
      const loadsMore = drafts || given.projector !== '' || given.adapters.length > 0;
      if (loadsMore || this.fallback.otherThan(modelId)) await inspector.requireHarmless(path, given);
      if (!this.sequence.isLatest(number)) return status.current;
      this.sequence.requireWanted(number);
      const result = await this.request(path, given, force, this.grown.get(modelId));
      if (this.sequence.isLatest(number)) this.onLoaded(result);
      this.sequence.reportEnded();
    } catch (error) {
      this.sequence.reportEnded();
      if (this.sequence.isLatest(number)) await this.onFailed(error, number);
    }
    return status.current;
  }

  /** @returns the settings that it is loaded with */
  private show(modelId: string, refused: Refused): ContextSettings {
    const { context } = this.parts.settings.of(modelId);
    this.requested = context;
    this.requestedApi = this.api;
    this.began.emit();
    this.parts.status.update({
      ...nothingLoaded,
      state: 'loading',
      modelId,
      loadProgress: 0,
      loadStep: 'weights',
      error: null,
      refused,
    });
    return context;
  }

  private async request(path: string, context: ContextSettings, force: boolean, atLeast?: number): Promise<LoadResult> {
    const { host, calibration, scratch, inspector, workers } = this.parts;
    host.work = { key: `${path}|${JSON.stringify(context)}`, loading: true };
    return host.client.call('load', {
      path,
      context,
      calibration,
      scratch,
      force,
      atLeast,
      beside: inspector.beside(),
      ...(await workers()),
      api: named(this.requestedApi, path),
    });
  }

  private onLoaded(result: LoadResult): void {
    const { host, status } = this.parts;
    this.done++;
    const kept = this.fallback.model?.status.contextChat ?? null;
    this.fallback.forget();
    if (host.work) host.work.loading = false;
    const { model, context, carriedTokens } = result;
    const memory = this.parts.memory.withApp(result.memory);
    status.update({
      ...nothingLoaded,
      state: 'ready',
      model,
      context,
      memory,
      contextUsed: carriedTokens,
      contextChat: carriedTokens > 0 ? kept : null,
      error: null,
    });
  }

  private async onFailed(error: unknown, number: number): Promise<void> {
    const { host, status } = this.parts;
    const payload = toErrorPayload(error);
    // after a crash the state comes from the crash report, and there is no process to send anything to
    if (host.state !== 'ready') {
      const state = host.state === 'unavailable' ? 'unavailable' : 'failed';
      if (status.current.state === 'loading') status.update({ ...nothingLoaded, state, error: payload });
      return;
    }
    host.work = null;
    const reason = payload.code === 'cancelled' ? null : payload;
    const { modelId } = status.current;
    const last = this.fallback.otherThan(modelId);
    if (last && modelId !== null) return this.goBack(last, reason && { modelId, error: reason }, number);
    this.giveUp(reason);
  }

  /** There is no model to fall back to, or it cannot be loaded either: the status shows the one that was requested. `reason`: null when canceled */
  private giveUp(reason: ErrorPayload | null): void {
    const { host, status } = this.parts;
    this.fallback.forget();
    const shown = status.current.refused ?? { modelId: status.current.modelId, error: reason };
    status.update({ ...nothingLoaded, ...shown, state: shown.error ? 'failed' : 'empty', refused: null });
    // a load that did not get as far as the engine left the former model in its memory
    void host.client.call('unload', undefined).catch(() => undefined);
  }

  /** To the model that was used before: it is still loaded where the other one was refused beforehand. */
  private async goBack(last: LastLoaded, refused: Refused, number: number): Promise<void> {
    const { host, status } = this.parts;
    const { memory, contextUsed } = await host.client
      .call('memory', undefined)
      .catch(() => ({ memory: null, contextUsed: 0 }));
    if (!this.sequence.isLatest(number)) return;
    if (!memory) return void (await this.run(last.status.modelId, false, refused));
    this.fallback.forget();
    this.requested = last.requestedContext;
    this.requestedApi = last.requestedApi;
    host.work = last.work;
    const shown = this.parts.memory.withApp(memory);
    status.update({ ...nothingLoaded, ...last.status, state: 'ready', memory: shown, contextUsed, refused });
    this.wentBack.emit();
  }

  /** A process has started: what it begins with. */
  private async onReady(): Promise<void> {
    const { host, status } = this.parts;
    const { capabilities, problem } = host;
    status.update({ capabilities });
    if (problem) return status.update({ ...nothingLoaded, state: 'unavailable', error: problem.toPayload() });
    if (status.current.state === 'loading') return;
    const { modelId: failedId, error } = status.current;
    const last = this.fallback.model;
    if (!this.loadWithProcess && last && failedId !== null && error)
      return void (await this.run(last.status.modelId, false, { modelId: failedId, error }));
    if (!this.loadWithProcess) return status.update({ state: error ? 'failed' : 'empty' });
    const number = this.sequence.number;
    const modelId = status.current.modelId ?? (await this.wantedModelId());
    if (!this.sequence.isLatest(number)) return; // a model was chosen meanwhile
    if (modelId === null) status.update({ state: 'empty' });
    else await this.load(modelId);
  }

  private onCrash(report: CrashReport): void {
    const { host, status } = this.parts;
    host.work = null;
    // what was grown may have been too much
    this.grown.clear();
    if (this.fallback.model?.status.modelId === status.current.modelId) this.fallback.forget();
    this.loadWithProcess = report.reload;
    const restarting = report.restartInMs !== null && report.reload;
    status.update({
      ...nothingLoaded,
      state: restarting ? 'restarting' : 'failed',
      refused: null,
      error: report.error.toPayload(),
      restarts: status.current.restarts + (report.restartInMs === null || report.asked ? 0 : 1),
    });
  }
}

/** The name of the file is that of the model, unless an option says otherwise: clients are not told where it lies. */
function named(api: ApiSettings | null, path: string): ApiSettings | null {
  if (!api || api.options.some((option) => option === '--alias' || option === '-a')) return api;
  // an alias ends at a comma
  return { ...api, options: ['--alias', basename(path).replaceAll(',', ' '), ...api.options] };
}

// The model that was in use when another one was requested: it goes on being used where that one cannot be had.

interface LastLoaded {
  status: Pick<EngineStatus, 'model' | 'context' | 'memory' | 'contextUsed' | 'contextChat'> & { modelId: string };
  requestedContext: ContextSettings | null;
  requestedApi: ApiSettings | null;
  work: EngineWork | null;
}

class FallbackModel {
  private last: LastLoaded | null = null;

  /** Before another one is loaded. While nothing is in use, as where one load overtakes another, the one kept stays. */
  keep(
    inUse: EngineStatus,
    requestedContext: ContextSettings | null,
    requestedApi: ApiSettings | null,
    work: EngineWork | null,
  ): void {
    const { modelId, model, context, memory, contextUsed, contextChat } = inUse;
    if (modelId === null || model === null) return;
    const status = { modelId, model, context, memory, contextUsed, contextChat };
    this.last = { status, requestedContext, requestedApi, work };
  }

  forget(): void {
    this.last = null;
  }

  /** null: none was in use */
  get model(): LastLoaded | null {
    return this.last;
  }

  /** the one to go back to where this model cannot be had; null: there is no other */
  otherThan(modelId: string | null): LastLoaded | null {
    return modelId !== null && this.last?.status.modelId !== modelId ? this.last : null;
  }
}

// Loads by number: the latest one wins, those before it are ended, and a person can cancel it.

class LoadSequence {
  private latest = 0;
  /** the load that a person canceled, which may still wait for the process to start */
  private canceled = 0;
  /** reports to the host that a canceled load has ended */
  private ended: (() => void) | null = null;

  constructor(
    private readonly host: EngineHost,
    private readonly status: LiveStatus,
  ) {}

  /** how many loads were begun: another number means that a model was chosen meanwhile */
  get number(): number {
    return this.latest;
  }

  /** @returns the number of the load that begins, which is the latest now */
  begin(): number {
    return ++this.latest;
  }

  isLatest(number: number): boolean {
    return number === this.latest;
  }

  /** Throws `cancelled` when a person canceled this load before it got as far as the engine. */
  requireWanted(number: number): void {
    if (number === this.canceled) throw new ConcertinaError('cancelled', msg`Loading was canceled.`);
  }

  /**
   * For a person who does not want to wait. While the model is measured, only the measuring ends: turbo works without.
   * Rejects when the engine cannot be reached.
   */
  async cancel(): Promise<void> {
    const { state, loadStep } = this.status.current;
    if (state === 'loading' && loadStep === 'calibration' && this.host.state === 'ready') {
      await this.host.client.call('skipCalibration', undefined);
      return;
    }
    this.canceled = this.latest;
    await this.endRunning();
  }

  /** Ends the load that the engine works on, if there is one. Rejects when the engine cannot be reached. */
  async endRunning(): Promise<void> {
    if (this.status.current.state !== 'loading' || this.host.state !== 'ready') return;
    this.ended ??= this.host.expectEnd();
    await this.host.client.call('cancelLoad', undefined);
  }

  /** The engine has left a load behind: one that was canceled is not waited for any longer. */
  reportEnded(): void {
    this.ended?.();
    this.ended = null;
  }
}

/** The file of the model in use was deleted, moved or damaged. */
function goneWhileLoaded(cause: unknown): ErrorPayload {
  const { code } = toErrorPayload(cause);
  const message =
    'The file of this model is gone. It keeps working, with the settings that it has, until you choose another model.';
  return { code: code === 'not-found' ? 'model-missing' : code, message, hint: 'To load it anew, put the file back.' };
}
