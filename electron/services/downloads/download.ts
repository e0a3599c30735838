/**
 * The download of one model file, all its parts: fetches, tries again, compares with what the hub promised, mends what is wrong, and
 * puts the parts in their places when all of them are right.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ConcertinaError } from '../../contract/errors';
import type { HubPart } from '../../contract/hub';
import { readGgufHeader, requireRoom } from '../hub/ggufHeader';
import { HubError } from '../hub/httpErrors';
import { discardPart, PartFile, putInPlace } from './partFile';
import type { Origin } from './sidecar';
import { delayBefore, type Pause, type Timing } from './timing';
import { receive, receiveRange, type Source } from './transfer';

export interface Watcher {
  /** bytes of the whole download that are here now */
  onHave(bytes: number): void;
  /** bytes that came over the line */
  onReceived(bytes: number): void;
  onWaiting(error: HubError, retryAt: number): void;
  onActive(): void;
  /** the files are read again; `bytes` of the part that is compared */
  onChecking(bytes: number): void;
  /** throws when there is no room for the rest; asked at the beginning and every so often */
  requireRoom(missing: number): Promise<void>;
}

export interface DownloadOptions {
  source: Source;
  origin: Origin;
  folder: string;
  timing: Timing;
  /** of the checksum's states; tests have smaller ones */
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
  for (const part of origin.parts) {
    const path = placeOf(folder, origin.repo, part.path);
    if (!(await inPlace(path, part))) await fetchPart(options, path, part, before);
    before += part.bytes;
    watcher.onHave(before);
    signal.throwIfAborted();
  }
  // the first part last: without it none of the others is listed as a model
  for (const part of [...origin.parts].reverse()) {
    const path = placeOf(folder, origin.repo, part.path);
    if (!(await inPlace(path, part))) await putInPlace(path);
    else await discardPart(path);
  }
}

async function inPlace(path: string, { bytes }: HubPart): Promise<boolean> {
  return (await stat(path).catch(() => null))?.size === bytes;
}

async function fetchPart(options: DownloadOptions, path: string, part: HubPart, before: number): Promise<void> {
  const { origin, chunk, signal, watcher } = options;
  const head = { version: 1 as const, origin, path: part.path };
  const file = await PartFile.open(path, head, { ...(chunk ? { chunk } : {}), signal });
  try {
    if (file.verified && file.complete) return;
    await withRetries(
      options,
      () => file.have,
      () => receiveAll(options, file, before),
    );
    watcher.onChecking(0);
    await requireDigest(options, file);
    await requireGguf(file);
    await file.markVerified();
  } catch (error) {
    await file.sync().catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

async function receiveAll({ source, origin, signal, watcher }: DownloadOptions, file: PartFile, before: number) {
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
  try {
    await receive(source, file, {
      signal: line.signal,
      onBytes(bytes) {
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
    signal.removeEventListener('abort', cut);
  }
}

/** `progress`: grows with every byte; as long as it does, attempts are not counted. */
async function withRetries(
  options: DownloadOptions,
  progress: () => number,
  attempt: () => Promise<void>,
): Promise<void> {
  const { timing, signal, pause, watcher } = options;
  let failed = 0;
  for (;;) {
    const before = progress();
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !(error instanceof HubError) || !error.retriable) throw error;
      failed = progress() > before ? 1 : failed + 1;
      if (failed >= timing.maxAttempts) throw gaveUp(error, failed);
      const delay = delayBefore(failed, error, timing);
      watcher.onWaiting(error, Date.now() + delay);
      await pause.wait(delay, signal);
    }
  }
}

function gaveUp(error: HubError, attempts: number): ConcertinaError {
  const hint = 'Resume the download when the connection is better: nothing of it is lost.';
  return new ConcertinaError(error.code, `${error.message} It was tried ${attempts} times.`, hint, { cause: error });
}

/** What arrived is what the hub promised; else the chunks that are wrong are fetched again, and only they are kept. */
async function requireDigest(options: DownloadOptions, file: PartFile): Promise<void> {
  const { source, signal, watcher } = options;
  const { sha256 } = file.part;
  if (sha256 === null) return;
  const mended = file.wasMended;
  if (!mended && file.digest() === sha256) return;
  const matches = async (): Promise<boolean> => {
    watcher.onChecking(0);
    let read = 0;
    const onBytes = (bytes: number): void => {
      read += bytes;
      watcher.onChecking(read);
    };
    return (await file.digestOnDisk(onBytes, signal)) === sha256;
  };
  if (mended && (await matches())) return;
  for (const index of file.unchecked()) {
    let other = false;
    await withRetries(
      options,
      () => 0,
      async () => {
        const data = await receiveRange(source, file, file.range(index), signal);
        watcher.onReceived(data.length);
        other = await file.replaceIfOther(index, data);
      },
    );
    if (other && (await matches())) return;
  }
  await file.restart();
  throw new ConcertinaError(
    'download-damaged',
    `${file.part.path} was received as a whole, but it is not what ${source.http.endpoint.host} promised.`,
    'Resume the download to fetch it anew. If that happens again, a mirror or a proxy in between is at fault.',
  );
}

async function requireGguf(file: PartFile): Promise<void> {
  for (let bytes = headerBytes; ; bytes *= 4) {
    const header = readGgufHeader(await file.header(bytes));
    if (header) return requireRoom(header, file.part.bytes);
    if (bytes >= file.part.bytes) return requireRoom({ dataStart: bytes, tensors: 1, lastOffset: 0 }, file.part.bytes);
  }
}
