/**
 * Sessions on disk: which there are, their tokens, adding and removing. Whole or not at all: the `.json` is renamed last.
 * One of a document holds the beginning of every chat that begins with it; the session of such a chat holds what follows.
 */

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SavedSession } from '../../contract/engine';
import { messageOf } from '../../contract/errors';
import { differenceOf, parseLabel } from '../native/sessionFile';
import type { Context, Stretch } from '../native/types';

const ours = /\.(kv|tokens|json|part|tmp|restoring)$/;
/** Lies beside a session while the engine reads it: what is still there at the start has ended the process. */
const restoringMark = '.restoring';
const kinds = ['json', 'tokens', 'kv'] as const;
type Kind = (typeof kinds)[number];

/** What the maker of a session knows; the rest comes of the files. */
type NewSession = Pick<SessionMeta, 'chatIds' | 'modelName' | 'readingRate' | 'documents' | 'base'>;

export class SessionStore {
  private readonly sessions = new Map<string, SessionMeta>();
  private readonly tokens = new Map<string, Int32Array>();

  private constructor(
    private readonly folder: string,
    private readonly notice: (text: string) => void,
    private readonly now: () => number,
  ) {}

  /** Reads what is there; sweeps what an interrupted save left and what cannot be used any more. */
  static async open(folder: string, notice: (text: string) => void, now = Date.now): Promise<SessionStore> {
    const store = new SessionStore(folder, notice, now);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder)) {
      if (name.endsWith(restoringMark)) await store.setAside(name.slice(0, -restoringMark.length));
    }
    const names = await readdir(folder);
    for (const name of names) if (name.endsWith('.json')) await store.readIn(name.slice(0, -'.json'.length));
    for (const meta of store.list()) if (meta.base && !store.baseOf(meta)) await store.remove(meta);
    for (const name of names) {
      const known = store.sessions.has(name.replace(/\..*$/, '')) && /^[^.]+\.(kv|tokens|json)$/.test(name);
      if (ours.test(name) && !known) await removeFile(join(folder, name));
    }
    return store;
  }

  /** used last comes first */
  list(): SessionMeta[] {
    return [...this.sessions.values()].sort((a, b) => b.lastUsed - a.lastUsed);
  }

  /** null: they could not be read, and the session is gone */
  async tokensOf(meta: SessionMeta): Promise<Int32Array | null> {
    const known = this.tokens.get(meta.id);
    if (known) return known;
    try {
      const tokens = decodeTokens(await readFile(this.path(meta.id, 'tokens')), meta);
      this.tokens.set(meta.id, tokens);
      return tokens;
    } catch (error) {
      await this.refuse(meta, error);
      return null;
    }
  }

  /** That it goes on from. */
  private baseOf({ base }: SessionMeta): SessionMeta | undefined {
    return base === undefined ? undefined : this.sessions.get(base);
  }

  /** What is read to restore it: itself, and what it goes on from. */
  chainOf(meta: SessionMeta): SessionMeta[] {
    const base = this.baseOf(meta);
    return [...(base ? this.chainOf(base) : []), meta];
  }

  /** Reads a session into the context, behind the one that it goes on from; tried once only when it ends the process. */
  async restore(meta: SessionMeta, context: Context, signal: AbortSignal): Promise<void> {
    const base = this.baseOf(meta);
    try {
      if (base) await this.restore(base, context, signal);
    } catch (error) {
      if (base && !signal.aborted) await this.remove(base);
      throw error;
    }
    const mark = join(this.folder, meta.id + restoringMark);
    await writeFile(mark, '');
    try {
      await context.loadSession(this.path(meta.id, 'kv'), signal, base?.tokens ?? 0);
    } catch (error) {
      // of whom the context is would be wrong of the beginning alone
      if (base && signal.aborted) context.clear();
      throw error;
    } finally {
      await removeFile(mark);
    }
  }

  /** Writes what the context holds behind its base. `tokens`: of the context, as it is now, or its first ones. Code `cancelled`. */
  async add(context: Context, tokens: Int32Array, made: NewSession, signal?: AbortSignal): Promise<SessionMeta> {
    const id = randomUUID();
    const from = this.sessions.get(made.base ?? '')?.tokens ?? 0;
    const stretch: Stretch | undefined =
      from > 0 || tokens.length < context.contextUsed ? { from, to: tokens.length } : undefined;
    try {
      const bytes = await context.saveSession(this.path(id, 'kv'), signal, stretch);
      const encoded = encodeTokens(tokens);
      await writeSynced(this.path(id, 'tokens'), encoded);
      const at = this.now();
      const meta: SessionMeta = {
        ...{ version: 1, id, ...made, label: context.sessionLabel, bytes },
        ...(context.rewinds ? {} : { checkpoints: [...context.checkpoints()] }),
        ...{ tokens: tokens.length, tokensHash: hashOf(encoded), createdAt: at, lastUsed: at },
      };
      await this.writeMeta(meta);
      this.tokens.set(id, tokens);
      return meta;
    } catch (error) {
      await this.removeFiles(id);
      throw error;
    }
  }

  /** It was used now, for this chat. That this cannot be written down matters only for the order of removal. */
  async touch({ id }: SessionMeta, chatId: string): Promise<void> {
    const meta = this.sessions.get(id);
    if (!meta) return;
    const base = this.baseOf(meta);
    if (base) await this.touch(base, chatId);
    const chatIds = [...new Set([...meta.chatIds, chatId])];
    const used = { ...meta, chatIds, lastUsed: this.now() };
    this.sessions.set(id, used);
    await this.writeMeta(used).catch(() => undefined);
  }

  /** These chats need no sessions any more; a session that other chats use stays. */
  async forgetChats(gone: (chatId: string) => boolean): Promise<void> {
    // of which chat the one is that was set aside is not known any more
    await rm(this.asideFolder, { recursive: true, force: true });
    for (const meta of this.list()) {
      const chatIds = meta.chatIds.filter((chatId) => !gone(chatId));
      if (chatIds.length === 0) await this.remove(meta);
      else if (chatIds.length < meta.chatIds.length) await this.writeMeta({ ...meta, chatIds });
    }
  }

  async remove(meta: SessionMeta): Promise<void> {
    this.sessions.delete(meta.id);
    this.tokens.delete(meta.id);
    await this.removeFiles(meta.id);
    for (const other of this.list()) if (other.base === meta.id) await this.remove(other);
  }

  /** A session that cannot be used: removed, and said so. */
  async refuse(meta: SessionMeta, error: unknown): Promise<void> {
    await this.remove(meta);
    this.notice(damagedNotice(error));
  }

  private get asideFolder(): string {
    return join(this.folder, 'aside');
  }

  /** Out of the way, for a bug report: the last one only, they are large. */
  private async setAside(id: string): Promise<void> {
    await rm(this.asideFolder, { recursive: true, force: true });
    await mkdir(this.asideFolder, { mode: 0o700 });
    for (const kind of kinds)
      await rename(this.path(id, kind), join(this.asideFolder, `${id}.${kind}`)).catch(() => undefined);
    await removeFile(join(this.folder, id + restoringMark));
    this.notice(
      `The engine ended while it restored a saved session, which is not tried again. It was set aside in ${this.asideFolder}. ` +
        'Nothing of its chat is lost: the text is read again.',
    );
  }

  private async readIn(id: string): Promise<void> {
    try {
      const meta = decodeMeta(await readFile(this.path(id, 'json'), 'utf8'));
      if (meta.id !== id) throw new Error('it is another one');
      const { size } = await stat(this.path(id, 'kv'));
      if (size !== meta.bytes) throw new Error('its length is wrong');
      await stat(this.path(id, 'tokens'));
      this.sessions.set(id, meta);
    } catch (error) {
      this.notice(damagedNotice(error));
    }
  }

  private async writeMeta(meta: SessionMeta): Promise<void> {
    const file = this.path(meta.id, 'json');
    const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
    try {
      await writeSynced(temporary, encodeMeta(meta));
      await rename(temporary, file);
      this.sessions.set(meta.id, meta);
    } catch (error) {
      await removeFile(temporary);
      throw error;
    }
  }

  /** the `.json` first: without it the others are swept */
  private async removeFiles(id: string): Promise<void> {
    for (const kind of kinds) await removeFile(this.path(id, kind));
  }

  private path(id: string, kind: Kind): string {
    return join(this.folder, `${id}.${kind}`);
  }
}

function damagedNotice(error: unknown): string {
  const reason = messageOf(error);
  return `A saved session was damaged and was removed (${reason}). Nothing of its chat is lost: the text is read again.`;
}

async function writeSynced(path: string, data: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file that cannot be removed now is swept at the next start. */
async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

// The files of one session: `<id>.kv` (see ../native/sessionFile.ts), `<id>.tokens` (what is in it, so that a
// look-up need not read the cache) and `<id>.json` (what it is; written last, without it there is no session).

const magic = Buffer.from('CNCTTK01');

const sessionMetaSchema = z.object({
  version: z.literal(1),
  id: z.uuid(),
  chatIds: z.array(z.string()),
  modelName: z.string(),
  /** `Context.sessionLabel`: model, types, centering, RoPE, attention and engine build */
  label: z.string(),
  tokens: z.number().int().positive(),
  tokensHash: z.string(),
  /** of the `.kv` file */
  bytes: z.number().int().positive(),
  createdAt: z.number(),
  lastUsed: z.number(),
  /** tokens per second at which its text was read; 0: not measured */
  readingRate: z.number().nonnegative(),
  /** of a cache that does not rewind: lengths to which it can go back */
  checkpoints: z.array(z.number().int().nonnegative()).optional(),
  /** it ends behind these documents, which stand at the beginning of all its chats */
  documents: z
    .array(z.object({ id: z.string(), name: z.string() }))
    .min(1)
    .optional(),
  /** the id of the session whose tokens it begins with: the `.kv` holds only what follows them */
  base: z.uuid().optional(),
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

// Room for a session: within what the person allows, and never the last of the disk.

const reserveBytes = 2 * 1024 ** 3;
const reserveShare = 0.05;

/** Bytes of the disk that sessions may take, less what must stay free: 2 GiB or 5 %, whichever is more. */
export type DiskRoom = (folder: string) => Promise<number>;

export const diskRoom: DiskRoom = async (folder) => {
  const { bavail, bsize, blocks } = await statfs(folder);
  return bavail * bsize - Math.max(reserveBytes, blocks * bsize * reserveShare);
};

/**
 * Sessions to remove, those that were used longest ago first, so that `needed` bytes find room. null: there is none, even
 * with all of them gone. `room`: of the disk, as it is now.
 */
export function evictionsFor(
  sessions: readonly SessionMeta[],
  needed: number,
  maxBytes: number,
  room: number,
): SessionMeta[] | null {
  let total = sessions.reduce((sum, { bytes }) => sum + bytes, 0);
  let free = room;
  const enough = () => total + needed <= maxBytes && (needed === 0 || free >= needed);
  const removed: SessionMeta[] = [];
  // what others go on from is used with each of them, and goes behind them
  const usedOf = ({ id, lastUsed }: SessionMeta): number =>
    Math.max(lastUsed, ...sessions.filter(({ base }) => base === id).map(usedOf));
  const order = (a: SessionMeta, b: SessionMeta) =>
    usedOf(a) - usedOf(b) || Number(a.id === b.base) - Number(b.id === a.base);
  for (const session of [...sessions].sort(order)) {
    if (enough()) return removed;
    removed.push(session);
    total -= session.bytes;
    free += session.bytes;
  }
  return enough() ? removed : null;
}

// What a session is to a person, and why it cannot be used.

export function describe(meta: SessionMeta, context: Context | null): SavedSession {
  const { id, chatIds, documents = [], modelName, tokens, bytes, createdAt, lastUsed, label } = meta;
  const names = parseLabel(label);
  const types = { typeK: names.get('K') ?? '?', typeV: names.get('V') ?? '?' };
  const problem = context ? differenceIn(meta, context) : 'No model is loaded.';
  return { id, chatIds, documents, modelName, tokens, bytes, ...types, createdAt, lastUsed, problem };
}

/** null: it can be restored into this context */
export function differenceIn({ label, tokens }: SessionMeta, context: Context): string | null {
  const { nCtx } = context.effective;
  const difference = differenceOf(label, context.sessionLabel);
  if (difference || tokens <= nCtx) return difference;
  return `It has ${tokens} tokens; the context holds ${nCtx}.`;
}
