/** What a request may bring as an image or sound, and in which fields. */
import { describe, expect, it } from 'vitest';
import { requireSafeMedia } from '@/electron/engine/native/mediaChecks';

const bytesOf = (head: string | number[], length: number, at: [offset: number, value: number, size: number][] = []) => {
  const bytes = Buffer.alloc(length);
  bytes.set(typeof head === 'string' ? Buffer.from(head, 'latin1') : head);
  for (const [offset, value, size] of at) bytes.writeUIntLE(value, offset, size);
  return bytes;
};
const base64 = (bytes: Buffer) => bytes.toString('base64');

const png = (width: number, height: number, first = 'IHDR') => {
  const bytes = bytesOf(`\x89PNG\r\n\x1a\n\0\0\0\r${first}`, 33);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
};
/** its size stands behind other parts */
const jpeg = (width: number, height: number) => {
  const frame = Buffer.from([0xff, 0xff, 0xc2, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255]);
  return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 6, 0xff, 0xc0, 0, 0]), frame, Buffer.alloc(8)]);
};
const wav = (rate: number) => bytesOf('RIFF----WAVEfmt ', 60, [[24, rate, 4]]);
const mp3 = (frames: number, length = 2400) => {
  const bytes = bytesOf('ID3', length);
  bytes.set(Buffer.from('Xing'), 100);
  bytes.writeUInt32BE(frames, 108);
  return bytes;
};

const image = (bytes: Buffer) => ({ image_url: { url: `data:image/png;base64,${base64(bytes)}` } });

describe('what a request brings', () => {
  it.each<[string, Buffer]>([
    ['PNG', png(8000, 5000)],
    ['JPEG', jpeg(8000, 5000)],
    ['GIF', bytesOf('GIF89a', 20, [[6, 100, 2]])],
    [
      'BMP that is stored from the top',
      bytesOf('BM', 60, [
        [14, 40, 4],
        [18, 100, 4],
        [22, 2 ** 32 - 100, 4],
      ]),
    ],
    ['WAV', wav(16_000)],
    ['MP3', mp3(100)],
    ['MP3 without a count', bytesOf([0xff, 0xfb], 400)],
  ])('may be %s', (_, bytes) => requireSafeMedia({ messages: [{ content: [image(bytes)] }] }));

  it.each<[string, Buffer, RegExp]>([
    ['too many pixels', png(8001, 5000), /8001 x 5000 pixels; 40 million/],
    ['too many pixels behind other parts', jpeg(60_000, 60_000), /60000 x 60000/],
    [
      'too many pixels from the top',
      bytesOf('BM', 60, [
        [14, 40, 4],
        [18, 2 ** 24, 4],
        [22, 2 ** 32 - 2 ** 24, 4],
      ]),
      /pixels/,
    ],
    ['a header behind another part', png(10, 10, 'CgBI'), /no known format/],
    ['no mark at all (TGA)', bytesOf([0, 0, 2], 60), /no known format/],
    ['a mark and nothing more', Buffer.from([0xff, 0xd8, 0xff]), /no known format/],
    ['a picture of another program', bytesOf('8BPS', 60), /no known format/],
    ['sound that is packed hard', bytesOf('fLaC', 60), /no known format/],
    ['sound of one sample a second', wav(1), /damaged header/],
    ['sound that claims a day', mp3(3_000_000), /damaged header/],
    ['a long sound', bytesOf('ID3', 16 * 1024 * 1024 + 1), /bytes; 16777216 are the most/],
  ])('is refused: %s', (_, bytes, said) => expect(() => requireSafeMedia(image(bytes))).toThrow(said));

  const address = /is an address, and nothing is fetched/;
  it.each<[string, unknown]>([
    ['chat completions', { messages: [{ content: [{ image_url: { url: 'http://host/a.png' } }] }] }],
    ['Responses', { input: [{ content: [{ type: 'input_image', image_url: 'https://host/a.png' }] }] }],
    [
      'Messages, in what a tool returned',
      { messages: [{ content: [{ content: [{ source: { url: 'HTTPS://host' } }] }] }] },
    ],
    ['sound', { input_audio: { data: 'file:///etc/passwd' } }],
    ['completions', { prompt: { prompt_string: 'x', multimodal_data: ['ftp://host/a.png'] } }],
    ['bytes that begin as an address', { image_url: { url: 'httpAAAA' } }],
    ['a space before it', { video_url: { url: ' file://x' } }],
  ])('may not be an address: %s', (_, body) => expect(() => requireSafeMedia(body)).toThrow(address));

  it('is looked at as its reader will: all of a text without a comma, and no more than one of data', () => {
    const small = base64(png(1, 1));
    expect(() => requireSafeMedia({ image_url: `${base64(bytesOf('BM', 54, [[14, 40, 4]]))},${small}` })).not.toThrow();
    expect(() => requireSafeMedia({ image_url: `x,${small}` })).toThrow(/no known format/);
    expect(() => requireSafeMedia({ image_url: ` data:image/png;base64,${small}` })).toThrow(/no known format/);
  });

  it('may be text about addresses', () =>
    requireSafeMedia({
      messages: [{ content: 'http://host' }],
      prompt: 'file:///x',
      data: 'http://host',
      source: null,
    }));
});
