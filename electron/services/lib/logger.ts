/** Log file of the app: <data>/logs/concertina.log, at most two files of 1 MB. Nothing is sent anywhere. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, stackOf } from '../../contract/errors';

const maxBytes = 1_000_000;

/** Longer lines are cut: none that helps anybody is as long, and a hostile file can bring one of any length. */
export const longestLine = 2000;

export interface Logger {
  info(text: string): void;
  warn(text: string): void;
  error(text: string): void;
}

/** Writes synchronously: what was logged last before a crash is the most useful line. */
export function createFileLogger(path: string, now: () => Date = () => new Date()): Logger {
  function write(level: string, text: string): void {
    try {
      mkdirSync(dirname(path), { recursive: true });
      rotate(path);
      appendFileSync(path, `${now().toISOString()} ${level} ${withShortLines(text.trimEnd())}\n`, { mode: 0o600 });
    } catch (error) {
      console.error(`The log ${path} could not be written:`, error);
    }
  }
  return {
    info: (text) => write('info', text),
    warn: (text) => write('warn', text),
    error: (text) => write('error', text),
  };
}

function withShortLines(text: string): string {
  const lines = text.split('\n');
  return lines
    .map((line) => (line.length > longestLine ? line.slice(0, longestLine) + cutMark(line) : line))
    .join('\n');
}

/** What stands for the rest of a line that was cut. */
export function cutMark({ length }: string): string {
  return ` … (cut: ${length} characters)`;
}

/**
 * An error that nothing handles is a bug, and must not take the chats, the answer that is being written and the engine with it:
 * it is logged with its stack, and the process goes on.
 * @param notify called with one line about it
 */
export function logUnhandled(log: Logger, notify: (text: string) => void = () => undefined): void {
  function report(kind: string, error: unknown): void {
    log.error(`${kind}: ${stackOf(error)}`);
    notify(`An error was not handled: ${messageOf(error)}`);
  }
  process.on('uncaughtException', (error) => report('uncaught exception', error));
  process.on('unhandledRejection', (reason) => report('unhandled rejection', reason));
}

export const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxBytes) renameSync(path, path.replace(/(\.[^.]*)$/, '.1$1'));
}
