/** Sends a file to the app in parts: a page in a browser cannot tell where the file lies. */
import type { Client } from '../../electron/contract/contract';

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
  const { onProgress, signal } = options;
  let uploadId: string | null = null;
  for (let offset = 0; ; offset += partBytes) {
    signal?.throwIfAborted();
    const data = base64(new Uint8Array(await file.slice(offset, offset + partBytes).arrayBuffer()));
    const part = { uploadId, name: file.name, bytes: file.size, offset, data };
    const answer: { uploadId: string; jobId: string | null } = await call('documents.upload', part);
    onProgress?.(Math.min(1, (offset + partBytes) / Math.max(1, file.size)));
    if (answer.jobId !== null) return answer.jobId;
    uploadId = answer.uploadId;
  }
}

function base64(bytes: Uint8Array): string {
  const step = 32_768;
  let letters = '';
  for (let at = 0; at < bytes.length; at += step) letters += String.fromCharCode(...bytes.subarray(at, at + step));
  return btoa(letters);
}
