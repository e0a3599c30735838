/** The engine process as an object with a life: start, ready, crash, restart, stop. It knows nothing of models. */
import type { Capabilities } from '../../shared/engine';
import { type EngineClient, type EngineEvents, type EngineOperations, engineEvents } from '../../shared/engineContract';
import { ConcertinaError } from '../../shared/errors';
import { createRemote } from '../../shared/remote';
import { Emitter } from './emitter';
import type { EngineExit, EngineTransport } from './engineTransport';
import type { Logger } from './logger';
import { RestartPolicy, startKey } from './restartPolicy';

/** `waiting`: crashed, will be started again; `given-up`: crashed, starts only when asked to. */
export type HostState = 'stopped' | 'starting' | 'ready' | 'unavailable' | 'waiting' | 'given-up';

export interface CrashReport {
  error: ConcertinaError;
  /** null: it is not started again by itself */
  restartInMs: number | null;
  /** whether the model may be loaded again with the same settings */
  reload: boolean;
}

/** What the process works on, for telling a deterministic failure from a new one. */
export interface EngineWork {
  key: string;
  loading: boolean;
}

/** calls that read the header of a file which may be any file */
const readsHeaders = new Set<keyof EngineOperations>(['inspect', 'estimate', 'fit']);

export class EngineHost {
  readonly ready = new Emitter<Capabilities | null>();
  readonly crashed = new Emitter<CrashReport>();
  readonly client: EngineClient;
  capabilities: Capabilities | null = null;
  /** why the binary cannot be used */
  problem: ConcertinaError | null = null;
  /** set by whoever loads models */
  work: EngineWork | null = null;
  private currentState: HostState = 'stopped';
  private transport: EngineTransport | null = null;
  private readonly filesBeingRead = new Set<string>();
  private timer: NodeJS.Timeout | null = null;
  private lastCrash: ConcertinaError | null = null;
  private readonly remote = createRemote<EngineOperations, EngineEvents>(engineEvents, (message) => {
    if (!this.transport) throw this.notRunning();
    this.transport.send(message);
  });

  constructor(
    private readonly open: () => EngineTransport,
    private readonly log: Logger,
    private readonly policy = new RestartPolicy(),
    private readonly now: () => number = Date.now,
  ) {
    this.client = {
      call: async (name, input) => {
        await this.whenReady();
        const answer = this.remote.client.call(name, input);
        return readsHeaders.has(name) ? this.reading(input, answer) : answer;
      },
      on: this.remote.client.on,
    };
    this.client.on('onReady', ({ capabilities, problem }) => this.onReady(capabilities, problem));
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
    if (this.transport) return;
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    this.currentState = 'starting';
    this.policy.started(this.now());
    const transport = this.open();
    this.transport = transport;
    transport.onMessage((message) => {
      if (this.transport === transport) this.remote.receive(message);
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
    this.currentState = 'stopped';
    this.remote.fail(new ConcertinaError('engine-unavailable', 'The app is closing.'));
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

  /** A header that ends the process is the fault of that file, not of the model that is loaded. */
  private async reading<T>(file: unknown, answer: Promise<T>): Promise<T> {
    const key = `read ${JSON.stringify(file)}`;
    this.filesBeingRead.add(key);
    try {
      return await answer;
    } finally {
      this.filesBeingRead.delete(key);
    }
  }

  private onReady(capabilities: Capabilities | null, problem: string | null): void {
    this.capabilities = capabilities;
    this.problem = capabilities
      ? null
      : new ConcertinaError('engine-unavailable', problem ?? 'The engine cannot be used.', unavailableHint);
    this.currentState = capabilities ? 'ready' : 'unavailable';
    if (capabilities) this.policy.succeeded(startKey);
    this.ready.emit(capabilities);
  }

  private onExit(exit: EngineExit): void {
    const whileStarting = this.currentState === 'starting';
    const work = this.work;
    this.transport = null;
    const outOfMemory = work?.loading === true && isKill(exit);
    const [fileBeingRead] = this.filesBeingRead;
    const key = whileStarting ? startKey : (fileBeingRead ?? work?.key ?? 'idle');
    const { delayMs, reload } = this.policy.decide({ key, outOfMemory }, this.now());
    const error = outOfMemory ? killedWhileLoading() : crashError(exit, whileStarting, reload ? delayMs : null);
    this.log.error(
      `The engine process ended (${nameOf(exit)}). Restart: ${delayMs === null ? 'no' : `${delayMs} ms`}.`,
    );
    this.lastCrash = error;
    this.currentState = delayMs === null ? 'given-up' : 'waiting';
    if (delayMs !== null) this.timer = setTimeout(() => this.start(), delayMs);
    this.remote.fail(error);
    this.crashed.emit({ error, restartInMs: delayMs, reload });
  }

  /** Not `engine-crashed`: the call that is refused with this did not end the process. */
  private notRunning(): ConcertinaError {
    if (this.problem) return this.problem;
    const what = this.lastCrash?.message ?? 'The engine is not running.';
    return new ConcertinaError('engine-unavailable', what, 'Choose a model to start it again.');
  }
}

const unavailableHint = 'Build the engine again with `npm run build:engine`, or reinstall the app.';

function nameOf(exit: EngineExit): string {
  return exit.signal ?? `code ${exit.code}`;
}

/** Linux ends a process that takes too much memory with SIGKILL. */
function isKill(exit: EngineExit): boolean {
  return exit.signal === 'SIGKILL' || exit.code === 137;
}

function crashError(exit: EngineExit, whileStarting: boolean, retryInMs: number | null): ConcertinaError {
  const what = whileStarting ? 'The engine could not start' : 'The engine stopped unexpectedly';
  return new ConcertinaError('engine-crashed', `${what} (${nameOf(exit)}).`, crashHint(retryInMs));
}

function crashHint(retryInMs: number | null): string {
  if (retryInMs === null) return 'It stopped like this before. Choose other settings or another model and try again.';
  if (retryInMs < 1000) return 'It is started again now; nothing that was written is lost.';
  return `It is started again in ${Math.ceil(retryInMs / 1000)} seconds, or as soon as you send a message.`;
}

function killedWhileLoading(): ConcertinaError {
  return new ConcertinaError(
    'out-of-memory',
    'The system ended the engine while it loaded the model, most likely for want of memory.',
    'Choose a shorter context, a smaller cache type or a smaller model, or close other programs.',
  );
}
