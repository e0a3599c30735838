/**
 * Looks at model files: headers and dry runs, in a process of their own, which lives while it is asked and a little longer.
 * Another process of the kind makes vectors of texts, with a model that stays loaded for as long.
 * One file at a time, so that it is known which file ended a process: that file is answered with an error, now and
 * whenever it is asked about again, and the next one gets a new process at once.
 */

import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { ComparePlan } from '../../contract/compare/compare';
import type { MemoryEstimate } from '../../contract/engine';
import {
  type ApiSettings,
  type EmbedResult,
  type InspectorEvents,
  type InspectorOperations,
  inspectorEvents,
} from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import type { ContextFit, MachineMemory } from '../../contract/fit';
import type { WorkerDevice } from '../../contract/lib/domains/workers';
import { SerialQueue } from '../../contract/lib/serialQueue';
import type { ModelInfo } from '../../contract/models';
import { createRemote, type InputOf, type OutputOf, type Remote } from '../../contract/rpc';
import type { ContextSettings } from '../../contract/settings';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import type { EngineHost } from './engineHost';
import type { ProcessExit, ProcessTransport } from './engineTransport';
import { isKill, nameOf, unavailableHint } from './watchdog';

/** A start takes some tenths of a second, and the memory is wanted by models. */
const usualIdleMs = 60_000;
/** for one answer; a large vocabulary on a slow disk takes some seconds */
const usualLimitMs = 120_000;
const keptEnds = 1000;
/** of a process that was killed: the system does that for reasons that have nothing to do with the file, too */
const chancesAfterKill = 1;

export interface InspectorOptions {
  /** the engine's view of the machine, with what its model holds; null: there is no engine */
  machine?: () => Promise<MachineMemory | null>;
  /** waited for before a process is started */
  before?: () => Promise<void>;
  idleMs?: number;
  limitMs?: number;
}

type FitQuestion = Omit<InputOf<InspectorOperations['fit']>, 'machine'>;

interface Question {
  path: string;
  /** of the file as it is now */
  identity: string;
  ask(client: Remote<InspectorOperations, InspectorEvents>['client']): Promise<unknown>;
  resolve(value: never): void;
  reject(error: unknown): void;
}

interface Running {
  transport: ProcessTransport;
  remote: Remote<InspectorOperations, InspectorEvents>;
  /** rejects when the binary cannot be used */
  ready: Promise<void>;
  isReady: boolean;
}

interface EndedBy {
  error: ConcertinaError;
  /** how often it may still be tried */
  chances: number;
}

export class ModelInspector {
  /** llama.cpp's own lines */
  readonly lines = new Emitter<{ level: 'warn' | 'error'; text: string }>();
  /** a file ended the process */
  readonly ended = new Emitter<ConcertinaError>();
  /** a process has started, or ended */
  readonly lives = new Emitter<void>();
  private running: Running | null = null;
  private readonly waiting: Question[] = [];
  /** all of one file */
  private readonly asked = new Set<Question>();
  /** by identity; the oldest go first */
  private readonly endedBy = new Map<string, EndedBy>();
  private idle: NodeJS.Timeout | null = null;
  private limit: NodeJS.Timeout | null = null;
  private tookTooLong = false;
  /** when it has answered what was asked */
  private stopping = false;
  private closed = false;
  /** what contexts would have for the API; null: nothing */
  api: ApiSettings | null = null;
  /** devices of other machines that a model would have layers at */
  workers: () => WorkerDevice[] = () => [];
  /** folder with what was measured of models */
  measurements: string | undefined = undefined;
  /** bytes of RAM that the app's other processes will take, and have not taken yet */
  beside: () => number = () => 0;
  private ends = 0;
  private readonly arrivals = new SerialQueue();

  constructor(
    private readonly open: () => ProcessTransport,
    private readonly log: Logger,
    private readonly options: InspectorOptions = {},
  ) {}

  /** of the process, where there is one */
  get pid(): number | undefined {
    return this.running?.transport.pid;
  }

  /** how many processes files have ended */
  get endCount(): number {
    return this.ends;
  }

  /** reads the header of a model file; rejects with a coded error, as the others do */
  inspect(path: string): Promise<ModelInfo> {
    return this.call('inspect', { path });
  }

  estimate(path: string, context: ContextSettings): Promise<MemoryEstimate> {
    const { api, measurements } = this;
    return this.call('estimate', { path, context, api, measurements, ...this.lent() });
  }

  async fit(question: FitQuestion): Promise<ContextFit> {
    const { measurements } = this;
    return this.call('fit', { measurements, ...this.asOffered(question), ...(await this.machine()) });
  }

  /** With what contexts would have for the API, and the devices of other machines. */
  asOffered(question: FitQuestion): FitQuestion {
    return { api: this.api, ...this.lent(), ...question };
  }

  async planComparison(
    question: Omit<InputOf<InspectorOperations['planComparison']>, 'machine'>,
  ): Promise<ComparePlan> {
    return this.call('planComparison', { measurements: this.measurements, ...question, ...(await this.machine()) });
  }

  /** One vector for each text, of an embedding model that is loaded for it. */
  embed(path: string, texts: string[]): Promise<EmbedResult> {
    return this.call('embed', { path, texts });
  }

  /** bytes that the model takes for that */
  async embedderBytes(path: string): Promise<number> {
    return (await this.call('embedderBytes', { path })).bytes;
  }

  /** Ends the process, and with it what it holds, as soon as nothing is asked of it any more. */
  stop(): void {
    this.stopping = this.asked.size > 0 || this.waiting.length > 0;
    if (this.stopping) return;
    this.clearTimers();
    const { running } = this;
    this.running = null;
    if (running) void end(running.transport);
    this.lives.emit();
  }

  /**
   * For what is about to be loaded: rejects when the file ends a process that looks at it, so that it does not end the one
   * that holds a model. Whatever else there is to be said, the load says.
   */
  async requireHarmless(path: string, context: ContextSettings): Promise<void> {
    await this.estimate(path, context).catch(() => undefined);
    const ended = this.endedBy.get(await identityOf(path, context));
    if (ended) throw ended.error;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.clearTimers();
    const { running } = this;
    this.running = null;
    const error = new ConcertinaError('engine-unavailable', msg`The app is closing.`);
    for (const question of [...this.asked, ...this.waiting.splice(0)]) question.reject(error);
    this.asked.clear();
    running?.remote.fail(error);
    if (running) await end(running.transport);
  }

  private lent(): { workers?: WorkerDevice[] } {
    const workers = this.workers();
    return workers.length > 0 ? { workers } : {};
  }

  private async machine(): Promise<{ machine?: MachineMemory }> {
    const machine = await this.options.machine?.();
    if (!machine) return {};
    const { ram } = machine;
    return { machine: { ...machine, ram: { ...ram, free: ram.free - this.beside() } } };
  }

  private async call<N extends keyof InspectorOperations & string>(
    name: N,
    input: InputOf<InspectorOperations[N]> & { path: string; context?: Partial<ContextSettings> },
  ): Promise<OutputOf<InspectorOperations[N]>> {
    const { path, context } = input;
    // in the order in which they were asked, however long the disk takes for each
    const identity = await this.arrivals.run(() => identityOf(path, context));
    return new Promise((resolve, reject) => {
      const ask: Question['ask'] = (client) => client.call(name, input);
      this.waiting.push({ path, identity, ask, resolve: resolve as Question['resolve'], reject });
      this.next();
    });
  }

  /** Asks what may be asked now: everything that waits for the file that is being looked at, up to the next file. */
  private next(): void {
    for (;;) {
      const question = this.waiting[0];
      if (!question) break;
      const [current] = this.asked;
      if (current && current.identity !== question.identity) return;
      this.waiting.shift();
      const known = this.endedBy.get(question.identity);
      if (this.closed) question.reject(new ConcertinaError('engine-unavailable', msg`The app is closing.`));
      else if (known?.chances === 0) question.reject(known.error);
      else void this.answer(question);
    }
    if (this.asked.size === 0) this.rest();
  }

  private async answer(question: Question): Promise<void> {
    this.asked.add(question);
    if (this.idle) clearTimeout(this.idle);
    this.idle = null;
    try {
      await this.options.before?.();
      if (!this.asked.has(question)) return;
      this.running ??= this.start();
      if (!this.limit) this.beginLimit();
      const { ready, remote } = this.running;
      await ready;
      if (!this.asked.has(question)) return;
      question.resolve((await question.ask(remote.client)) as never);
    } catch (error) {
      question.reject(error);
    } finally {
      // after the end of a process, its questions are settled already
      if (this.asked.delete(question)) {
        this.clearLimit();
        if (this.asked.size > 0) this.beginLimit();
        this.next();
      }
    }
  }

  private start(): Running {
    const transport = this.open();
    let settle: (problem: string | null) => void = () => undefined;
    const ready = new Promise<void>((resolve, reject) => {
      settle = (problem) =>
        problem === null ? resolve() : reject(new ConcertinaError('engine-unavailable', problem, unavailableHint));
    });
    ready.catch(() => undefined);
    const remote = createRemote<InspectorOperations, InspectorEvents>(
      inspectorEvents,
      (message) => transport.send(message),
      (event, problem) => {
        if (event === 'onReady') settle(`The engine is not of this version of the app (${problem}).`);
      },
    );
    const running: Running = { transport, remote, ready, isReady: false };
    this.running = running;
    this.lives.emit();
    remote.client.on('onReady', ({ capabilities, problem }) => {
      running.isReady = true;
      settle(capabilities ? null : (problem ?? 'The engine cannot be used.'));
    });
    remote.client.on('onLog', (line) => {
      this.log[line.level](`inspector: ${line.text}`);
      this.lines.emit(line);
    });
    transport.onMessage((message) => remote.receive(message));
    transport.onOutput((text) => this.log.info(`inspector output: ${text}`));
    transport.onExit((exit) => {
      settle(`The process that looks at model files could not start (${nameOf(exit)}).`);
      if (this.running === running) this.onExit(exit, running);
    });
    return running;
  }

  private onExit(exit: ProcessExit, { remote, isReady }: Running): void {
    this.running = null;
    this.lives.emit();
    this.clearTimers();
    const tookTooLong = this.tookTooLong;
    this.tookTooLong = false;
    const questions = [...this.asked];
    const [question] = questions;
    // it went while it was not needed, or it could not start: then each question was rejected already
    if (!question || !isReady) return;
    const error = this.remember(question, exit, tookTooLong);
    this.asked.clear();
    for (const one of questions) one.reject(error);
    remote.fail(error);
    this.next();
  }

  private remember({ path, identity }: Question, exit: ProcessExit, tookTooLong: boolean): ConcertinaError {
    this.ends++;
    const why = tookTooLong
      ? 'could not be read in time'
      : `cannot be read: it ends the program that reads model files (${nameOf(exit)})`;
    const hint = 'The file is probably damaged. Download it again, or choose another one.';
    const error = new ConcertinaError('model-invalid', `${basename(path)} ${why}.`, hint);
    const before = this.endedBy.get(identity)?.chances ?? chancesAfterKill + 1;
    const chances = isKill(exit) && !tookTooLong ? before - 1 : 0;
    this.endedBy.delete(identity);
    this.endedBy.set(identity, { error, chances });
    if (this.endedBy.size > keptEnds) this.endedBy.delete(this.endedBy.keys().next().value as string);
    this.log.warn(`The process that looks at model files ended (${nameOf(exit)}) with ${basename(path)}.`);
    this.ended.emit(error);
    return error;
  }

  private beginLimit(): void {
    this.clearLimit();
    this.limit = setTimeout(() => {
      this.tookTooLong = true;
      this.running?.transport.kill();
    }, this.options.limitMs ?? usualLimitMs);
  }

  private clearLimit(): void {
    if (this.limit) clearTimeout(this.limit);
    this.limit = null;
  }

  /** Nothing is asked. */
  private rest(): void {
    if (this.stopping) this.stop();
    if (!this.running || this.idle) return;
    this.idle = setTimeout(() => {
      this.idle = null;
      this.stop();
    }, this.options.idleMs ?? usualIdleMs);
    this.idle.unref?.();
  }

  private clearTimers(): void {
    this.clearLimit();
    if (this.idle) clearTimeout(this.idle);
    this.idle = null;
  }
}

/** Of the file, of the one that drafts for it, of its projector and adapters: each may end a process. A replaced file is another one. */
async function identityOf(path: string, context: Partial<ContextSettings> = {}): Promise<string> {
  const { speculation, draftModel = '', projector = 'auto', adapters = [] } = context;
  const others = [speculation === 'draft' ? draftModel : '', projector === 'auto' ? '' : projector];
  const files = [path, ...others.filter((file) => file !== ''), ...adapters.map(({ model }) => model)];
  const stats = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return files.map((file, index) => `${file}|${stats[index]?.size}|${stats[index]?.mtimeMs}`).join('|');
}

const endMs = 2000;

function end(transport: ProcessTransport): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => {
      transport.kill();
      resolve();
    }, endMs);
    transport.onExit(() => {
      clearTimeout(limit);
      resolve();
    });
    transport.send({ type: 'shutdown' });
  });
}

/**
 * An inspector beside an engine. The engine starts first: it is waited for, and the self-test of a GPU is not done twice at
 * once.
 */
export function inspectorBeside(host: EngineHost, open: () => ProcessTransport, log: Logger): ModelInspector {
  return new ModelInspector(open, log, {
    before: async () => {
      if (host.state === 'starting') await host.whenReady().catch(() => undefined);
    },
    machine: async () =>
      host.state === 'ready' ? host.client.call('machineMemory', undefined).catch(() => null) : null,
  });
}
