/** Sends a file to the app in parts: a page in a browser cannot tell where the file lies. */
import type { Client } from '../../electron/contract/contract';
import type { UploadPart } from '../../electron/contract/documents';

/** bytes of one part; a multiple of 3, so that only the last part is padded */
const partBytes = 786_432;

export interface UploadOptions {
  /** 0 to 1, of the sending; the reading after it has a job */
  onProgress?: (fraction: number) => void;
  signal?: AbortSignal;
}

type SendFile = (file: File, sendIt: () => Promise<string>) => Promise<string>;

/** One after the other. `by`: a shorter way for some files, which falls back on sending. @returns ids of their jobs */
export async function uploadFiles(
  call: Client['call'],
  files: File[],
  { onProgress, signal }: UploadOptions = {},
  by: SendFile = (_file, sendIt) => sendIt(),
): Promise<string[]> {
  const jobs: string[] = [];
  for (const [index, file] of files.entries()) {
    const tell = (fraction: number) => onProgress?.((index + fraction) / files.length);
    jobs.push(await by(file, () => uploadFile(call, file, { onProgress: tell, signal })));
    tell(1);
  }
  return jobs;
}

/** @returns the id of the job that reads it. Rejects with the signal's reason when it is canceled. */
async function uploadFile(call: Client['call'], file: File, options: UploadOptions = {}): Promise<string> {
  const { jobId } = await sendInParts(file, (part) => call('documents.upload', part), options);
  if (jobId === null) throw new Error(`${file.name} was sent and not taken over.`);
  return jobId;
}

/** @returns the answer to the last part. Rejects with the signal's reason when it is canceled. */
export async function sendInParts<Answer extends { uploadId: string }>(
  file: File,
  send: (part: UploadPart) => Promise<Answer>,
  { onProgress, signal }: UploadOptions = {},
): Promise<Answer> {
  let uploadId: string | null = null;
  for (let offset = 0; ; offset += partBytes) {
    signal?.throwIfAborted();
    const data = base64(new Uint8Array(await file.slice(offset, offset + partBytes).arrayBuffer()));
    const answer: Answer = await send({ uploadId, name: file.name, bytes: file.size, offset, data });
    onProgress?.(Math.min(1, (offset + partBytes) / Math.max(1, file.size)));
    if (offset + partBytes >= file.size) return answer;
    uploadId = answer.uploadId;
  }
}

function base64(bytes: Uint8Array): string {
  const step = 32_768;
  let letters = '';
  for (let at = 0; at < bytes.length; at += step) letters += String.fromCharCode(...bytes.subarray(at, at + step));
  return btoa(letters);
}
