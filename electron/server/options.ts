/** `concertina serve`: its line, and the lock and the key of a data folder. */

import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ConcertinaError } from '../contract/errors';
import { cannotWrite, requireWritable } from '../services/lib/dataFolder';
import { type CommandSpec, dataFolderOf, dataOption, parseLine, UsageError } from './commandLine';

export interface ServeOptions {
  port: number;
  host: string;
  dataFolder: string;
  /** a model file to load at start, in place of the remembered one */
  model: string | null;
}

export const defaultPort = 8170;
const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

export const serveSpec = {
  name: 'serve',
  takes: '',
  about: 'serves the app to a browser on this machine',
  details: 'Prints the address to open, which includes an access key. Stop it with Ctrl-C.',
  options: {
    port: { type: 'string', value: 'N', about: 'port on this machine (8170; another free one when that is taken)' },
    host: {
      type: 'string',
      value: 'ADDRESS',
      values: [...loopback],
      about: 'loopback address to listen on (127.0.0.1)',
    },
    model: { type: 'string', value: 'FILE', about: 'GGUF file to add and load' },
    ...dataOption,
  },
  examples: [
    ['serve', 'the app at http://127.0.0.1:8170'],
    ['serve --model ~/models/qwen.gguf --port 9000', 'with this model, on another port'],
  ],
} as const satisfies CommandSpec;

/** Throws `UsageError` with one sentence when the line makes no sense. */
export function parseServeOptions(args: readonly string[]): ServeOptions & { portAsked: boolean } {
  const { values, positionals } = parseLine(serveSpec, args);
  if (positionals.length > 0) {
    throw new UsageError(
      `serve takes options only, and not ${positionals[0]}. Commands stand alone: concertina --help lists them.`,
    );
  }
  const host = values.host ?? '127.0.0.1';
  if (!loopback.has(host)) {
    throw new UsageError(`--host ${host}: only addresses of this machine are served (127.0.0.1, localhost, ::1).`);
  }
  return {
    host,
    port: values.port === undefined ? defaultPort : parsePort(values.port),
    portAsked: values.port !== undefined,
    dataFolder: dataFolderOf(values),
    model: values.model === undefined ? null : resolve(values.model),
  };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port ${text} is not a port number.`);
  return port;
}

// Two servers on one data folder would each overwrite what the other knows.

/** Takes the folder for this process, until it exits. Throws where it cannot be written, and `busy` when another one has it. */
export function lockFolder(folder: string): void {
  requireWritable(folder);
  const path = join(folder, 'serve.lock');
  const owner = readOwner(path);
  if (owner !== null && owner !== process.pid && isAlive(owner)) {
    throw new ConcertinaError(
      'busy',
      `Concertina already runs with the folder ${folder} (process ${owner}).`,
      'Choose another with --data.',
    );
  }
  try {
    writeFileSync(path, String(process.pid));
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  process.on('exit', () => rmSync(path, { force: true }));
}

function readOwner(path: string): number | null {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || null;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === 'EPERM';
  }
}

// The key of headless mode: made once and stored with the chats it opens, so that an open tab, or a bookmark of the whole printed address, works again.

const shape = /^[A-Za-z0-9_-]{32}$/;

/** The key of this data folder; a new one when there is none yet or the file is damaged. Only its owner may read the file. */
export function keptToken(folder: string): string {
  const path = join(folder, 'serve.key');
  const stored = read(path);
  if (shape.test(stored)) return stored;
  const token = randomBytes(24).toString('base64url');
  try {
    writeFileSync(path, token, { mode: 0o600 });
  } catch (error) {
    throw cannotWrite(folder, error);
  }
  return token;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
