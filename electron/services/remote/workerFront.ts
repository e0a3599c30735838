/**
 * The side of a worker that listens: `concertina worker`. Upstream's RPC server runs in a process of its own, on the loopback interface,
 * and knows nothing of who asks; this stands before it. A connection begins with RPC, or with a greeting in a line
 * (contract/lib/workers.ts); whatever else comes is cut off. RPC is passed on only beside an open conversation, from the same address, with
 * a client of the same build.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import {
  buildGreeted,
  type DeviceServerEvents,
  type DeviceServerOperations,
  deviceServerEvents,
  type Greeted,
  longestLine,
} from '../../contract/lib/domains/workers';
import { createRemote } from '../../contract/rpc';
import type { ProcessTransport } from '../engine/engineTransport';
import { nameOf } from '../engine/watchdog';
import { Emitter } from '../lib/emitter';

const loopback = '127.0.0.1';
/** the first command of upstream's protocol (RPC_CMD_HELLO) */
const rpcHello = 14;
/** a peer that says nothing */
const silentMs = 10_000;
const mostConnections = 64;
/** upstream's server has bound its port by then */
const startMs = 10_000;
/** a process that ends sooner, so many times in a row, would end again */
const soonMs = 2000;
const mostSoonEnds = 3;

export interface WorkerOptions {
  host: string;
  port: number;
  /** of the CPU; 0: as many as there are cores */
  threads: number;
  /** bytes of each device that clients are told of at the most; left out: all */
  memory?: number;
  version: string;
  /** the engine's program with `deviceServerArguments` */
  open: () => ProcessTransport;
  log: (text: string) => void;
}

interface Devices {
  transport: ProcessTransport;
  port: number;
  client: ReturnType<typeof createRemote<DeviceServerOperations, DeviceServerEvents>>['client'];
}

export class WorkerFront {
  /** it cannot go on */
  readonly failed = new Emitter<ConcertinaError>();
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  /** open conversations with clients of the same build, by their address */
  private readonly greeted = new Map<string, number>();
  private devices: Promise<Devices>;
  /** the RPC connection that is served, and those behind it: upstream serves one after the other */
  private turn: Promise<void> = Promise.resolve();
  private served = 0;
  private soonEnds = 0;
  private closed = false;

  /** Resolves when it listens. Rejects with `engine-unavailable`, and with what the system says of the address. */
  static async start(options: WorkerOptions): Promise<WorkerFront> {
    const front = new WorkerFront(options);
    try {
      await front.whenServed();
      await new Promise<void>((resolve, reject) => {
        front.server.once('error', reject);
        front.server.listen(options.port, options.host, resolve);
      });
    } catch (error) {
      await front.close();
      throw error;
    }
    return front;
  }

  private constructor(private readonly options: WorkerOptions) {
    this.server = createServer((socket) => this.onConnection(socket));
    this.server.maxConnections = mostConnections;
    this.devices = this.begin();
    this.devices.catch(() => undefined);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** of the process that holds the devices */
  async pid(): Promise<number | undefined> {
    return (await this.devices).transport.pid;
  }

  async describe(): Promise<Greeted> {
    const { client } = await this.devices;
    const { version, memory = Infinity } = this.options;
    const { build, devices } = await client.call('devices', undefined);
    const within = (bytes: number) => Math.min(bytes, memory);
    const lent = devices.map((one) => ({ ...one, free: within(one.free), total: within(one.total) }));
    return { build, devices: lent, version, inUse: this.served > 0 };
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const socket of this.sockets) socket.destroy();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
    await this.devices.then(({ transport }) => transport.kill()).catch(() => undefined);
  }

  /** Another program can take the port before the server does, which ends the process then: it is begun anew. */
  private async whenServed(): Promise<void> {
    let latest: Promise<Devices>;
    do {
      latest = this.devices;
      await latest.catch(() => undefined);
    } while (latest !== this.devices);
    await latest;
  }

  private async begin(): Promise<Devices> {
    const transport = this.options.open();
    const began = Date.now();
    const remote = createRemote<DeviceServerOperations, DeviceServerEvents>(deviceServerEvents, (message) =>
      transport.send(message),
    );
    transport.onMessage((message) => remote.receive(message));
    transport.onOutput((text) => this.options.log(text.trimEnd()));
    let onReady: (problem: string | null) => void = () => undefined;
    const ready = new Promise<string | null>((resolve) => {
      onReady = resolve;
    });
    let running = true;
    remote.client.on('onReady', ({ problem }) => onReady(problem));
    transport.onExit((exit) => {
      const ended = `The process with the devices ended (${nameOf(exit)})`;
      running = false;
      onReady(ended);
      remote.fail(new ConcertinaError('engine-unavailable', `${ended}.`));
      if (!this.closed) this.onLost(ended, Date.now() - began < soonMs);
    });
    const problem = await ready;
    if (problem !== null) throw new ConcertinaError('engine-unavailable', problem);
    const port = await freePort();
    await remote.client.call('serve', { port, threads: this.options.threads });
    await whenListening(port, () => running);
    return { transport, port, client: remote.client };
  }

  /** Whoever used it has lost what was there: no connection goes on as if nothing had happened. */
  private onLost(ended: string, soon: boolean): void {
    for (const socket of this.sockets) socket.destroy();
    this.options.log(`${ended}.`);
    this.soonEnds = soon ? this.soonEnds + 1 : 0;
    if (this.soonEnds === mostSoonEnds) {
      this.failed.emit(new ConcertinaError('engine-unavailable', msg`${{ ended }} as soon as it was started.`));
      return;
    }
    const next = this.begin();
    this.devices = next;
    // one that ended while it began is followed by another
    next.catch((error) => this.devices === next && this.failed.emit(error));
  }

  private onConnection(socket: Socket): void {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, silentMs);
    socket.on('error', () => undefined);
    socket.on('close', () => this.sockets.delete(socket));
    socket.setTimeout(silentMs, () => socket.destroy());
    socket.once('data', (first: Buffer) => {
      socket.setTimeout(0);
      if (first[0] === rpcHello && this.greeted.has(addressOf(socket))) this.onRpc(socket, first);
      else if (first.toString('latin1', 0, 1) === 'c') this.onLines(socket, first);
      else socket.destroy();
    });
  }

  private onRpc(client: Socket, first: Buffer): void {
    client.pause();
    this.served++;
    const before = this.turn;
    const ended = new Promise<void>((resolve) => client.once('close', () => resolve()));
    this.turn = before.then(() => ended);
    void before
      .then(() => this.devices)
      .then(({ port }) => {
        if (client.destroyed) return;
        const inner = connect(port, loopback);
        inner.setNoDelay(true);
        inner.on('error', () => undefined);
        inner.once('close', () => client.destroy());
        client.once('close', () => inner.destroy());
        inner.write(first);
        client.pipe(inner);
        inner.pipe(client);
      })
      .catch(() => client.destroy());
    void ended.then(() => {
      this.served--;
    });
  }

  private onLines(socket: Socket, first: Buffer): void {
    let text = '';
    let open = false;
    let work = Promise.resolve();
    const answer = async (line: string): Promise<void> => {
      const said = open ? await this.answerTo(line) : await this.greet(line);
      if (said === null) return void socket.end();
      if (!open && !said.refused) {
        open = true;
        this.enter(socket);
      }
      socket.write(`${said.line}\n`);
      if (said.refused) socket.end();
    };
    const take = (bytes: Buffer): void => {
      text += bytes.toString('latin1');
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      if (text.length > longestLine) return void socket.destroy();
      for (const line of lines) work = work.then(() => answer(line)).catch(() => void socket.destroy());
    };
    take(first);
    socket.on('data', take);
  }

  private async greet(line: string): Promise<{ line: string; refused: boolean } | null> {
    const build = buildGreeted(line);
    if (build === null) return null;
    const own = await this.describe();
    const refused = build !== own.build;
    if (refused) this.options.log(`A client of another build was refused (${build}, this one is ${own.build}).`);
    return { line: JSON.stringify({ ...own, devices: refused ? [] : own.devices }), refused };
  }

  private async answerTo(line: string): Promise<{ line: string; refused: boolean } | null> {
    if (line === 'ping') return { line: 'pong', refused: false };
    if (line === 'devices') return { line: JSON.stringify(await this.describe()), refused: false };
    const [, device, operation = ''] = /^computes (\d{1,3}) ([0-9a-f]+)$/.exec(line) ?? [];
    if (device === undefined) return null;
    const { client } = await this.devices;
    const { yes } = await client.call('computes', { device: Number(device), operation });
    return { line: yes ? 'yes' : 'no', refused: false };
  }

  private enter(socket: Socket): void {
    const address = addressOf(socket);
    this.greeted.set(address, (this.greeted.get(address) ?? 0) + 1);
    socket.once('close', () => {
      const left = (this.greeted.get(address) ?? 1) - 1;
      if (left > 0) this.greeted.set(address, left);
      else this.greeted.delete(address);
    });
  }
}

const addressOf = (socket: Socket): string => socket.remoteAddress ?? '';

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, loopback, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Upstream's server does not say when it listens. */
async function whenListening(port: number, running: () => boolean): Promise<void> {
  for (const end = Date.now() + startMs; Date.now() < end && running(); ) {
    const there = await new Promise<boolean>((resolve) => {
      const socket = connect(port, loopback, () => resolve(true));
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (there && running()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new ConcertinaError('engine-unavailable', msg`The devices are not served on port ${{ port }} of this machine.`);
}
