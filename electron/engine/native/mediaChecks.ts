/**
 * Images and sound in the body of a request, before llama-server's handlers see them. These would fetch what an address names, and
 * decode whatever one of their libraries knows, to any size: here the bytes must be in the request, of a known format, and what they
 * decode to is bounded by what their header says.
 */

import { readFile } from 'node:fs/promises';
import { msg } from '@lingui/core/runtime-macro';
import { ConcertinaError } from '../../contract/errors';
import { limits } from '../../contract/limits';

/** of one image; three bytes each when it is decoded */
const mostPixels = 40_000_000;
/** samples a second: what is below is multiplied when it is decoded */
const leastRate = 4000;
/** of MP3, at 8 kbit/s */
const leastFrameBytes = 24;

/** Throws `bad-request` with what is wrong. `body`: of any handler. */
export function requireSafeMedia(body: unknown): void {
  if (Array.isArray(body)) {
    for (const one of body) requireSafeMedia(one);
  } else if (typeof body === 'object' && body !== null) {
    for (const [name, value] of Object.entries(body)) {
      for (const media of mediaIn(name, value)) requireSafeOne(media);
      requireSafeMedia(value);
    }
  }
}

/** What the handlers take for an address or for bytes: of chat completions, Responses, Messages and completions. */
function mediaIn(name: string, value: unknown): string[] {
  if (name === 'multimodal_data') return [value].flat().filter((one) => typeof one === 'string');
  if (!['image_url', 'video_url', 'input_audio', 'input_video', 'source'].includes(name)) return [];
  if (typeof value === 'string') return [value];
  const { url, data } = (value ?? {}) as { url?: unknown; data?: unknown };
  return [url, data].filter((one) => typeof one === 'string');
}

function requireSafeOne(media: string): void {
  // the handlers take any text that begins with http for an address
  if (/^\s*(http|(?!data:)[a-z][a-z0-9+.-]*:)/i.test(media))
    throw refused('is an address, and nothing is fetched for a request', 'Send its bytes as a data: URI.');
  requireDecodable(Buffer.from(media.replace(/^data:[^,]*,/, ''), 'base64'));
}

/** The bytes of an image or sound of a chat. Throws `not-found`, and `bad-request` for what may not be decoded here. */
export async function decodableFile(path: string): Promise<Buffer> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    const message = 'An image or sound of this chat is not stored any more.';
    throw new ConcertinaError('not-found', message, msg`Attach it again.`, { cause });
  });
  requireDecodable(bytes);
  return bytes;
}

export function requireDecodable(bytes: Buffer): void {
  // of sound: MP3 at its lowest rate decodes to a GiB
  const most = limits.maxMediaBytes;
  if (bytes.length > most) throw refused(`has ${bytes.length} bytes; ${most} are the most`, 'Send a smaller one.');
  if (isSound(bytes)) {
    if (!hasUsualLength(bytes)) throw refused('has a damaged header', 'Send it as usual WAV or MP3.');
    return;
  }
  const size = imageSize(bytes);
  if (!size) throw refused('is of no known format', 'Send PNG, JPEG, GIF or BMP, or sound as WAV or MP3.');
  if (size.width * size.height > mostPixels) {
    const asked = `${size.width} x ${size.height} pixels`;
    throw refused(`has ${asked}; ${mostPixels / 1e6} million pixels are the most`, 'Send it smaller.');
  }
}

function refused(what: string, hint: string): ConcertinaError {
  return new ConcertinaError('bad-request', `An image or sound ${what}.`, hint);
}

const text = (bytes: Buffer, from: number, to: number) => bytes.toString('latin1', from, to);

function isWav(bytes: Buffer): boolean {
  return text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 12) === 'WAVE';
}

/** As libmtmd tells it. What is shorter, or another kind of sound, is no image either. */
function isSound(bytes: Buffer): boolean {
  const frame = bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0;
  return bytes.length >= 12 && (isWav(bytes) || text(bytes, 0, 3) === 'ID3' || frame);
}

/** Memory for all that a header names is taken before the sound is decoded. */
function hasUsualLength(bytes: Buffer): boolean {
  if (isWav(bytes)) return bytes.length >= 36 && text(bytes, 12, 16) === 'fmt ' && bytes.readUInt32LE(24) >= leastRate;
  const counts = ['Xing', 'Info'].flatMap((name) => [...placesOf(bytes, name)]);
  return counts.every((at) => at + 12 > bytes.length || bytes.readUInt32BE(at + 8) <= bytes.length / leastFrameBytes);
}

function* placesOf(bytes: Buffer, name: string): Generator<number> {
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) yield at;
}

interface Size {
  width: number;
  height: number;
}

/**
 * As the header says; null: it is none of the formats, or it is cut short. The tests are those of stb_image, which tries formats
 * without any mark on what fails them.
 */
function imageSize(bytes: Buffer): Size | null {
  try {
    const png = text(bytes, 0, 8) === '\x89PNG\r\n\x1a\n' && text(bytes, 12, 16) === 'IHDR';
    if (png) return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    if (/^GIF8[79]a$/.test(text(bytes, 0, 6))) return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    if (text(bytes, 0, 2) === 'BM' && [40, 56, 108, 124].includes(bytes.readUInt32LE(14)))
      return { width: Math.abs(bytes.readInt32LE(18)), height: Math.abs(bytes.readInt32LE(22)) };
    if (bytes.readUInt16BE(0) === 0xffd8) return jpegSize(bytes);
  } catch {
    // it ends within its header
  }
  return null;
}

/** Of its first frame, which is the one that is decoded. Throws RangeError at the end of the bytes. */
function jpegSize(bytes: Buffer): Size {
  for (let at = 2; ; ) {
    while (bytes.readUInt8(at) !== 0xff) at++;
    while (bytes.readUInt8(at) === 0xff) at++;
    const mark = bytes.readUInt8(at++);
    const isFrame = mark >= 0xc0 && mark <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(mark);
    if (isFrame) return { height: bytes.readUInt16BE(at + 3), width: bytes.readUInt16BE(at + 5) };
    const bare = mark === 0 || mark === 1 || (mark >= 0xd0 && mark <= 0xd9);
    if (!bare) at += bytes.readUInt16BE(at);
  }
}
