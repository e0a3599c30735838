/** Measurements of a model as bytes (native/turbo/llama/calibration-store.cpp), for what no text brings forth. */
import type { ModelInfo } from '@/electron/contract/models';

const headerSize = 24;
const version = 4;

/** With the hash that is right for what is behind the header. */
function sealed(bytes: Buffer): Buffer {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes.subarray(headerSize)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  bytes.writeBigUInt64LE(hash, 16);
  return bytes;
}

/** The same measurements, but the first mean is not a number. */
export function withNaN(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes);
  // behind two numbers of the text and five of the first layer
  changed.writeFloatLE(Number.NaN, headerSize + 7 * 4);
  return sealed(changed);
}

/** Of a model whose keys and values are all 0, with blocks of single positions. */
export function zeroCalibration(info: Pick<ModelInfo, 'layers' | 'headCountKv' | 'headDimK' | 'headDimV'>): Buffer {
  const { layers, headCountKv: headsKv, headDimK, headDimV } = info;
  const size = 4 * (5 + headsKv * (5 * headDimK + 2 * headDimV));
  const bytes = Buffer.alloc(headerSize + 8 + layers * size);
  bytes.write('TURBOCAL');
  bytes.writeUInt32LE(version, 8);
  bytes.writeUInt32LE(layers, 12);
  bytes.writeUInt32LE(1, headerSize + 4);
  for (let layer = 0; layer < layers; layer++) {
    const shape = [layer, headsKv, headDimK, headDimV, 0];
    for (const [i, value] of shape.entries()) bytes.writeUInt32LE(value, headerSize + 8 + layer * size + 4 * i);
  }
  return sealed(bytes);
}
