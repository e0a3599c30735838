/** The engine process as an object with a life: start, ready, crash, restart, stop. It knows nothing of models. */
import { msg } from '@lingui/core/runtime-macro';
import type { Capabilities, Stall } from '../../contract/engine';
import {
  type EngineClient,
  type EngineEvents,
  type EngineOperations,
  engineEvents,
} from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { createRemote } from '../../contract/rpc';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import type { ProcessExit, ProcessTransport } from './engineTransport';
import {
  crashError,
  endedWhenAsked,
  isKill,
  killedWhileLoading,
  nameOf,
  type RestartDecision,
  RestartPolicy,
  startKey,
  unavailableHint,
  Watchdog,
} from './watchdog';

/** `waiting`: crashed, will be started again; `given-up`: crashed, starts only when asked to. */
export type HostState = 'stopped' | 'starting' | 'ready' | 'unavailable' | 'waiting' | 'given-up';

export interface CrashReport {
  error: ConcertinaError;
  /** null: it is not started again by itself */
  restartInMs: number | null;
  /** whether the model may be loaded again with the same settings */
  reload: boolean;
  /** a person had the process ended */
  asked: boolean;
}

/** What the process works on, to distinguish a deterministic failure from a new one. */
export interface EngineWork {
  key: string;
  loading: boolean;
}

interface AfterExit extends RestartDecision {
  error: ConcertinaError;
}

/** signs that it gets on with something */
const progressEvents = [
  ...(['onFrame', 'onResponse', 'onLoadProgress'] as const),
  ...(['onCompareFacts', 'onCompareColumn', 'onCompareFrame'] as const),
];

export class EngineHost {
  readonly ready = new Emitter<Capabilities | null>();
  readonly crashed = new Emitter<CrashReport>();
  /** what the process is waited for in vain; null: nothing any more */
  readonly stalled = new Emitter<Stall | null>();
  readonly client: EngineClient;
  capabilities: Capabilities | null = null;
  /** why the binary cannot be used */
  problem: ConcertinaError | null = null;
  /** set by whoever loads models */
  work: EngineWork | null = null;
  /** whether something else than the process itself ended it; null: that cannot be */
  blame: () => Promise<ConcertinaError | null> | null = () => null;
  private currentState: HostState = 'stopped';
  private transport: ProcessTransport | null = null;
  private timer: NodeJS.Timeout | null = null;
  private lastCrash: ConcertinaError | null = null;
  private openCalls = 0;
  private pinging = false;
  private endings = 0;
  private endAsked = false;
  private endedFor: ConcertinaError | null = null;
  /** the process has ended, and it is not known why */
  private judging = false;
  private readonly refusedEvents = new Set<string>();
  private readonly remote = createRemote<EngineOperations, EngineEvents>(
    engineEvents,
    (message) => {
      if (!this.transport) throw this.notRunning();
      this.transport.send(message);
    },
    (event, problem) => this.onRefused(event, problem),
  );
  private readonly watchdog = new Watchdog(
    () => void this.ping(),
    (stall) => {
      if (stall) this.log.warn(`The engine process does not respond (${stall}).`);
      this.stalled.emit(stall);
    },
  );

  constructor(
    private readonly open: () => ProcessTransport,
    private readonly log: Logger,
    private readonly policy = new RestartPolicy(),
    private readonly now: () => number = Date.now,
  ) {
    this.client = {
      call: async (name, input) => {
        await this.whenReady();
        return this.awaited(this.remote.client.call(name, input));
      },
      on: this.remote.client.on,
    };
    this.client.on('onReady', ({ capabilities, problem }) => this.onReady(capabilities, problem));
    for (const event of progressEvents) this.client.on(event, () => this.watchdog.reset('stop'));
    this.client.on('onLog', ({ level, text }) => this.log[level](`engine: ${text}`));
  }

  get state(): HostState {
    return this.currentState;
  }

  get pid(): number | undefined {
    return this.transport?.pid;
  }

  /** Starts the process unless it runs; a restart that waits for its minute happens now. */
  start(): void {
    if (this.transport || this.judging) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.currentState = 'starting';
    this.policy.started(this.now());
    const transport = this.open();
    this.transport = transport;
    this.watchdog.begin('start');
    transport.onMessage((message) => {
      if (this.transport !== transport) return;
      this.watchdog.reset('silent');
      this.remote.receive(message);
    });
    transport.onOutput((text) => this.log.info(`engine output: ${text}`));
    transport.onExit((exit) => {
      if (this.transport === transport) this.onExit(exit);
    });
  }

  /** Resolves when calls can be answered; rejects when nothing is on its way to that. */
  whenReady(): Promise<void> {
    if (this.currentState === 'ready') return Promise.resolve();
    if (this.currentState !== 'starting') return Promise.reject(this.notRunning());
    return new Promise((resolve, reject) => {
      const offs = [this.ready.on(settle), this.crashed.on((report) => settle(report))];
      const rejectNow = () => reject(this.notRunning());
      const isReady = () => this.currentState === 'ready';
      function settle(_: unknown): void {
        for (const off of offs) off();
        if (isReady()) resolve();
        else rejectNow();
      }
    });
  }

  /** Work with the present settings went well. */
  reportSuccess(): void {
    if (this.work) this.policy.succeeded(this.work.key);
  }

  /** Something was canceled and must end soon; call the result when it has. */
  expectEnd(): () => void {
    if (this.endings++ === 0) this.watchdog.begin('stop');
    return () => {
      if (--this.endings === 0) this.watchdog.end('stop');
    };
  }

  /** Ends the process, which may be past answering, and starts another. */
  restart(): void {
    this.endAsked = this.transport !== null;
    if (this.transport) this.transport.kill();
    else this.start();
  }

  /** Ends the process, which cannot go on for this reason, and starts another, which loads the model again. */
  endFor(reason: ConcertinaError): void {
    if (!this.transport) return;
    this.endedFor = reason;
    this.transport.kill();
  }

  /** Hands a window's port to the process, which sends frames through it. */
  attachPort(port: unknown): void {
    this.transport?.send({ type: 'port' }, port);
  }

  /** Asks the process to end, and ends it when it has not after the limit; it may save what it holds first. */
  async stop(limitMs = 6000): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const transport = this.transport;
    this.transport = null;
    this.watchdog.clear();
    this.currentState = 'stopped';
    this.remote.fail(new ConcertinaError('engine-unavailable', msg`The app is closing.`));
    if (!transport) return;
    await new Promise<void>((resolve) => {
      const limit = setTimeout(() => {
        transport.kill();
        resolve();
      }, limitMs);
      transport.onExit(() => {
        clearTimeout(limit);
        resolve();
      });
      transport.send({ type: 'shutdown' });
    });
  }

  /** While anything is asked, the process must give signs of life. */
  private async awaited<T>(answer: Promise<T>): Promise<T> {
    if (this.openCalls++ === 0) this.watchdog.begin('silent');
    try {
      return await answer;
    } finally {
      if (--this.openCalls === 0) this.watchdog.end('silent');
    }
  }

  /** An engine that does not know this call answers too. */
  private async ping(): Promise<void> {
    if (this.pinging) return;
    this.pinging = true;
    await this.remote.client.call('ping', undefined).catch(() => undefined);
    this.pinging = false;
  }

  /** An engine of another version than the app would never be ready. */
  private onRefused(event: string, problem: string): void {
    if (event === 'onReady') this.onReady(null, `The engine is not of this version of the app (${problem}).`);
    if (this.refusedEvents.has(event)) return;
    this.refusedEvents.add(event);
    this.log.warn(`The engine sent ${event} with a payload that its contract does not allow: ${problem}`);
  }

  private onReady(capabilities: Capabilities | null, problem: string | null): void {
    this.watchdog.end('start');
    this.capabilities = capabilities;
    this.problem = capabilities
      ? null
      : new ConcertinaError('engine-unavailable', problem ?? 'The engine cannot be used.', unavailableHint);
    this.currentState = capabilities ? 'ready' : 'unavailable';
    if (capabilities) this.policy.succeeded(startKey);
    this.ready.emit(capabilities);
  }

  private onExit(exit: ProcessExit): void {
    const { endAsked, endedFor } = this;
    this.endAsked = false;
    this.endedFor = null;
    this.transport = null;
    this.watchdog.clear();
    const blamed = endAsked || endedFor ? null : this.blame();
    if (blamed) this.judge(exit, blamed);
    else this.afterExit(exit, endAsked, endedFor);
  }

  private judge(exit: ProcessExit, blamed: Promise<ConcertinaError | null>): void {
    this.judging = true;
    void blamed.then((reason) => {
      this.judging = false;
      if (this.currentState !== 'stopped') this.afterExit(exit, false, reason);
    });
  }

  private afterExit(exit: ProcessExit, asked: boolean, reason: ConcertinaError | null): void {
    const whileStarting = this.currentState === 'starting';
    const { error, delayMs, reload } = reason
      ? { error: reason, delayMs: 0, reload: true }
      : asked
        ? this.afterAskedEnd()
        : this.afterCrash(exit, whileStarting);
    this.log.error(
      `The engine process ended (${nameOf(exit)}). Restart: ${delayMs === null ? 'no' : `${delayMs} ms`}.`,
    );
    this.lastCrash = error;
    this.currentState = delayMs === null ? 'given-up' : 'waiting';
    if (delayMs !== null) this.timer = setTimeout(() => this.start(), delayMs);
    this.remote.fail(error);
    this.crashed.emit({ error, restartInMs: delayMs, reload, asked });
  }

  private afterCrash(exit: ProcessExit, whileStarting: boolean): AfterExit {
    const outOfMemory = this.work?.loading === true && isKill(exit);
    const key = whileStarting ? startKey : (this.work?.key ?? 'idle');
    const decision = this.policy.decide({ key, outOfMemory }, this.now());
    const retryInMs = decision.reload ? decision.delayMs : null;
    return { ...decision, error: outOfMemory ? killedWhileLoading() : crashError(exit, whileStarting, retryInMs) };
  }

  /** The load that did not come to its end is not begun again by itself. */
  private afterAskedEnd(): AfterExit {
    const loading = this.work?.loading === true;
    return { error: endedWhenAsked(loading), delayMs: 0, reload: !loading };
  }

  /** Not `engine-crashed`: the call that is refused with this did not end the process. */
  private notRunning(): ConcertinaError {
    if (this.problem) return this.problem;
    const what = this.lastCrash?.message ?? 'The engine is not running.';
    return new ConcertinaError('engine-unavailable', what, msg`Choose a model to start it again.`);
  }
}
