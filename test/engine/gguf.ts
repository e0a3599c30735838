/** Writes GGUF files for tests: damaged ones, and models whose weights are holes in a file. */
import fs from 'node:fs';

const typeUint16 = 2;
const typeUint32 = 4;
const typeInt32 = 5;
const typeFloat32 = 6;
const typeString = 8;
const typeArray = 9;
const typeF32 = 0;
const alignment = 32;

/** bytes and values of a block, by ggml's id */
const blocks: Record<number, [bytes: number, values: number]> = { 0: [4, 1], 1: [2, 1], 2: [18, 32], 8: [34, 32] };

/** whole numbers become uint32, others float32; the parts of a split file count in types of their own */
export type Value = string | number | number[] | { uint16: number } | { int32: number };

export interface TensorSpec {
  name: string;
  /** innermost dimension first */
  shape: number[];
  /** ggml's id; f32 when it is not named. Of others than f32, f16, q4_0 and q8_0 the size is not known here */
  type?: number;
}

/** `dataBytes`: of the weights, which are zeros; left out: as many as the tensors need, as a hole that takes no disk. */
export function writeGguf(
  file: string,
  metadata: Record<string, Value>,
  tensors: TensorSpec[],
  dataBytes?: number,
): void {
  const parts = [Buffer.from('GGUF'), uint32(3), uint64(tensors.length), uint64(Object.keys(metadata).length)];
  for (const [key, value] of Object.entries(metadata)) parts.push(text(key), typed(value));
  let offset = 0;
  for (const { name, shape, type = typeF32 } of tensors) {
    parts.push(text(name), uint32(shape.length), ...shape.map(uint64), uint32(type), uint64(offset));
    const [bytes, values] = blocks[type] ?? [4, 1];
    offset +=
      Math.ceil(((shape.reduce((product, size) => product * size, 1) / values) * bytes) / alignment) * alignment;
  }
  const header = Buffer.concat(parts);
  const padding = Buffer.alloc((alignment - (header.length % alignment)) % alignment);
  fs.writeFileSync(file, Buffer.concat([header, padding]));
  fs.truncateSync(file, header.length + padding.length + (dataBytes ?? offset));
}

function typed(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([uint32(typeString), text(value)]);
  if (typeof value === 'number') return Buffer.concat([uint32(numberType(value)), number(value)]);
  if ('uint16' in value) return Buffer.concat([uint32(typeUint16), uint32(value.uint16).subarray(0, 2)]);
  if ('int32' in value) return Buffer.concat([uint32(typeInt32), uint32(value.int32)]);
  const items = value.map(number);
  return Buffer.concat([uint32(typeArray), uint32(numberType(value[0] ?? 0)), uint64(items.length), ...items]);
}

function numberType(value: number): number {
  return Number.isInteger(value) ? typeUint32 : typeFloat32;
}

function number(value: number): Buffer {
  if (Number.isInteger(value)) return uint32(value);
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
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
