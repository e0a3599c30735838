/**
 * The download of one model file, all its parts: fetches, tries again, compares with what the hub promised, fetches again what is
 * wrong, and puts the parts in their places when all of them are right.
 */

import { realpath, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import type { HubPart } from '../../contract/hub';
import { resolvePath } from '../hub/api';
import { readGgufHeader, requireRoom } from '../hub/ggufHeader';
import { type Answer, connectionError, HubError, type HubHttp } from '../hub/http';
import { sha256Of } from '../lib/files';
import { diskError } from './disk';
import { discardPart, type Origin, PartFile, putInPlace } from './partFile';

interface Watcher {
  /** bytes of the whole download that are here now */
  onHave(bytes: number): void;
  /** bytes that came over the line */
  onReceived(bytes: number): void;
  onWaiting(error: HubError, retryAt: number): void;
  onActive(): void;
  /** what is there is read, and compared with what was promised */
  onChecking(): void;
  /** throws when there is no room for the rest; asked at the beginning and every so often */
  requireRoom(missing: number): Promise<void>;
}

interface DownloadOptions {
  source: Source;
  origin: Origin;
  folder: string;
  timing: Timing;
  /** bytes after which what was received is flushed; tests have fewer */
  chunk?: number;
  signal: AbortSignal;
  pause: Pause;
  watcher: Watcher;
}

const headerBytes = 4 * 1024 * 1024;
const roomEveryBytes = 64 * 1024 * 1024;

/** Place of a part: `owner/name/path` in the folder of downloads, as other apps lay out theirs. */
export function placeOf(folder: string, repo: string, path: string): string {
  return join(folder, ...repo.split('/'), ...path.split('/'));
}

/** Returns when every part is in its place. Rejects with a coded error; what is there stays for the next attempt. */
export async function download(options: DownloadOptions): Promise<void> {
  const { origin, folder, watcher, signal } = options;
  let before = 0;
  const there = new Set<HubPart>();
  for (const part of origin.parts) {
    const path = placeOf(folder, origin.repo, part.path);
    if (await inPlace(path, part, options)) there.add(part);
    else {
      await requireOwnName(path);
      await fetchPart(options, path, part, before);
    }
    before += part.bytes;
    watcher.onHave(before);
    signal.throwIfAborted();
  }
  // the first part last: without it none of the others is listed as a model
  for (const part of [...origin.parts].reverse()) {
    const path = placeOf(folder, origin.repo, part.path);
    if (there.has(part)) await discardPart(path);
    else await putInPlace(path);
  }
}

/** A file of the right size may be another one, or damaged: the checksum tells. */
async function inPlace(
  path: string,
  { bytes, sha256 }: HubPart,
  { signal, watcher }: Pick<DownloadOptions, 'signal' | 'watcher'>,
): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile() || found.size !== bytes) return false;
  if (sha256 === null) return true;
  watcher.onChecking();
  try {
    return (await sha256Of(path, { signal })) === sha256;
  } catch (error) {
    throw diskError(error, path);
  }
}

/** Where a disk ignores the case of names, or the name is a link, the file of another name would be lost. */
async function requireOwnName(path: string): Promise<void> {
  const real = await realpath(path).catch(() => path);
  if (basename(real) === basename(path)) return;
  throw new ConcertinaError(
    'download-damaged',
    msg`${{ path }} is the file ${{ name: basename(real) }} on this disk, which is not the one that is to be downloaded.`,
    msg`Move that file away, or choose another folder for downloads, and resume the download.`,
  );
}

async function fetchPart(options: DownloadOptions, path: string, part: HubPart, before: number): Promise<void> {
  const { origin, chunk, signal, watcher } = options;
  const head = { version: 1 as const, origin, path: part.path };
  const file = await PartFile.open(path, head, chunk);
  try {
    if (file.verified && file.complete) return;
    if (file.have > 0) watcher.onChecking();
    await file.readAgain(signal);
    await receiveRight(options, file, before);
    await requireGguf(file);
    await file.markVerified();
  } catch (error) {
    await file.flush().catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

/** What arrived is what the hub promised. Else what the disk may have lost is fetched again, then once more everything. */
async function receiveRight(options: DownloadOptions, file: PartFile, before: number): Promise<void> {
  const { source, signal, watcher } = options;
  for (let again = false; ; ) {
    await withRetries(
      options,
      () => file.have,
      () => receiveAll(options, file, before),
    );
    watcher.onChecking();
    if (file.matches()) return;
    if (await file.goBack(signal)) continue;
    if (again) break;
    again = true;
  }
  throw new ConcertinaError(
    'download-damaged',
    msg`${{ path: file.part.path }} was received as a whole, but it is not what ${{ host: source.http.endpoint.host }} promised.`,
    msg`Resume the download to fetch it again. If the same happens, a mirror or proxy in between is at fault.`,
  );
}

async function receiveAll(
  { source, origin, signal, watcher, timing }: DownloadOptions,
  file: PartFile,
  before: number,
) {
  const total = origin.parts.reduce((sum, { bytes }) => sum + bytes, 0);
  const missing = () => total - before - file.have;
  watcher.onHave(before + file.have);
  await watcher.requireRoom(missing());
  watcher.onActive();
  let sinceRoom = 0;
  let shortage: unknown = null;
  const line = new AbortController();
  const cut = () => line.abort(signal.reason);
  signal.addEventListener('abort', cut);
  const pace = new Pace(timing, () => {
    shortage = tooSlow(source.http.endpoint.host, timing);
    line.abort(shortage);
  });
  try {
    await receive(source, file, {
      signal: line.signal,
      onBytes(bytes) {
        pace.add(bytes);
        watcher.onReceived(bytes);
        watcher.onHave(before + file.have);
        sinceRoom += bytes;
        if (sinceRoom < roomEveryBytes) return;
        sinceRoom = 0;
        watcher.requireRoom(missing()).catch((error: unknown) => {
          shortage = error;
          line.abort(error);
        });
      },
    });
  } catch (error) {
    throw shortage ?? error;
  } finally {
    pace.end();
    signal.removeEventListener('abort', cut);
  }
}

/** `progress`: grows with every byte; as long as it does at a pace that leads to an end, attempts are not counted. */
async function withRetries(
  options: DownloadOptions,
  progress: () => number,
  attempt: () => Promise<void>,
): Promise<void> {
  const { timing, signal, pause, watcher } = options;
  let failed = 0;
  for (;;) {
    const before = progress();
    const begun = performance.now();
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !(error instanceof HubError) || !error.retriable) throw error;
      const gained = progress() - before;
      const isOnItsWay = gained > 0 && gained >= (timing.leastPerSecond * (performance.now() - begun)) / 1000;
      failed = isOnItsWay ? 1 : failed + 1;
      if (failed >= timing.maxAttempts) throw gaveUp(error, failed);
      const delay = delayBefore(failed, error, timing);
      watcher.onWaiting(error, Date.now() + delay);
      await pause.wait(delay, signal);
    }
  }
}

function gaveUp(error: HubError, attempts: number): ConcertinaError {
  const hint = 'Resume the download when the connection is better: nothing of it is lost.';
  return new ConcertinaError(error.code, msg`${{ message: error.message }} It was tried ${{ attempts }} times.`, hint, {
    cause: error,
  });
}

async function requireGguf(file: PartFile): Promise<void> {
  for (let bytes = headerBytes; ; bytes *= 4) {
    const header = readGgufHeader(await file.header(bytes));
    if (header) return requireRoom(header, file.part.bytes);
    if (bytes >= file.part.bytes) return requireRoom({ dataStart: bytes, tensors: 1, lastOffset: 0 }, file.part.bytes);
  }
}

// How patient a download is. Tests are less so.

export interface Timing {
  /** attempts without a new byte, after which a download has failed */
  maxAttempts: number;
  /** ms before the second attempt; later ones wait longer */
  firstDelayMs: number;
  longestDelayMs: number;
  /** bytes a second: a line that brings less over `paceMs` is cut, and an attempt that did is one without a new byte */
  leastPerSecond: number;
  paceMs: number;
}

export const usualTiming: Timing = {
  ...{ maxAttempts: 8, firstDelayMs: 1000, longestDelayMs: 60_000 },
  // as package managers have it: no line that is meant well is slower
  ...{ leastPerSecond: 1000, paceMs: 60_000 },
};

/** Calls `onSlow` once when one window of time brought too little. */
class Pace {
  private bytes = 0;
  private readonly timer: NodeJS.Timeout;

  constructor({ leastPerSecond, paceMs }: Timing, onSlow: () => void) {
    this.timer = setInterval(() => {
      if (this.bytes < (leastPerSecond * paceMs) / 1000) onSlow();
      this.bytes = 0;
    }, paceMs);
  }

  add(bytes: number): void {
    this.bytes += bytes;
  }

  end(): void {
    clearInterval(this.timer);
  }
}

function tooSlow(host: string, { leastPerSecond, paceMs }: Timing): HubError {
  return new HubError(
    'network-failed',
    `${host} sent less than ${leastPerSecond} bytes a second for ${Math.round(paceMs / 1000)} seconds.`,
    'The download is tried again by itself.',
    { retriable: true },
  );
}

/** What the hub asks for goes first; else twice as long each time, and by chance, so that not all come back at once. */
function delayBefore(attempt: number, error: HubError, timing: Timing, random: () => number = Math.random): number {
  const { firstDelayMs, longestDelayMs } = timing;
  const longest = Math.min(longestDelayMs, firstDelayMs * 2 ** (attempt - 1));
  return Math.max(error.retryAfterMs ?? 0, longest * (0.5 + random() / 2));
}

/** Ends early when `signal` is aborted (rejects) or `wake` is called. */
export class Pause {
  private wakeUp: (() => void) | null = null;

  wait(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        this.wakeUp = null;
        if (signal.aborted) reject(signal.reason);
        else resolve();
      };
      const timer = setTimeout(end, ms);
      this.wakeUp = end;
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
    });
  }

  wake(): void {
    this.wakeUp?.();
  }
}

// One connection of a download: asks for what is missing, checks that the answer is just that, and writes it.

interface Source {
  http: HubHttp;
  repo: string;
  revision: string;
}

interface Places {
  signal: AbortSignal;
  onBytes: (bytes: number) => void;
}

/** Goes on until the file is complete. Throws `HubError` for what a later connection may mend. */
async function receive(source: Source, file: PartFile, { signal, onBytes }: Places): Promise<void> {
  const { http } = source;
  // an empty file has no part to ask for
  if (file.complete) return;
  const answer = await ask(source, file, signal);
  try {
    if (answer.status === 200 && file.have > 0) await file.restart();
    const etag = answer.headers.etag;
    if (etag && !etag.startsWith('W/')) await file.rememberEtag(etag);
    for await (const data of answer.body as AsyncIterable<Buffer>) {
      if (file.have + data.length > file.part.bytes) throw otherFile(source, file, 'longer');
      await file.write(data);
      onBytes(data.length);
    }
  } catch (error) {
    answer.body.destroy();
    if (signal.aborted || error instanceof ConcertinaError) throw error;
    throw connectionError(error, http.endpoint.host);
  }
  if (!file.complete)
    throw new HubError('network-failed', `${http.endpoint.host}: the connection was cut.`, '', { retriable: true });
}

async function ask(source: Source, file: PartFile, signal: AbortSignal): Promise<Answer> {
  const { http, repo, revision } = source;
  const path = resolvePath(repo, revision, file.part.path);
  const range: Record<string, string> = file.have > 0 ? { range: `bytes=${file.have}-` } : {};
  const condition: Record<string, string> = file.have > 0 && file.etag ? { 'if-range': file.etag } : {};
  const answer = await http.open(path, { headers: { ...range, ...condition }, signal, repo });
  try {
    requireSame(source, file, answer);
    if (answer.status !== 200 || file.have === 0 || !file.etag || file.part.sha256 === null) return answer;
    // another tag for the same content: hosts differ in them, and the checksum tells in the end
    answer.body.destroy();
    const again = await http.open(path, { headers: range, signal, repo });
    requireSame(source, file, again);
    return again;
  } catch (error) {
    answer.body.destroy();
    throw error;
  }
}

/** Throws where the hub has another file under this name by now, or gives out another part than was asked for. */
function requireSame(source: Source, file: PartFile, { status, headers, linked }: Answer): void {
  const { part, have } = file;
  const tag = /^(?:W\/)?"?([0-9a-f]{64})"?$/.exec(linked.etag ?? '')?.[1];
  if (part.sha256 !== null && tag !== undefined && tag !== part.sha256) throw otherFile(source, file, 'other');
  if (linked.bytes !== null && linked.bytes !== part.bytes) throw otherFile(source, file, 'other');
  if (status === 206) {
    const [, start, , total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    if (Number(start) === have && (total === '*' || Number(total) === part.bytes)) return;
    throw otherFile(source, file, total !== undefined && Number(start) === have ? 'other' : 'range');
  }
  const length = headers['content-length'];
  if (status === 200 && length !== undefined && Number(length) !== part.bytes) throw otherFile(source, file, 'other');
}

function otherFile({ http }: Source, { part }: PartFile, why: 'other' | 'longer' | 'range'): HubError {
  const { host } = http.endpoint;
  if (why === 'range') {
    return new HubError('network-failed', `${host} sent another part of the file than it was asked for.`, '', {
      retriable: true,
    });
  }
  const message =
    why === 'longer' ? `${host} sends more than ${part.path} has.` : `${part.path} is another file at ${host} by now.`;
  return new HubError(
    'download-damaged',
    message,
    'Cancel this download, look at the page of the model and start again.',
  );
}
