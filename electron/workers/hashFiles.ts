import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';

const sampleBytes = 1024 * 1024;
const stepBytes = 4 * 1024 * 1024;

/** SHA-256 of files one after the other; `sample`: of the first and the last megabyte of each. */
export async function hashFiles(paths: readonly string[], sample: boolean): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(sample ? sampleBytes : stepBytes);
  for (const path of paths) {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      const starts = sample ? [0, Math.max(0, size - sampleBytes)] : stepsOf(size);
      for (const start of starts) hash.update(await read(handle, buffer, start));
    } finally {
      await handle.close();
    }
  }
  return hash.digest('hex');
}

function* stepsOf(size: number): Generator<number> {
  for (let start = 0; start < size; start += stepBytes) yield start;
}

async function read(handle: FileHandle, buffer: Buffer, start: number): Promise<Buffer> {
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}
