/** The conversation with one worker, opened again whenever it ends: what it has, how far it is, and whether it is still there. */
import { connect, type Socket } from 'node:net';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError, messageOf } from '../../contract/errors';
import {
  type Greeted,
  greetedSchema,
  greetingOf,
  longestLine,
  type ServedDevice,
} from '../../contract/lib/domains/workers';
import { Emitter } from '../lib/emitter';

export interface LinkTimes {
  /** between two pings */
  pingMs: number;
  /** a worker that does not answer for so long is lost */
  limitMs: number;
  /** before it is tried again, from try to try; the last one stays */
  againMs: readonly number[];
}

const usualTimes: LinkTimes = { pingMs: 2000, limitMs: 10_000, againMs: [1000, 2000, 5000, 15_000] };

export type LinkState = 'connecting' | 'ready' | 'refused' | 'lost';

const strange = () => new Error('another program answers there');

interface Waiting {
  resolve(line: string): void;
  reject(error: unknown): void;
}

export class WorkerLink {
  readonly changed = new Emitter<void>();
  /** it was ready, and is not there any more */
  readonly lost = new Emitter<void>();
  state: LinkState = 'connecting';
  version: string | null = null;
  devices: ServedDevice[] = [];
  pingMs: number | null = null;
  error: ConcertinaError | null = null;
  /** somebody's model was there when it was asked last */
  inUse = false;
  private socket: Socket | null = null;
  private waiting: Waiting[] = [];
  private timer: NodeJS.Timeout | null = null;
  private tries = 0;

  constructor(
    readonly address: string,
    private readonly build: string,
    private readonly times: LinkTimes = usualTimes,
  ) {
    this.open();
  }

  close(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const { socket } = this;
    this.socket = null;
    socket?.destroy();
    this.error = this.lostError('The connection was closed.');
    this.fail(this.error);
    // a load that waits for it goes on without it
    this.state = 'lost';
    this.changed.emit();
  }

  /** Resolves when it is known what came of the connection that is being made, or nobody wants it any more. */
  settled(): Promise<void> {
    if (this.state !== 'connecting') return Promise.resolve();
    return new Promise((resolve) => {
      const off = this.changed.on(() => {
        if (this.state === 'connecting') return;
        off();
        resolve();
      });
    });
  }

  /** Whether it answers now. */
  async check(): Promise<boolean> {
    if (this.state !== 'ready') return false;
    return this.ping().then(
      () => true,
      () => false,
    );
  }

  /** Reads again what is free there. */
  async refresh(): Promise<void> {
    if (this.state === 'ready') this.take(await this.facts('devices'));
  }

  lostError(why: string): ConcertinaError {
    const { address } = this;
    return new ConcertinaError(
      'worker-lost',
      msg`The worker ${{ address }} is not there any more: ${{ why }}`,
      msg`Nothing that was written is lost. The model is loaded again without it; start the worker again to have it back.`,
    );
  }

  private absentError(why: string): ConcertinaError {
    return new ConcertinaError(
      'worker-lost',
      msg`No worker answers at ${{ address: this.address }}: ${{ why }}`,
      msg`Start “concertina worker” on that machine, and check the address and the tunnel. It is tried again by itself.`,
    );
  }

  private open(): void {
    const colon = this.address.lastIndexOf(':');
    const socket = connect(Number(this.address.slice(colon + 1)), this.address.slice(0, colon));
    this.socket = socket;
    socket.setNoDelay(true);
    let why = '';
    let text = '';
    socket.setTimeout(this.times.limitMs, () => {
      why = `it did not answer for ${Math.round(this.times.limitMs / 1000)} seconds.`;
      socket.destroy();
    });
    socket.on('error', (error) => {
      why ||= `${messageOf(error)}.`;
    });
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) this.waiting.shift()?.resolve(line);
      if (text.length > longestLine) socket.destroy(strange());
    });
    socket.once('close', () => this.socket === socket && this.onClose(why || 'it ended the connection.'));
    // whatever ends it ends the connection, which says why
    void this.begin().catch(() => undefined);
  }

  private async begin(): Promise<void> {
    this.take(await this.facts(greetingOf(this.build)));
    if (this.state === 'refused') return;
    await this.ping();
    this.tries = 0;
    this.error = null;
    this.state = 'ready';
    this.changed.emit();
  }

  private take({ build, version, devices, inUse }: Greeted): void {
    Object.assign(this, { version, devices, inUse });
    if (build === this.build) return;
    this.state = 'refused';
    this.error = new ConcertinaError(
      'worker-lost',
      msg`The worker is of another build: version ${{ version }}, ${{ build }} in place of ${{ own: this.build }}.`,
      msg`Install the same version of Concertina on both machines.`,
    );
    this.changed.emit();
  }

  private async ping(): Promise<void> {
    const began = performance.now();
    await this.ask('ping');
    this.pingMs = performance.now() - began;
    if (this.timer) clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.ping().then(
        () => this.changed.emit(),
        () => undefined,
      );
    }, this.times.pingMs);
    this.timer.unref();
  }

  /** What the worker says of itself. Anything else ends the connection. */
  private async facts(line: string): Promise<Greeted> {
    const { socket } = this;
    const answer = await this.ask(line);
    try {
      return greetedSchema.parse(JSON.parse(answer));
    } catch {
      const error = strange();
      socket?.destroy(error);
      throw error;
    }
  }

  private ask(line: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      this.socket?.write(`${line}\n`);
    });
  }

  private onClose(why: string): void {
    const was = this.state;
    this.socket = null;
    this.pingMs = null;
    const error = was === 'ready' ? this.lostError(why) : this.absentError(why);
    this.fail(error);
    if (was !== 'refused') {
      this.state = 'lost';
      this.error = error;
    }
    if (this.timer) clearTimeout(this.timer);
    const { againMs } = this.times;
    this.timer = setTimeout(() => this.open(), againMs[Math.min(this.tries++, againMs.length - 1)]);
    this.timer.unref();
    if (was !== 'refused') this.changed.emit();
    if (was === 'ready') this.lost.emit();
  }

  private fail(error: ConcertinaError): void {
    for (const one of this.waiting.splice(0)) one.reject(error);
  }
}
