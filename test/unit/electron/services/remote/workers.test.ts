/** A worker and who uses it, over real sockets; in place of the process with the devices stands one that echoes what it is sent. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Capabilities } from '@/electron/contract/engine';
import type { ConcertinaError } from '@/electron/contract/errors';
import { greetingOf, longestLine } from '@/electron/contract/lib/domains/workers';
import { parseWorker } from '@/electron/server/workerCommand';
import type { CrashReport } from '@/electron/services/engine/engineHost';
import type { ProcessTransport } from '@/electron/services/engine/engineTransport';
import { Emitter } from '@/electron/services/lib/emitter';
import { silentLogger } from '@/electron/services/lib/logger';
import { Unsaved } from '@/electron/services/lib/unsaved';
import { WorkerFront } from '@/electron/services/remote/workerFront';
import { WorkerLink } from '@/electron/services/remote/workerLink';
import { WorkerService } from '@/electron/services/remote/workerService';
import { capabilities } from '../../../../fixtures/samples';
import { temporaryFolder } from '../../../../fixtures/temporary';

const build = 'abcd';
const rpc = Buffer.from([14, 1, 2, 3]);
const waiting = { timeout: 60_000, interval: 5 };

/** The process with the devices. `end`: it dies */
class FakeDevices implements ProcessTransport {
  readonly pid = 1;
  private readonly messages: ((message: unknown) => void)[] = [];
  private readonly exits: ((exit: { code: number; signal: null }) => void)[] = [];
  private readonly sockets = new Set<Socket>();
  private server: Server | null = null;

  constructor(
    private readonly own = build,
    private readonly portTaken = false,
    private readonly count = 1,
  ) {
    queueMicrotask(() => this.say({ type: 'event', name: 'onReady', payload: { problem: null } }));
  }

  send(message: unknown): void {
    const { id, name, input } = message as { id: number; name: string; input: { port: number; operation: string } };
    const answers: Record<string, unknown> = {
      devices: {
        build: this.own,
        devices: Array(this.count).fill({ name: 'CPU', cpu: true, free: 1000, total: 2000 }),
      },
      computes: { yes: input?.operation === 'aa' },
    };
    if (name === 'serve') {
      this.server = createServer((socket) => {
        this.sockets.add(socket.on('error', () => undefined));
        socket.pipe(socket);
      });
      // as upstream's server does where it cannot listen
      this.server.on('error', () => this.end());
      if (this.portTaken) setImmediate(() => this.end());
      else this.server.listen(input.port, '127.0.0.1');
    }
    this.say({ type: 'answer', id, envelope: { ok: true, value: answers[name] } });
  }

  onMessage = (listener: (message: unknown) => void) => void this.messages.push(listener);
  onOutput = () => undefined;
  onExit = (listener: (exit: { code: number; signal: null }) => void) => void this.exits.push(listener);
  kill = () => this.end();

  end(): void {
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
    for (const tell of this.exits.splice(0)) tell({ code: 1, signal: null });
  }

  private say(message: unknown): void {
    for (const listener of this.messages) listener(message);
  }
}

/** `taken`: how many of its processes cannot listen on their port */
async function startFront(port = 0, own = build, taken = 0, memory = Infinity, count = 1) {
  const started: FakeDevices[] = [];
  const open = () => {
    const devices = new FakeDevices(own, started.length < taken, count);
    started.push(devices);
    return devices;
  };
  const front = await WorkerFront.start({
    ...{ host: '127.0.0.1', port, threads: 1, memory, version: '1', open, log: () => undefined },
  });
  onTestFinished(() => front.close());
  return { front, started };
}

async function peer(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

function said(socket: Socket, line: string | Buffer): Promise<string> {
  socket.write(line);
  return new Promise((resolve, reject) => {
    socket.once('data', (bytes) => resolve(String(bytes).trim()));
    socket.once('close', () => reject(new Error(`The connection was cut off in place of an answer to ${line}.`)));
  });
}

async function serviceWith(addresses: string[], hostBuild = build) {
  const ended: ConcertinaError[] = [];
  const host = {
    ...{ ready: new Emitter<Capabilities | null>(), crashed: new Emitter<CrashReport>(), state: 'ready' as const },
    ...{ capabilities: { ...capabilities, buildHash: hostBuild }, blame: (() => null) as never },
    endFor: (error: ConcertinaError) => void ended.push(error),
  };
  const service = new WorkerService({
    ...{ path: join(await temporaryFolder(), 'workers.json'), host, loaded: () => true, log: silentLogger },
    unsaved: new Unsaved(),
    times: { pingMs: 20, limitMs: 20_000, againMs: [20] },
  });
  onTestFinished(() => service.close());
  await service.open();
  for (const address of addresses) await service.handlers['workers.add']({ address });
  const blame = () => (host.blame as () => Promise<ConcertinaError | null> | null)();
  return { service, ended, blame };
}

const addressOf = ({ port }: WorkerFront) => `127.0.0.1:${port}`;

it('a worker takes RPC beside an open conversation of the same build, and cuts off whatever else comes', async () => {
  const { front } = await startFront();
  const early = await peer(front.port);
  early.write(rpc);
  await once(early, 'close');
  for (const noise of ['GET / HTTP/1.1\r\n\r\n', 'concertina-worker 1 nothing\n', `c${'x'.repeat(70_000)}`]) {
    const other = await peer(front.port);
    other.write(noise);
    await once(other, 'close');
  }

  const talk = await peer(front.port);
  const { devices } = JSON.parse(await said(talk, `${greetingOf(build)}\n`));
  expect(devices).toEqual([{ name: 'CPU', cpu: true, free: 1000, total: 2000 }]);
  expect(await said(talk, 'ping\n')).toBe('pong');
  expect(await said(talk, 'computes 0 aa\n')).toBe('yes');
  expect(await said(talk, 'computes 0 bb\n')).toBe('no');
  const stream = await peer(front.port);
  expect(Buffer.from(await said(stream, rpc))).toEqual(rpc);
  expect(JSON.parse(await said(talk, 'devices\n'))).toMatchObject({ inUse: true });
  talk.write('rm -rf\n');
  await once(talk, 'close');
});

it('a second client waits for its turn, and all are cut off when the devices are lost', async () => {
  const { front, started } = await startFront();
  const talk = await peer(front.port);
  await said(talk, `${greetingOf(build)}\n`);
  const first = await peer(front.port);
  await said(first, rpc);
  const second = await peer(front.port);
  let answered = false;
  second.once('data', () => {
    answered = true;
  });
  second.write(rpc);
  expect(await said(talk, 'ping\n')).toBe('pong');
  expect(answered).toBe(false);
  first.destroy();
  await once(second, 'data');

  started[0]?.end();
  await Promise.all([once(second, 'close'), once(talk, 'close')]);
  const again = await peer(front.port);
  expect(JSON.parse(await said(again, `${greetingOf(build)}\n`))).toMatchObject({ build, inUse: false });
  expect(started.length).toBe(2);
});

it('a port that another program took first costs a process, and no worker', async () => {
  const { front, started } = await startFront(0, build, 2);
  expect(started).toHaveLength(3);
  const talk = await peer(front.port);
  expect(await said(talk, `${greetingOf(build)}\n`)).toContain(build);
  await expect(startFront(0, build, 3)).rejects.toThrow(/not served/);
});

it('a worker of another build is refused, and both sides say which', async () => {
  const { front } = await startFront(0, 'ef01');
  const { service } = await serviceWith([addressOf(front)]);
  await vi.waitFor(() => expect(service.list()[0]?.state).toBe('refused'), waiting);
  const [status] = service.list();
  expect(status?.error?.message).toContain('ef01 in place of abcd');
  expect(service.devices()).toEqual([]);
  expect((await service.forLoad()).missing[0]).toContain('ef01');
});

it('a load takes the workers that are there, and says which are not', async () => {
  const { front } = await startFront();
  const gone = await startFront();
  const lost = addressOf(gone.front);
  await gone.front.close();
  const { service } = await serviceWith([addressOf(front), lost]);
  const { workers, missing } = await service.forLoad();
  expect(workers).toMatchObject([{ endpoint: addressOf(front), device: 0, cpu: true, free: 1000 }]);
  expect(workers[0]?.name).toBe(`${addressOf(front)} (CPU)`);
  expect(missing).toHaveLength(1);
  expect(missing[0]).toContain(lost);
  expect(missing[0]).toContain('No worker answers');
  expect(service.list()).toMatchObject([
    { state: 'ready', inUse: true, version: '1' },
    { state: 'lost', inUse: false },
  ]);
});

it('the loss of a worker with layers of the model ends the engine, and is blamed for its end; without any it is not', async () => {
  const { front } = await startFront();
  const other = await startFront();
  const address = addressOf(front);
  const { service, ended, blame } = await serviceWith([address]);
  await service.forLoad();
  await service.handlers['workers.add']({ address: addressOf(other.front) });
  await vi.waitFor(() => expect(service.list()[1]?.state).toBe('ready'), waiting);
  expect(await blame()).toBeNull();
  await other.front.close();
  await vi.waitFor(() => expect(service.list()[1]?.state).toBe('lost'), waiting);
  expect(ended).toEqual([]);

  await front.close();
  await vi.waitFor(() => expect(ended).toHaveLength(1), waiting);
  expect(ended[0]).toMatchObject({ code: 'worker-lost' });
  expect(ended[0]?.message).toContain('not there any more');
  expect(ended[0]?.message).toContain(address);
  expect((await blame())?.message ?? '').toContain(address);
});

it('the load after a loss goes without that worker, even if it is there again, and the one after that has it', async () => {
  const { front } = await startFront();
  const address = addressOf(front);
  const { service, ended } = await serviceWith([address]);
  await service.forLoad();
  await front.close();
  await vi.waitFor(() => expect(ended).toHaveLength(1), waiting);
  await startFront(Number(address.split(':')[1]));
  await vi.waitFor(() => expect(service.list()[0]?.state).toBe('ready'), waiting);
  const { workers, missing } = await service.forLoad();
  expect(workers).toEqual([]);
  expect(missing[0]).toContain('It is there again');
  expect((await service.forLoad()).workers).toHaveLength(1);
});

it('a worker that says nothing any more is lost', async () => {
  const sockets: Socket[] = [];
  const greeting = { build, version: '1', inUse: false, devices: [] };
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => {
      socket.write(`${JSON.stringify(greeting)}\n`);
      // the first ping, and no other
      socket.once('data', () => socket.write('pong\n'));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  const times = { pingMs: 5, limitMs: 60, againMs: [60_000] };
  const link = new WorkerLink(`127.0.0.1:${port}`, build, times);
  onTestFinished(() => link.close());
  await new Promise<void>((resolve) => link.lost.on(resolve));
  expect(link.state).toBe('lost');
  expect(link.error?.message).toContain('did not answer');
});

it.each([
  ['a line that is no JSON', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ['another object', '{"build": 1}\n'],
  ['no end of a line', 'x'.repeat(longestLine + 1)],
])('where another program answers, it says so: %s', async (_, answer) => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined).once('data', () => socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const link = new WorkerLink(`127.0.0.1:${port}`, build, { pingMs: 5, limitMs: 60_000, againMs: [60_000] });
  onTestFinished(() => {
    link.close();
    server.close();
  });
  await link.settled();
  expect(link.error?.message).toBe(`No worker answers at 127.0.0.1:${port}: another program answers there.`);
});

it('nobody waits for a worker that is taken off the list', async () => {
  const link = new WorkerLink('127.0.0.1:9', build, { pingMs: 20, limitMs: 60_000, againMs: [60_000] });
  const settled = link.settled();
  link.close();
  await settled;
  expect(link.state).toBe('lost');
});

it('a worker that another app uses takes no part', async () => {
  const { front } = await startFront();
  const talk = await peer(front.port);
  await said(talk, `${greetingOf(build)}\n`);
  const stream = await peer(front.port);
  await said(stream, rpc);
  const { service } = await serviceWith([addressOf(front)]);
  const { workers, missing } = await service.forLoad();
  expect(workers).toEqual([]);
  expect(missing[0]).toContain('is used by another app');
});

it('devices that are alike have names of their own', async () => {
  const { front } = await startFront(0, build, 0, Infinity, 2);
  const address = addressOf(front);
  const { service } = await serviceWith([address]);
  const { workers } = await service.forLoad();
  expect(workers.map(({ name }) => name)).toEqual([`${address} (CPU, 1)`, `${address} (CPU, 2)`]);
});

it('lends no more memory than it may', async () => {
  const { front } = await startFront(0, build, 0, 300);
  expect((await front.describe()).devices).toEqual([{ name: 'CPU', cpu: true, free: 300, total: 300 }]);
});

it('another address than the loopback interface has to be asked for twice', () => {
  expect(parseWorker([])).toEqual({ host: '127.0.0.1', port: 50_052, threads: 0, memory: Infinity });
  expect(parseWorker(['--memory', '3'])).toMatchObject({ memory: 3 * 1024 ** 2 });
  expect(() => parseWorker(['--memory', '0'])).toThrow(/--memory 0: a whole number from 1/);
  expect(() => parseWorker(['--host', '0.0.0.0'])).toThrow(/can run programs on this machine/);
  expect(parseWorker(['--host', '10.8.0.2', '--open-to-network']).host).toBe('10.8.0.2');
  expect(() => parseWorker(['--open-to-network'])).toThrow(/--host/);
  expect(() => parseWorker(['--host', 'example'])).toThrow(/IP address/);
  expect(() => parseWorker(['--port', '70000'])).toThrow(/65535/);
});
