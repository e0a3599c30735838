/** One connection of a download: asks for what is missing, checks that the answer is just that, and writes it. */
import { ConcertinaError } from '../../contract/errors';
import { resolvePath } from '../hub/api';
import type { Answer, HubHttp } from '../hub/http';
import { connectionError, HubError } from '../hub/httpErrors';
import type { PartFile } from './partFile';

export interface Source {
  http: HubHttp;
  repo: string;
  revision: string;
}

interface Places {
  signal: AbortSignal;
  onBytes: (bytes: number) => void;
}

/** Goes on until the file is complete. Throws `HubError` for what a later connection may mend. */
export async function receive(source: Source, file: PartFile, { signal, onBytes }: Places): Promise<void> {
  const { http } = source;
  // an empty file has no part to ask for
  if (file.complete) return;
  const resumed = file.have > 0;
  if (resumed) await file.markSeam();
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

/** `start` to `end` of a file, the last byte not included. */
export async function receiveRange(
  { http, repo, revision }: Source,
  file: PartFile,
  { start, end }: { start: number; end: number },
  signal: AbortSignal,
): Promise<Buffer> {
  const headers = { range: `bytes=${start}-${end - 1}` };
  const { body, status } = await http.open(resolvePath(repo, revision, file.part.path), { headers, signal, repo });
  const pieces: Buffer[] = [];
  let position = status === 206 ? start : 0;
  try {
    for await (const data of body as AsyncIterable<Buffer>) {
      const from = Math.max(0, start - position);
      if (from < data.length) pieces.push(data.subarray(from, Math.min(data.length, end - position)));
      position += data.length;
      if (position >= end) break;
    }
  } catch (error) {
    throw signal.aborted ? error : connectionError(error, http.endpoint.host);
  }
  if (position < end)
    throw new HubError('network-failed', `${http.endpoint.host}: the connection was cut.`, '', { retriable: true });
  return Buffer.concat(pieces);
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
    'Cancel this download, look at the page of the model and start anew.',
  );
}
