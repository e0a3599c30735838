/** Log file of the app: <data>/logs/concertina.log, at most two files of 1 MB. Nothing is sent anywhere. */
import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const maxBytes = 1_000_000;

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
      appendFileSync(path, `${now().toISOString()} ${level} ${text.trimEnd()}\n`, { mode: 0o600 });
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

export const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined };

function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxBytes) renameSync(path, path.replace(/(\.[^.]*)$/, '.1$1'));
}
