/**
 * What answers requests of the API: the model in use, or the one that a request names, which is loaded first. Also which
 * requests run, the list of models, and the end of a model that nobody has asked for a while.
 */

import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import type { RunningRequest } from '../../contract/api';
import type { EngineStatus } from '../../contract/engine';
import type { ApiPart, ApiRequest } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { SerialQueue } from '../../contract/lib/serialQueue';
import type { ModelEntry } from '../../contract/models';
import type { EngineService } from '../engine/engineService';
import { Emitter, waitUntil } from '../lib/emitter';
import type { ModelLibrary } from '../models/modelLibrary';
import { isNamed } from '../models/modelNames';
import { ApiError, notLoaded } from './apiError';

/** Runs a task after so many milliseconds, unless the result is called before. */
export type After = (ms: number, task: () => void) => () => void;

export const afterTimer: After = (ms, task) => {
  const timer = setTimeout(task, ms).unref();
  return () => clearTimeout(timer);
};

export interface ApiServiceOptions {
  engine: Pick<
    EngineService,
    'status' | 'changed' | 'select' | 'reload' | 'rest' | 'rests' | 'respond' | 'hasOfferedApi'
  >;
  models: Pick<ModelLibrary, 'list' | 'changed'>;
  after?: After;
}

export type OnPart = (part: ApiPart, taken: (bytes: number) => void) => void;

export class ApiService {
  /** requests cannot have another model loaded, and see no other */
  oneModel = false;
  /** a request has begun or ended */
  readonly changed = new Emitter<RunningRequest[]>();
  /** a part of a response has come */
  readonly progressed = new Emitter<void>();
  private readonly running = new Map<string, RunningRequest & { ending: AbortController }>();
  private readonly turns: ModelTurns;
  private readonly loads = new SerialQueue();
  private entries: Promise<ModelEntry[]> | null = null;
  private readonly idle: IdleWatch;

  constructor(private readonly options: ApiServiceOptions) {
    const { engine, models, after = afterTimer } = options;
    this.turns = new ModelTurns(() => engine.status().modelId);
    models.changed.on(() => (this.entries = null));
    this.idle = new IdleWatch(engine, after, () => this.running.size > 0);
  }

  /** Requests that run or wait, the oldest first. */
  requests(): RunningRequest[] {
    return [...this.running.values()].map(({ ending: _, ...one }) => one);
  }

  /** By a person: its client is told so. */
  end(id: string): void {
    this.running.get(id)?.ending.abort();
  }

  /** Whether a request would be answered now: a model is in use, and be it that its memory was freed. */
  isReady(): boolean {
    return this.options.engine.rests || isLoaded(this.options.engine.status());
  }

  /** The memory of the model is freed after so many milliseconds without a request or an answer; null: never. */
  restAfter(ms: number | null): void {
    this.idle.ms = ms;
    this.idle.look();
  }

  /** Asks how things are, which neither needs a turn nor keeps a model in memory. Rejects where none is. */
  async look(request: ApiRequest, onPart: OnPart, signal: AbortSignal): Promise<void> {
    const { engine } = this.options;
    if (!isLoaded(engine.status()) || !engine.hasOfferedApi)
      throw notLoaded(engine.rests ? 'The model rests until it is asked.' : undefined);
    await engine.respond(request, onPart, signal);
  }

  /**
   * Has the model answer that the request names, or the one in use. `named`: of the body; null: none. `client`: as it
   * calls itself. Resolves when the response is complete. Rejects with an `ApiError`, with a coded error, and with `cancelled`.
   */
  async answer(
    request: ApiRequest,
    { named, client }: { named: string | null; client: string },
    onPart: OnPart,
    signal: AbortSignal,
  ): Promise<void> {
    const ending = new AbortController();
    const ended = AbortSignal.any([signal, ending.signal]);
    const one = {
      ...{ id: randomUUID(), path: request.path, model: named, since: Date.now() },
      ...{ client, bytes: 0, ending },
    };
    this.running.set(one.id, one);
    this.changed.emit(this.requests());
    try {
      const modelId = named === null ? null : await this.idOf(named);
      await this.turns.during(modelId, ended, async () => {
        await this.loads.run(() => this.load(modelId, ended));
        await this.options.engine.respond(
          request,
          (part, taken) => {
            one.bytes += Buffer.byteLength(part.data);
            this.progressed.emit();
            onPart(part, taken);
          },
          ended,
        );
      });
    } catch (error) {
      if (!ending.signal.aborted) throw error;
      throw new ConcertinaError('cancelled', msg`The request was ended in the window of Concertina.`);
    } finally {
      this.running.delete(one.id);
      this.changed.emit(this.requests());
      this.idle.look();
    }
  }

  /** Null: the model in use answers, whatever the name says, as llama-server does. Rejects where none is. */
  private async idOf(name: string): Promise<string | null> {
    if (this.oneModel) return null;
    const { modelId } = this.options.engine.status();
    const found = (await this.usable()).filter((entry) => isNamed(entry, name));
    const entry = found.find(({ id }) => id === modelId) ?? found[0];
    if (entry) return entry.id;
    if (this.isReady() || isMoving(this.options.engine.status())) return null;
    throw new ApiError(
      404,
      'not_found_error',
      `There is no model ${name}. GET /v1/models lists them.`,
      'model_not_found',
    );
  }

  private async usable(): Promise<ModelEntry[]> {
    this.entries ??= this.options.models.list();
    return (await this.entries).filter(({ problem }) => problem === null);
  }

  /** Until the model is in use. One that is on its way for the window is not disturbed. */
  private async load(modelId: string | null, signal: AbortSignal): Promise<void> {
    const { engine } = this.options;
    if (signal.aborted) return;
    if (engine.status().comparing !== null) throw notLoaded('A comparison runs. Ask again when it has ended.');
    const wanted = modelId ?? engine.status().modelId;
    // what is loaded may be from before the API was switched on
    const isThere = isLoaded(engine.status());
    if (isThere && engine.status().modelId === wanted && engine.hasOfferedApi) return;
    if (isMoving(engine.status())) throw notLoaded();
    if (wanted === null || (modelId === null && !engine.rests && !isThere)) throw notLoaded('No model is loaded.');
    await waitUntil(engine.changed, signal, () => {
      if (signal.aborted) throw new ConcertinaError('cancelled', msg`The request was canceled before it began.`);
      return engine.status().state !== 'generating';
    });
    const {
      state,
      error,
      refused,
      modelId: inUse,
    } = await (engine.status().modelId === wanted ? engine.reload() : engine.select(wanted));
    if (state === 'ready' && inUse === wanted) return;
    const reason = refused?.error ?? error;
    throw reason ? ConcertinaError.fromPayload(reason) : notLoaded();
  }

  /**
   * The list of models: llama-server's own answer where a model is in use (`ours`), with what the context has, and the other
   * models that a request may name.
   */
  async models(signal: AbortSignal): Promise<unknown> {
    const status = this.options.engine.status();
    const ours = isLoaded(status) ? await this.ownList(signal) : null;
    const others = (this.oneModel && ours !== null ? [] : await this.usable()).filter(
      ({ id }) => ours === null || id !== status.modelId,
    );
    const names = others.map(({ fileName }) => fileName);
    const listed = others.map((entry) => ({
      // a name that several have says nothing
      id: names.filter((name) => name === entry.fileName).length > 1 ? entry.id : entry.fileName,
      ...{ aliases: [entry.id], tags: [], object: 'model', created: 0, owned_by: 'concertina' },
      meta: entry.info && {
        ...{ n_ctx_train: entry.info.nCtxTrain, n_params: entry.info.parameters, size: entry.fileBytes },
        ftype: entry.info.quantization,
      },
    }));
    const loaded = (ours?.data ?? []).map((entry) => ({ ...entry, meta: { ...entry.meta, ...contextOf(status) } }));
    return { ...ours, object: 'list', data: [...loaded, ...listed] };
  }

  private async ownList(signal: AbortSignal): Promise<OwnList | null> {
    const request = { handler: 'get_models', path: '/v1/models', query: '', params: {}, body: '' };
    let text = '';
    let isGood = false;
    const read: OnPart = ({ status, data }, taken) => {
      isGood ||= status === 200;
      text += data;
      taken(Buffer.byteLength(data));
    };
    try {
      await this.options.engine.respond(request, read, signal);
      return isGood ? (JSON.parse(text) as OwnList) : null;
    } catch {
      // another task has the engine: the list is not worth an error
      return null;
    }
  }
}

interface OwnList {
  data: { id: string; meta?: Record<string, unknown> }[];
}

function contextOf({ context }: EngineStatus): Record<string, unknown> {
  if (!context) return {};
  return { n_ctx: context.nCtx, cache_type_k: context.typeK.effective, cache_type_v: context.typeV.effective };
}

function isLoaded({ state }: EngineStatus): boolean {
  return state === 'ready' || state === 'generating';
}

function isMoving({ state }: EngineStatus): boolean {
  return ['starting', 'loading', 'restarting'].includes(state);
}

// Whose turn it is where requests want different models, of which one is in memory: those for the same model run at the same
// time, and one for another model waits until they have ended. Nobody overtakes: whoever comes after it waits too.

interface Waiting {
  /** null: whichever is in use */
  modelId: string | null;
  start: () => void;
}

class ModelTurns {
  private active = 0;
  /** of those that run */
  private modelId: string | null = null;
  private readonly waiting: Waiting[] = [];

  /** `inUse`: the model that is in memory now */
  constructor(private readonly inUse: () => string | null) {}

  /** Settles as the task does, when it has had its turn. Rejects with `cancelled` where the signal comes first. */
  async during<T>(modelId: string | null, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    await this.turn(modelId, signal);
    try {
      return await task();
    } finally {
      this.active--;
      this.startNext();
    }
  }

  private turn(modelId: string | null, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const one: Waiting = {
        modelId,
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      const leave = (): void => {
        const index = this.waiting.indexOf(one);
        if (index >= 0) this.waiting.splice(index, 1);
        reject(new ConcertinaError('cancelled', msg`The request was canceled before its turn came.`));
        this.startNext();
      };
      if (signal.aborted) return leave();
      signal.addEventListener('abort', leave, { once: true });
      this.waiting.push(one);
      this.startNext();
    });
  }

  /** Starts whoever is first, as long as it may run beside those that do. */
  private startNext(): void {
    for (let [first] = this.waiting; first && this.mayStart(first); [first] = this.waiting) {
      this.waiting.shift();
      if (this.active === 0) this.modelId = first.modelId ?? this.inUse();
      this.active++;
      first.start();
    }
  }

  private mayStart({ modelId }: Waiting): boolean {
    return this.active === 0 || modelId === null || modelId === this.modelId;
  }
}

// Frees the memory of a model that neither the API nor the window has used for a while.

class IdleWatch {
  /** null: never */
  ms: number | null = null;
  private cancel: (() => void) | null = null;
  private wasReady = false;

  constructor(
    private readonly engine: ApiServiceOptions['engine'],
    private readonly after: After,
    private readonly isAsked: () => boolean,
  ) {
    // figures of the memory change all the time: only what begins and ends counts
    engine.changed.on(({ state }) => {
      if ((state === 'ready') !== this.wasReady) this.look();
    });
  }

  /** Begins to wait anew where nothing runs. */
  look(): void {
    this.cancel?.();
    this.cancel = null;
    this.wasReady = this.engine.status().state === 'ready';
    if (this.ms === null || !this.wasReady || this.isAsked()) return;
    this.cancel = this.after(this.ms, () => {
      if (!this.isAsked()) void this.engine.rest().catch(() => undefined);
    });
  }
}
