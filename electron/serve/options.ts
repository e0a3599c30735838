/** Command line of headless mode. */
import os from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export interface ServeOptions {
  port: number;
  host: string;
  dataFolder: string;
  /** a model file to load at start, in place of the remembered one */
  model: string | null;
}

export const usage = `usage: npm run serve -- [--port N] [--data DIR] [--model FILE] [--host 127.0.0.1]

  --port   port on this machine (8170; another free one when it is taken and not asked for)
  --data   folder of chats and settings (~/.concertina)
  --model  GGUF file to add and load
  --host   loopback address to listen on`;

export const defaultPort = 8170;
const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

export class UsageError extends Error {}

/** Throws `UsageError` with one sentence when the line makes no sense. */
export function parseServeOptions(args: string[]): ServeOptions & { portAsked: boolean } {
  const values = parse(args);
  if (values.help) throw new UsageError('');
  const host = values.host ?? '127.0.0.1';
  if (!loopback.has(host)) {
    throw new UsageError(`--host ${host}: only addresses of this machine are served (127.0.0.1, localhost, ::1).`);
  }
  return {
    host,
    port: values.port === undefined ? defaultPort : parsePort(values.port),
    portAsked: values.port !== undefined,
    dataFolder: resolve(values.data ?? join(os.homedir(), '.concertina')),
    model: values.model === undefined ? null : resolve(values.model),
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        data: { type: 'string' },
        model: { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port ${text} is not a port number.`);
  return port;
}
