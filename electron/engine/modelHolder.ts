/** The one model and context that this process holds. A new context on the same weights does not read the file again. */

import { statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { msg } from '@lingui/core/runtime-macro';
import type { LoadStep, Memory } from '../contract/engine';
import type { LoadRequest, LoadResult } from '../contract/engineContract';
import { ConcertinaError } from '../contract/errors';
import { keepsCache } from '../contract/fit';
import { sameAdapters } from '../contract/lib/domains/adapters';
import { SerialQueue } from '../contract/lib/serialQueue';
import type { ListedTypes } from './cacheBudget/budgetTypes';
import { type Prices, typesOfBudget } from './cacheBudget/prices';
import { type CalibrationOutcome, type CalibrationRun, ensureCalibrated } from './calibration';
import { CarryOver } from './contextReuse';
import type { CheckedMemory, MemoryPlanner } from './fit/planner';
import { filePages, withProcessMemory } from './memory';
import { contextOf, spreadOf } from './native/spread';
import type { Context, Engine, Found, Model, Spread } from './native/types';

/** fraction: of the step, 0..1 */
export type ReportLoad = (step: LoadStep, fraction: number) => void;

export interface Loaded {
  model: Model;
  context: Context;
}

/** With the length that the context has. */
type CheckedLoad = LoadRequest & CheckedMemory;

export interface LoadSteps {
  /** ends what still uses the context */
  beforeFree(): Promise<void>;
  /**
   * throws `out-of-memory` when a load would not fit and is not forced; runs while the former model is still loaded.
   * Returns what the context has for the API, and the length where that is Auto.
   */
  checkMemory: MemoryPlanner['check'];
  /** what each layer gets of a budget; prices null: the model was not measured for it */
  listTypes(
    path: string,
    context: LoadRequest['context'] & Pick<LoadRequest, 'api' | 'workers'>,
    prices: Prices | null,
  ): Promise<ListedTypes>;
  /** the cache of this context is about to go; never throws. `onSaving`: it is written down first */
  beforeLoss(loaded: Loaded, onSaving: () => void): Promise<void>;
}

/** The weights of a model, for contexts of the borrower's own. */
export interface Loan {
  model: Model;
  /** where its layers lie; null: where the settings want them */
  found: Found | null;
  /** of reading the weights; null: they were in memory */
  loadMs: number | null;
  /** frees the context that was loaded, after what it holds was written down; false: there is none */
  release(): Promise<boolean>;
}

export class ModelHolder {
  private model: Model | null = null;
  private context: Context | null = null;
  /** that the context was made for */
  private request: LoadRequest | null = null;
  private weightsKey = '';
  /** where the layers of what is loaded lie; null: where the settings want them */
  private found: Found | null = null;
  /** before the weights were mapped */
  private filePagesBefore: number | null = null;
  private loading: AbortController | null = null;
  private measuring: AbortController | null = null;
  /** the outcome of measuring the model when its context was made */
  private measured: CalibrationOutcome = { calibration: '', notes: [] };
  private readonly queue = new SerialQueue();

  constructor(
    private readonly engine: () => Engine,
    private readonly steps: LoadSteps,
  ) {}

  /** What is loaded; throws `model-missing` when nothing is. */
  require(): Loaded {
    if (this.model && this.context) return { model: this.model, context: this.context };
    throw new ConcertinaError('model-missing', msg`No model is loaded.`, msg`Choose a model first.`);
  }

  get current(): Loaded | null {
    return this.model && this.context ? { model: this.model, context: this.context } : null;
  }

  memory(): Memory | null {
    return this.context && this.memoryOf(this.context);
  }

  /** Whichever is in memory: its context may have been freed for a comparison. */
  requireModel(): Model {
    if (this.model) return this.model;
    throw new ConcertinaError('model-missing', msg`No model is loaded.`, msg`Choose a model first.`);
  }

  /**
   * Lends the weights of a model, read first where they are not in memory. What is loaded stays so unless its memory is
   * needed, or it is another model; then nothing is loaded afterwards. A load ends the loan: it waits in `beforeFree` until
   * the task has seen `signal`, and so this waits for one that runs only as long as nobody waits for it.
   */
  async lend<T>(
    { path, context }: Pick<LoadRequest, 'path' | 'context'>,
    report: ReportLoad,
    signal: AbortSignal,
    task: (loan: Loan) => Promise<T>,
  ): Promise<T> {
    await Promise.race([this.queue.idle(), aborted(signal)]);
    throwIfCanceled(signal);
    const asked = spreadOf(context);
    // with its drafting layers it is the same model
    const mtp = this.weightsKey === weightsKey({ path, asked, mtp: true });
    let found = this.found;
    if (!mtp && this.weightsKey !== weightsKey({ path, asked, mtp })) {
      // of the loan before this one: they would count as taken
      if (!this.context) await this.dispose();
      ({ found } = await this.steps.checkMemory({ path, context: { ...context, speculation: 'off' } }, signal));
      await this.release(report);
    }
    const before = this.model;
    const startedAt = performance.now();
    const onProgress = (fraction: number) => report('weights', fraction);
    const model = await this.weights({ path, asked, found, mtp }, onProgress, signal);
    const loadMs = model === before ? null : performance.now() - startedAt;
    try {
      return await task({ model, found, loadMs, release: () => this.release(report) });
    } finally {
      await this.attachOwnMeasurements(model);
    }
  }

  /** The borrower's contexts had theirs; what is carried over from the loaded context needs those that it was made with. */
  private async attachOwnMeasurements(model: Model): Promise<void> {
    if (!this.context || !this.request) return;
    await this.calibrate(model, this.request, () => {}, new AbortController().signal);
  }

  private async release(report: ReportLoad): Promise<boolean> {
    if (!this.current) return false;
    await this.steps.beforeLoss(this.current, () => report('cache', 0));
    await this.disposeContext();
    return true;
  }

  /**
   * Loads after earlier loads have ended. What was loaded stays when the load is refused or canceled before it needs its
   * place; after that, nothing stays loaded on failure.
   */
  load(request: LoadRequest, report: ReportLoad): Promise<LoadResult> {
    this.cancelLoad();
    const controller = new AbortController();
    this.loading = controller;
    return this.queue.run(async () => {
      try {
        await this.steps.beforeFree();
        const atLeast = Math.max(request.atLeast ?? 0, this.heldFor(request));
        const checked = await this.steps.checkMemory({ ...request, atLeast }, controller.signal);
        throwIfCanceled(controller.signal);
        const context = { ...request.context, ...(checked.auto && { nCtx: checked.auto.nCtx }) };
        return await this.loadOrDispose({ ...request, ...checked, context }, report, controller.signal);
      } finally {
        if (this.loading === controller) this.loading = null;
      }
    });
  }

  /** Cells that the next context has to have, and one to go on with, for what has been read to be kept; 0: nothing is. */
  private heldFor({ path }: LoadRequest): number {
    const used = this.request?.path === path ? (this.context?.contextUsed ?? 0) : 0;
    return used > 0 ? used + 1 : 0;
  }

  cancelLoad(): void {
    this.loading?.abort();
  }

  skipCalibration(): void {
    this.measuring?.abort();
  }

  unload(): Promise<void> {
    this.cancelLoad();
    return this.queue.run(async () => {
      await this.steps.beforeFree();
      if (this.current) await this.steps.beforeLoss(this.current, () => {});
      await this.dispose();
    });
  }

  private async loadOrDispose(request: CheckedLoad, report: ReportLoad, signal: AbortSignal): Promise<LoadResult> {
    try {
      return await this.loadNow(request, report, signal);
    } catch (error) {
      if (this.current) await this.steps.beforeLoss(this.current, () => {});
      await this.dispose();
      throw error;
    }
  }

  private async loadNow(request: CheckedLoad, report: ReportLoad, signal: AbortSignal): Promise<LoadResult> {
    const carry = request.scratch ? new CarryOver(request.scratch) : null;
    try {
      if (carry) await this.saveCache(carry, request, report);
      if (this.current && !carry?.saved) await this.steps.beforeLoss(this.current, () => report('cache', 0));
      return await this.makeContext(request, carry, report, signal);
    } finally {
      await carry?.forget();
    }
  }

  /** Writes the cache down when the next context can use it. */
  private async saveCache(carry: CarryOver, request: CheckedLoad, report: ReportLoad): Promise<void> {
    const loaded = this.current;
    const { context: asked } = request;
    if (!loaded || !this.holds(weightsOf(request))) return;
    if (!sameAdapters(this.request?.context.adapters ?? [], asked.adapters)) return;
    const { effective, contextUsed } = loaded.context;
    if (!keepsCache(effective, asked, contextUsed, loaded.model.info.nCtxTrain)) return;
    report('cache', 0);
    await carry.save(loaded.context);
    report('cache', 0.5);
  }

  private async makeContext(
    request: CheckedLoad,
    carry: CarryOver | null,
    report: ReportLoad,
    signal: AbortSignal,
  ): Promise<LoadResult> {
    await this.disposeContext();
    throwIfCanceled(signal);
    const options = contextOf(request.context);
    const model = await this.weights(weightsOf(request), (fraction) => report('weights', fraction), signal);
    throwIfCanceled(signal);
    // Cells that are kept were centered with the measurements that are attached now.
    if (!carry?.saved) this.measured = await this.calibrate(model, request, report, signal);
    throwIfCanceled(signal);
    const listed = await this.spend(model, request, report, signal);
    throwIfCanceled(signal);
    const context = await model.createContext({ ...options, ...listed.types, ...request.core });
    this.context = context;
    this.request = request;
    const { missing = [] } = request;
    const notes = [...context.effective.notes, ...this.measured.notes, ...listed.notes, ...missing];
    const lost = await carry?.into(context);
    if (lost) notes.push(lost);
    throwIfCanceled(signal);
    return {
      model: model.info,
      context: {
        ...context.effective,
        placement: request.found?.placement ?? null,
        ...{ calibration: this.measured.calibration, auto: autoOf(request, context), notes },
        fingerprint: model.fingerprint,
      },
      memory: this.memoryOf(context),
      carriedTokens: context.contextUsed,
    };
  }

  private calibrate(
    model: Model,
    request: LoadRequest,
    report: ReportLoad,
    signal: AbortSignal,
  ): Promise<CalibrationOutcome> {
    return this.measure(request, report, signal, (run) => ensureCalibrated(model, run));
  }

  /** The types of each layer, where a budget stands in place of them. */
  private async spend(model: Model, request: CheckedLoad, report: ReportLoad, signal: AbortSignal) {
    const { path, context, api, workers } = request;
    const listed = (prices: Prices | null) => this.steps.listTypes(path, { ...context, api, workers }, prices);
    return this.measure(request, report, signal, (run) => typesOfBudget(model, run, listed));
  }

  private async measure<T>(
    request: LoadRequest,
    report: ReportLoad,
    signal: AbortSignal,
    work: (run: CalibrationRun) => Promise<T>,
  ): Promise<T> {
    const skip = new AbortController();
    const cancel = () => skip.abort();
    signal.addEventListener('abort', cancel);
    this.measuring = skip;
    try {
      return await work({
        places: request.calibration,
        options: request.context,
        onProgress: (fraction) => report('calibration', fraction),
        skip: skip.signal,
      });
    } finally {
      this.measuring = null;
      signal.removeEventListener('abort', cancel);
    }
  }

  private memoryOf(context: Context): Memory {
    return withProcessMemory(context, this.engine().memories(), this.filePagesBefore);
  }

  private async weights(wanted: Weights, onProgress: (fraction: number) => void, signal: AbortSignal): Promise<Model> {
    if (this.model && this.holds(wanted)) return this.model;
    await this.dispose();
    this.filePagesBefore = filePages();
    const { path, asked, found, mtp } = wanted;
    this.model = await this.engine().loadModel(path, { ...(found?.spread ?? asked), mtp, onProgress, signal });
    this.weightsKey = weightsKey(wanted);
    this.found = found;
    return this.model;
  }

  private holds(wanted: Weights): boolean {
    return this.weightsKey === weightsKey(wanted) && isDeepStrictEqual(this.found?.spread, wanted.found?.spread);
  }

  private async disposeContext(): Promise<void> {
    const context = this.context;
    this.context = null;
    await context?.dispose();
  }

  private async dispose(): Promise<void> {
    await this.disposeContext();
    const model = this.model;
    this.model = null;
    this.weightsKey = '';
    this.found = null;
    await model?.dispose();
  }
}

/** As it was made; null: the length was chosen, by an option of llama-server too. */
function autoOf({ auto }: CheckedMemory, { effective: { nCtx } }: Context): CheckedMemory['auto'] {
  const isMade = auto !== null && Math.abs(nCtx - auto.nCtx) < cellStep;
  return isMade ? { ...auto, nCtx } : null;
}

/** The engine rounds a context up to whole groups of this many cells. */
const cellStep = 256;

function throwIfCanceled(signal: AbortSignal): void {
  if (signal.aborted) throw new ConcertinaError('cancelled', msg`Loading the model was canceled.`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

interface Weights {
  path: string;
  /** where the settings want the layers */
  asked: Spread;
  found: Found | null;
  /** with the layers that draft */
  mtp: boolean;
}

function weightsOf({ path, context, api, workers, found }: CheckedLoad): Weights {
  const mtp = context.speculation === 'mtp' || (api?.options.includes('draft-mtp') ?? false);
  return { path, asked: spreadOf(context, workers), found, mtp };
}

/** A file that was replaced in place is another model. */
function weightsKey({ path, asked, mtp }: Omit<Weights, 'found'>): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return `${path}|${stat?.size}|${stat?.mtimeMs}|${mtp}|${JSON.stringify(asked)}`;
}
