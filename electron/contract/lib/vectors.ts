/**
 * The file with the vectors of a document's passages, by one embedding model: made once, read for each question.
 *
 *   "CVEC", version, bytes of the label, checksum of all that follows (uint32, little-endian as all numbers)
 *   label: what they are of, as JSON, filled up with blanks to a whole number of 4 bytes
 *   count of passages, numbers of a vector (uint32)
 *   start of each passage, end of each (uint32, UTF-16 units of the text)
 *   vectors, one behind the other (float32, of length 1)
 */

const magic = 0x43455643; // "CVEC"
const version = 1;
const headWords = 4;

export interface PassageVectors {
  starts: Uint32Array;
  ends: Uint32Array;
  /** of each passage */
  width: number;
  /** `width` for each passage */
  vectors: Float32Array;
}

/** What vectors are of. Those of another label are not used. */
export interface VectorLabel {
  /** SHA-256 of what the document's text was taken out of: its id */
  documentId: string;
  /** of the model */
  fingerprint: string;
  /** what stood before each passage */
  prefix: string;
  /** of the passages' ends: raise it when texts are cut at other places */
  cut: 1;
}

export function encodeVectors(label: VectorLabel, { starts, ends, width, vectors }: PassageVectors): Uint8Array {
  const text = labelBytesOf(label);
  const labelWords = text.length / 4;
  const words = headWords + labelWords + 2 + starts.length + ends.length + vectors.length;
  const all = new Uint32Array(words);
  const bytes = new Uint8Array(all.buffer);
  bytes.set(text, 4 * headWords);
  let at = headWords + labelWords;
  all.set([starts.length, width], at);
  at += 2;
  all.set(starts, at);
  all.set(ends, at + starts.length);
  new Float32Array(all.buffer).set(vectors, at + starts.length + ends.length);
  all.set([magic, version, text.length, checksum(all)]);
  return bytes;
}

/** null: damaged, cut off, of another version or label. */
export function decodeVectors(file: Uint8Array, label: VectorLabel): PassageVectors | null {
  if (file.length % 4 !== 0 || file.length < 4 * headWords) return null;
  // a view of whole words may begin anywhere in its buffer
  const all = new Uint32Array(file.slice().buffer);
  const [first, its, labelBytes = 0, sum] = all;
  if (first !== magic || its !== version || sum !== checksum(all)) return null;
  const text = labelBytesOf(label);
  if (labelBytes !== text.length || text.some((byte, at) => file[4 * headWords + at] !== byte)) return null;
  let at = headWords + labelBytes / 4;
  const [count = 0, width = 0] = all.subarray(at, at + 2);
  at += 2;
  if (all.length !== at + 2 * count + count * width) return null;
  return {
    starts: all.subarray(at, at + count),
    ends: all.subarray(at + count, at + 2 * count),
    width,
    vectors: new Float32Array(all.buffer, 4 * (at + 2 * count), count * width),
  };
}

function labelBytesOf({ documentId, fingerprint, prefix, cut }: VectorLabel): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify({ documentId, fingerprint, prefix, cut }));
  const bytes = new Uint8Array(4 * Math.ceil(text.length / 4)).fill(0x20);
  bytes.set(text);
  return bytes;
}

/** FNV-1a over the words behind the head: against damage, not against people. */
function checksum(all: Uint32Array): number {
  let sum = 0x811c9dc5;
  for (let at = headWords; at < all.length; at++) sum = Math.imul(sum ^ (all[at] ?? 0), 0x01000193);
  return sum >>> 0;
}
