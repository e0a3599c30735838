/** `concertina worker`: lends the devices of this machine to models of another one. Nothing of it is kept here but memory, until the client goes. */
import { isIP } from 'node:net';
import { deviceServerArguments, usualWorkerPort } from '../contract/lib/domains/workers';
import { forkProcess } from '../services/engine/engineTransport';
import { WorkerFront } from '../services/remote/workerFront';
import { type CommandSpec, exitCodes, parseLine, UsageError } from './commandLine';
import type { Command } from './commandServices';

const spec = {
  name: 'worker',
  takes: '',
  about: 'lends the memory and the processors of this machine to a model on another one',
  details: `It listens on this machine alone, so the other one reaches it through a tunnel: ssh -L ${usualWorkerPort}:127.0.0.1:${usualWorkerPort} THIS-MACHINE
there, and the address 127.0.0.1:${usualWorkerPort} in its settings under Workers. What it serves is upstream's RPC, which asks nobody
for a password and encrypts nothing: whoever reaches the port can read what the model is told, and run programs on this machine.
docs/machines.md has more. Both machines need the same version of Concertina.`,
  options: {
    port: { type: 'string', value: 'N', about: `to listen on (${usualWorkerPort})` },
    threads: { type: 'string', value: 'N', about: 'of the processor (as many as it has cores)' },
    memory: { type: 'string', value: 'MIB', about: 'that it lends of each device at the most (all that is free)' },
    host: {
      type: 'string',
      value: 'ADDRESS',
      about: 'of this machine, in place of 127.0.0.1; only with --open-to-network',
    },
    'open-to-network': {
      type: 'boolean',
      about: 'listens on an address that other machines reach, without a password and without encryption',
    },
  },
  examples: [
    ['worker', 'for a tunnel of ssh'],
    ['worker --host 10.8.0.2 --open-to-network', 'on the address that WireGuard gave this machine'],
  ],
} as const satisfies CommandSpec;

interface WorkerLine {
  host: string;
  port: number;
  /** 0: as many as there are cores */
  threads: number;
  /** bytes of each device at the most; Infinity: all that is free */
  memory: number;
}

/** Throws `UsageError` when the line makes no sense, or opens more than it says. */
export function parseWorker(args: readonly string[]): WorkerLine {
  const { values, positionals } = parseLine(spec, args);
  if (positionals.length > 0) throw new UsageError(`worker takes no "${positionals[0]}".`);
  const { host = '127.0.0.1', 'open-to-network': open = false } = values;
  if (isIP(host) === 0) throw new UsageError(`--host ${host}: an IP address of this machine is needed.`);
  const isHere = host === '::1' || host.startsWith('127.');
  if (!isHere && !open) {
    throw new UsageError(
      `--host ${host}: whoever reaches this address can run programs on this machine. If only machines that you trust do, add --open-to-network.`,
    );
  }
  if (isHere && open) throw new UsageError('--open-to-network needs the address that other machines reach: --host.');
  return {
    host,
    port: numberOf('port', values.port ?? String(usualWorkerPort), 0, 65_535),
    threads: numberOf('threads', values.threads ?? '0', 0, 512),
    memory: values.memory === undefined ? Infinity : numberOf('memory', values.memory, 1, 1e9) * 1024 ** 2,
  };
}

function numberOf(option: string, text: string, least: number, most: number): number {
  const number = Number(text);
  if (text.trim() !== '' && Number.isInteger(number) && number >= least && number <= most) return number;
  throw new UsageError(`--${option} ${text}: a whole number from ${least} to ${most}.`);
}

/** `engine`: the program of the engine */
export function workerCommand(engine: string): Command {
  return {
    ...spec,
    async run(args, { version, print, status, signal }) {
      const line = parseWorker(args);
      status.show('Starting the devices');
      const front = await WorkerFront.start({
        ...{ ...line, version, log: (text: string) => console.error(text) },
        open: () => forkProcess(engine, deviceServerArguments()),
      }).catch((error: unknown) => {
        throw addressTrouble(error, line) ?? error;
      });
      status.clear();
      const { build, devices } = await front.describe();
      print(`Concertina's worker (version ${version}, build ${build}) listens at ${line.host}:${front.port}`);
      for (const { name, free, total } of devices) print(`  ${name}: ${mib(free)} of ${mib(total)} MiB free`);
      if (line.host !== '::1' && !line.host.startsWith('127.')) {
        console.error(
          'WARNING: there is no password and no encryption. Whoever reaches this address can run programs on this machine.',
        );
      }
      print('Stop it with Ctrl-C.');
      try {
        await new Promise<void>((resolve, reject) => {
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve());
          front.failed.on(reject);
        });
      } finally {
        await front.close();
      }
      return exitCodes.done;
    },
  };
}

const mib = (bytes: number) => Math.floor(bytes / 1024 / 1024);

function addressTrouble(error: unknown, { host, port }: WorkerLine): UsageError | null {
  switch ((error as { code?: unknown }).code) {
    case 'EADDRINUSE':
      return new UsageError(`Port ${port} is taken. Choose another one with --port.`);
    case 'EACCES':
      return new UsageError(`The system does not allow port ${port}. Choose another one with --port.`);
    case 'EADDRNOTAVAIL':
      return new UsageError(`--host ${host} is no address of this machine.`);
    default:
      return null;
  }
}
