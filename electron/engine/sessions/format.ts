/**
 * The files of one session: `<id>.kv` (the engine's own, see native/addon/Session.cpp), `<id>.tokens` (what is in it, so that a
 * look-up need not read the cache) and `<id>.json` (what it is; written last, without it there is no session).
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';

const magic = Buffer.from('CNCTTK01');

export const sessionMetaSchema = z.object({
  version: z.literal(1),
  id: z.uuid(),
  chatIds: z.array(z.string()),
  modelName: z.string(),
  /** `Context.sessionLabel`: model, types, centring, RoPE, attention and engine build */
  label: z.string(),
  tokens: z.number().int().positive(),
  tokensHash: z.string(),
  /** of the `.kv` file */
  bytes: z.number().int().positive(),
  createdAt: z.number(),
  lastUsed: z.number(),
  /** tokens per second at which its text was read; 0: not measured */
  readingRate: z.number().nonnegative(),
});
export type SessionMeta = z.infer<typeof sessionMetaSchema>;

export function encodeMeta(session: SessionMeta): string {
  const meta = sessionMetaSchema.parse(session); // in the order in which it is read
  return `${JSON.stringify({ check: hashOf(JSON.stringify(meta)), meta }, null, 2)}\n`;
}

/** throws when it is not what was written */
export function decodeMeta(text: string): SessionMeta {
  const { check, meta } = z.object({ check: z.string(), meta: sessionMetaSchema }).parse(JSON.parse(text));
  if (hashOf(JSON.stringify(meta)) !== check) throw new Error('its checksum is wrong');
  return meta;
}

/** Integers as the machine stores them, like the cache beside them. */
export function encodeTokens(tokens: Int32Array): Buffer {
  return Buffer.concat([magic, new Uint8Array(tokens.buffer, tokens.byteOffset, tokens.byteLength)]);
}

/** throws when they are not those of `meta` */
export function decodeTokens(bytes: Buffer, meta: SessionMeta): Int32Array {
  if (bytes.length !== magic.length + meta.tokens * 4 || !bytes.subarray(0, magic.length).equals(magic))
    throw new Error('its list of tokens is cut short or is something else');
  if (hashOf(bytes) !== meta.tokensHash) throw new Error('the checksum of its list of tokens is wrong');
  return new Int32Array(new Uint8Array(bytes.subarray(magic.length)).buffer);
}

export function hashOf(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 32);
}
