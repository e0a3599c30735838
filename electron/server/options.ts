/** Command line of headless mode. */

import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../contract/errors';
import { cacheTypes, contextSettingsSchema } from '../contract/settings';
import { cannotWrite, requireWritable } from '../services/lib/dataFolder';
import type { EstimateQuestion } from './estimate';

export interface ServeOptions {
  port: number;
  host: string;
  dataFolder: string;
  /** a model file to load at start, in place of the remembered one */
  model: string | null;
  /** prints what this model and context take, and ends; nothing is served */
  estimate: EstimateQuestion | null;
}

export const usage = `usage: npm run serve -- [--port N] [--data DIR] [--model FILE] [--host 127.0.0.1]
       npm run serve -- --estimate FILE [--context N] [--type-k TYPE] [--type-v TYPE]

  --port   port on this machine (8170; another free one when it is taken and not asked for)
  --data   folder of chats and settings (~/.concertina)
  --model  GGUF file to add and load
  --host   loopback address to listen on

  --estimate  says what a GGUF file would take of the memory, whether that fits and how long its context can be
  --context   tokens (8192)
  --type-k, --type-v  cache types (turbo4): ${cacheTypes.join(', ')}`;

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
    estimate: parseEstimate(values),
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
        estimate: { type: 'string' },
        context: { type: 'string' },
        'type-k': { type: 'string' },
        'type-v': { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function parseEstimate(values: ReturnType<typeof parse>): EstimateQuestion | null {
  const { estimate, context: nCtx, 'type-k': typeK, 'type-v': typeV } = values;
  if (estimate === undefined) {
    if ([nCtx, typeK, typeV].every((value) => value === undefined)) return null;
    throw new UsageError('--context, --type-k and --type-v belong to --estimate FILE.');
  }
  const context = contextSettingsSchema.safeParse({ nCtx: nCtx === undefined ? nCtx : Number(nCtx), typeK, typeV });
  if (context.success) return { path: resolve(estimate), context: context.data };
  const names: Record<string, string> = { nCtx: '--context', typeK: '--type-k', typeV: '--type-v' };
  const issue = context.error.issues[0];
  throw new UsageError(`${names[String(issue?.path[0])]}: ${issue?.message}.`);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new UsageError(`--port ${text} is not a port number.`);
  return port;
}

// Two servers on one data folder would each overwrite what the other knows.

/** Takes the folder for this process, until it exits. Throws where it cannot be written, and `UsageError` when another one has it. */
export function lockFolder(folder: string): void {
  requireWritable(folder);
  const path = join(folder, 'serve.lock');
  const owner = readOwner(path);
  if (owner !== null && owner !== process.pid && isAlive(owner)) {
    throw new UsageError(
      `Concertina already runs with the folder ${folder} (process ${owner}). Choose another with --data.`,
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
