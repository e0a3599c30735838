/** Writes small GGUF files for tests of bad input. */
import fs from 'node:fs';

const typeUint32 = 4;
const typeString = 8;
const typeF32 = 0;
const alignment = 32;

type Value = string | number;

export interface TensorSpec {
  name: string;
  shape: number[];
  /** ggml's id; f32 when it is not named, and only then `shape` says how many bytes there are */
  type?: number;
}

export function writeGguf(
  file: string,
  metadata: Record<string, Value>,
  tensors: TensorSpec[],
  dataBytes: number,
): void {
  const parts = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(Object.keys(metadata).length)];
  for (const [key, value] of Object.entries(metadata)) {
    parts.push(text(key));
    parts.push(typeof value === 'string' ? Buffer.concat([uint32(typeString), text(value)]) : uint32Pair(value));
  }
  let offset = 0;
  for (const { name, shape, type = typeF32 } of tensors) {
    parts.push(text(name), uint32(shape.length), ...shape.map(uint64), uint32(type), uint64(offset));
    const bytes = 4 * shape.reduce((product, size) => product * size, 1);
    offset += Math.ceil(bytes / alignment) * alignment;
  }
  const header = Buffer.concat(parts);
  const padding = Buffer.alloc((alignment - (header.length % alignment)) % alignment);
  fs.writeFileSync(file, Buffer.concat([header, padding, Buffer.alloc(dataBytes)]));
}

function uint32Pair(value: number): Buffer {
  return Buffer.concat([uint32(typeUint32), uint32(value)]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
