/**
 * Keeps what the context has read: before an answer it restores the session that spares most and saves what would be lost,
 * and it saves when nothing else is to do. Documents that a chat begins with have a session of their own, which every chat
 * that begins with them goes on from. Nothing here makes an answer or a load fail: what cannot be kept is read again.
 */

import type { SavedSession } from '../../contract/engine';
import {
  type GenerateRequest,
  type PromptOptions,
  promptOptionsIn,
  type SessionOptions,
} from '../../contract/engineContract';
import { messageOf } from '../../contract/errors';
import { SerialQueue } from '../../contract/lib/serialQueue';
import { commonPrefix, expectedBytes } from '../contextReuse';
import type { Loaded } from '../modelHolder';
import type { Context } from '../native/types';
import { beginnings, continues, Rates, sparedBy } from './rates';
import { type DiskRoom, describe, differenceIn, diskRoom, evictionsFor, type SessionMeta, SessionStore } from './store';

/** A session that lacks less than this share of what the context holds is as good as new, and is not written again. */
const slack = 0.05;
/** Less than this share of `minTokens` is read again rather than restored. */
const leastShare = 0.5;

export interface KeeperOptions {
  /** a sentence for the person */
  notice: (text: string) => void;
  /** a line for the log */
  log?: (text: string) => void;
  diskRoom?: DiskRoom;
  now?: () => number;
  rates?: Rates;
}

export interface KeepOptions {
  onStep?: OnStep;
  /** only if it will not take longer */
  withinMs?: number;
  signal?: AbortSignal;
}

/** what is going on before the prompt is read */
export type OnStep = (step: 'saving' | 'restoring') => void;

interface Found {
  meta: SessionMeta;
  spared: number;
}

interface SaveOptions {
  /** must not make room */
  neededNext?: SessionMeta | undefined;
  signal?: AbortSignal | undefined;
}

interface Made {
  /** that it goes on from */
  base: SessionMeta | undefined;
  documents?: NonNullable<SessionMeta['documents']>;
  /** tokens that are on disk already */
  stored: number;
}

/** Saves these tokens, of the context or of its beginning; null: it is not worth it, or there is no room. */
type Write = (tokens: Int32Array, made: Made, replaced: SessionMeta[]) => Promise<SessionMeta | null>;

export class SessionKeeper {
  private store: SessionStore | null = null;
  private options: SessionOptions | null = null;
  /** what the context was read for last; null: for nobody who wants it kept */
  private held: GenerateRequest | null = null;
  /** ids of chats before it that read its first document, which is still there */
  private readers = new Set<string>();
  private context: Context | null = null;
  private readonly rates: Rates;
  private readonly noticed = new Set<string>();
  private readonly queue = new SerialQueue();

  constructor(private readonly parts: KeeperOptions) {
    this.rates = parts.rates ?? new Rates();
  }

  /** Opens the folder at the first call; later ones change what is allowed. */
  configure(options: SessionOptions): Promise<void> {
    return this.queue.run(async () => {
      const notice = (text: string) => this.noticeOnce(text);
      try {
        this.store ??= await SessionStore.open(options.folder, notice, this.parts.now);
        this.options = options;
        await this.makeRoom(this.store, 0);
      } catch (error) {
        this.noticeOnce(`Sessions cannot be kept in ${options.folder}: ${messageOf(error)}`);
      }
    });
  }

  /** Before an answer: true when a session was restored into the context. */
  async prepare(loaded: Loaded, request: GenerateRequest, signal: AbortSignal, onStep: OnStep): Promise<boolean> {
    const restored = await this.quietly(false, (store, options) =>
      this.exchange(store, options, loaded, request, signal, onStep),
    );
    // an answer that was stopped by now leaves the cache to whom it belongs
    if (!restored && signal.aborted) return false;
    if (restored || !this.held || firstDocument(this.held) !== firstDocument(request)) this.readers = new Set();
    else this.readers.add(this.held.chatId);
    this.held = request.passing ? null : request;
    return restored;
  }

  private async exchange(
    store: SessionStore,
    { minTokens }: SessionOptions,
    { model, context }: Loaded,
    request: GenerateRequest,
    signal: AbortSignal,
    onStep: OnStep,
  ): Promise<boolean> {
    if (this.context !== context) this.rates.forgetReading();
    this.context = context;
    const { continueFrom, ...options } = promptOptionsIn(request);
    const prompt = await context.chatTokens(request.messages, { ...options, continueFrom });
    // a prompt that does not fit is refused, and changes nothing
    if (prompt.length > context.effective.nCtx) return false;
    const held = context.tokens();
    // an answer that goes on has all of its own tokens here still, which its text need not give again
    if (continueFrom && continues(held, await context.chatTokens(request.messages, options))) return false;
    const kept = sparedBy(held, prompt, context.rewinds, context.checkpoints());
    let found = await this.best(store, context, prompt, kept);
    if (!found) this.logUnused(store, context, request, kept);
    const lost = held.length - (found ? 0 : kept);
    if (held.length >= minTokens && lost >= Math.min(minTokens, held.length / 2)) {
      await this.save(store, { model, context }, onStep, { neededNext: found?.meta, signal });
    }
    while (found && !signal.aborted) {
      onStep('restoring');
      if (await this.restore(store, context, found.meta, request.chatId, signal)) return true;
      found = await this.best(store, context, prompt, kept);
    }
    return false;
  }

  /** Figures of an answer: how fast its prompt was read. `tokens`: those that were evaluated. */
  learn(tokens: number, perSecond: number): void {
    this.rates.read(tokens, perSecond);
  }

  /** Writes down what the context holds when it is worth it. `withinMs`: only if it will not take longer. */
  keep(loaded: Loaded, { onStep = () => {}, withinMs, signal }: KeepOptions = {}): Promise<boolean> {
    return this.quietly(false, async (store, options) => {
      if (loaded.context.contextUsed < options.minTokens) return false;
      if (withinMs !== undefined && this.rates.saveMs(expectedBytes(loaded.context)) > withinMs) return false;
      return this.save(store, loaded, onStep, { signal });
    });
  }

  list(loaded: Loaded | null): Promise<SavedSession[]> {
    return this.queue.run(async () =>
      (this.store?.list() ?? []).map((meta) => describe(meta, loaded?.context ?? null)),
    );
  }

  /** Tokens of a prompt, and how many of them need not be read: the context has them, or the session that would be restored. */
  async spared({ model, context }: Loaded, messages: GenerateRequest['messages'], options: PromptOptions) {
    const prompt = await model.chatTokens(messages, options);
    const kept = sparedBy(context.tokens(), prompt, context.rewinds, context.checkpoints());
    const found = await this.quietly<Found | null>(null, (store) => this.best(store, context, prompt, kept));
    return { tokens: prompt.length, spared: found?.spared ?? kept };
  }

  /** As of `forgetChats`; the chats that it belongs to may have others. */
  removeOne(sessionId: string): Promise<void> {
    return this.queue.run(async () => {
      const meta = this.store?.list().find(({ id }) => id === sessionId);
      if (!meta) return;
      if (this.held && meta.chatIds.includes(this.held.chatId)) this.held = null;
      await this.store?.remove(meta);
    });
  }

  /** What the context holds of such a chat is not saved again before its next answer. */
  forgetChats(gone: (chatId: string) => boolean): Promise<void> {
    return this.queue.run(async () => {
      if (this.held && gone(this.held.chatId)) this.held = null;
      for (const id of this.readers) if (gone(id)) this.readers.delete(id);
      await this.store?.forgetChats(gone);
    });
  }

  /** Sessions of other chats are removed: at start, when chats may have gone for good. */
  retainChats(chatIds: ReadonlySet<string>): Promise<void> {
    return this.queue.run(async () => this.store?.forgetChats((id) => !chatIds.has(id) && id !== this.held?.chatId));
  }

  /** Nothing is saved or restored any more. */
  close(): void {
    this.store = null;
  }

  private async best(store: SessionStore, context: Context, prompt: Int32Array, kept: number): Promise<Found | null> {
    let best: (Found & { gain: number }) | null = null;
    const usable = store.list().filter(({ label, tokens }) => fits(context, label, tokens));
    const rate = usable.find(({ readingRate }) => readingRate > 0)?.readingRate ?? 0;
    for (const meta of usable) {
      const tokens = await store.tokensOf(meta);
      const spared = tokens ? sparedBy(tokens, prompt, context.rewinds, meta.checkpoints) : 0;
      const bytes = bytesOf(store.chainOf(meta));
      const more = spared - kept;
      if (more < (this.options?.minTokens ?? 0) * leastShare || !this.rates.worthRestoring(more, bytes, rate)) continue;
      const gain = this.rates.gain(more, bytes, rate);
      if (gain > (best?.gain ?? 0)) best = { meta, spared, gain };
    }
    return best;
  }

  /** A person who sees a document read again finds out why. */
  private logUnused(store: SessionStore, context: Context, { messages }: GenerateRequest, kept: number): void {
    const documents = messages.flatMap((message) => message.documents ?? []);
    for (const { id, name } of documents) {
      const unused = store.list().find((meta) => meta.documents?.at(-1)?.id === id);
      if (!unused || kept >= unused.tokens * (1 - slack)) continue;
      const why = differenceIn(unused, context) ?? 'Its text stands behind another beginning.';
      (this.parts.log ?? console.warn)(`The kept cache of ${name} is not used, the document is read. ${why}`);
    }
  }

  private async restore(
    store: SessionStore,
    context: Context,
    meta: SessionMeta,
    chatId: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const started = performance.now();
    const chain = store.chainOf(meta);
    try {
      await store.restore(meta, context, signal);
      this.rates.restored(bytesOf(chain), performance.now() - started);
      const tokens = await store.tokensOf(meta);
      const restored = context.tokens();
      if (!tokens || restored.length !== tokens.length || commonPrefix(tokens, restored) !== tokens.length) {
        context.clear();
        throw new Error('its cache is that of another text');
      }
    } catch (error) {
      // it was stopped, and is as good as it was
      if (signal.aborted) return false;
      await store.refuse(meta, error);
      return false;
    }
    await store.touch(meta, chatId);
    return true;
  }

  /** false: it was not worth it, or there is no room */
  private async save(store: SessionStore, loaded: Loaded, onStep: OnStep, options: SaveOptions): Promise<boolean> {
    const { held } = this;
    if (!held) return false;
    const { context } = loaded;
    const tokens = context.tokens();
    const write: Write = async (written, made, replaced) => {
      const base = made.base ? store.chainOf(made.base) : [];
      const from = made.base?.tokens ?? 0;
      const bytes = (expectedBytes(context) * (written.length - from)) / tokens.length;
      if (!this.rates.worthSaving(written.length - made.stored, bytes)) return null;
      const staying = [...base, ...(options.neededNext ? store.chainOf(options.neededNext) : [])];
      if (!(await this.makeRoom(store, bytes, replaced, staying))) return null;
      onStep('saving');
      const started = performance.now();
      const others = made.documents ? [...this.readers] : replaced.flatMap((meta) => meta.chatIds);
      const chatIds = [...new Set([...others, held.chatId])];
      const common = { chatIds, modelName: loaded.model.info.name, readingRate: this.rates.readingRate };
      const own = { ...(made.base && { base: made.base.id }), ...(made.documents && { documents: made.documents }) };
      const meta = await store.add(context, written, { ...common, ...own }, options.signal);
      this.rates.saved(meta.bytes, performance.now() - started);
      if (made.base) await store.touch(made.base, held.chatId);
      for (const old of replaced) await store.remove(old);
      return meta;
    };
    const base = await this.saveDocuments(store, loaded, held, tokens, write);
    const { covering, replaced } = await this.compare(store, context, tokens, base);
    const stored = covering?.spared ?? 0;
    if (covering && tokens.length - stored <= tokens.length * slack) {
      await store.touch(covering.meta, held.chatId);
      return false;
    }
    // cells of images are saved with all that stands before them
    const media = tokens.some((token) => token < -1);
    return (await write(tokens, { base: media ? undefined : base, stored: media ? 0 : stored }, replaced)) !== null;
  }

  /** The session of the documents that the context begins with: those that are not there yet are written. */
  private async saveDocuments(
    store: SessionStore,
    { model, context }: Loaded,
    held: GenerateRequest,
    tokens: Int32Array,
    write: Write,
  ): Promise<SessionMeta | undefined> {
    if (!context.sharesCells || !context.rewinds || !this.options) return undefined;
    let base: SessionMeta | undefined;
    for (const meta of store.list()) {
      if (!meta.documents || !fits(context, meta.label, meta.tokens) || meta.tokens <= (base?.tokens ?? 0)) continue;
      const saved = await store.tokensOf(meta);
      if (saved && commonPrefix(saved, tokens) === saved.length) base = meta;
    }
    for (const { documents, end } of await beginnings(model, held, tokens, base?.documents?.length ?? 0)) {
      const stored = base?.tokens ?? 0;
      if (end - stored < this.options.minTokens) continue;
      const meta: SessionMeta | null = await write(tokens.slice(0, end), { base, stored, documents }, []);
      if (!meta) break;
      base = meta;
    }
    return base;
  }

  /** What is on disk of these tokens already, and which sessions are of no more use once they are saved. */
  private async compare(store: SessionStore, context: Context, tokens: Int32Array, base: SessionMeta | undefined) {
    let covering: Found | null = base ? { meta: base, spared: base.tokens } : null;
    // a few more words of another chat do not make its session one of this chat
    const least = base ? base.tokens + tokens.length * slack : 0;
    const replaced: SessionMeta[] = [];
    const label = context.sessionLabel;
    for (const meta of store.list()) {
      if (meta.label !== label) continue;
      const saved = await store.tokensOf(meta);
      if (!saved) continue;
      const spared = sparedBy(saved, tokens, context.rewinds, meta.checkpoints);
      if (spared > Math.max(least, covering?.spared ?? 0)) covering = { meta, spared };
      if (!meta.documents && saved.length - spared <= saved.length * slack) replaced.push(meta);
    }
    return { covering, replaced };
  }

  /** false: there is none, and a notice said so. `replaced`: go anyway, but only after the new one is there. */
  private async makeRoom(
    store: SessionStore,
    needed: number,
    replaced: SessionMeta[] = [],
    staying: SessionMeta[] = [],
  ): Promise<boolean> {
    if (!this.options) return false;
    const { maxBytes, folder } = this.options;
    const stay = new Map(staying.map((meta) => [meta.id, meta]));
    const spared = new Set([...replaced.map(({ id }) => id), ...stay.keys()]);
    const others = store.list().filter(({ id }) => !spared.has(id));
    const limit = maxBytes - bytesOf([...stay.values()]);
    const room = needed > 0 ? await (this.parts.diskRoom ?? diskRoom)(folder) : 0;
    const removed = evictionsFor(others, needed, limit, room);
    for (const meta of removed ?? []) await store.remove(meta);
    if (removed) return true;
    const why = needed > limit ? `sessions may take ${mebibytes(maxBytes)} MiB` : 'the disk is almost full';
    this.noticeOnce(`The session of this chat was not saved: it takes ${mebibytes(needed)} MiB, ${why}.`);
    return false;
  }

  /** Never throws: a failure becomes a notice, and the answer goes on. */
  private quietly<T>(otherwise: T, task: (store: SessionStore, options: SessionOptions) => Promise<T>): Promise<T> {
    return this.queue.run(async () => {
      const { store, options } = this;
      if (!store || !options?.enabled) return otherwise;
      try {
        return await task(store, options);
      } catch (error) {
        // the answer reports what is wrong with the messages; a person who stopped it knows
        if (!['bad-request', 'cancelled'].includes(String((error as { code?: unknown } | null)?.code))) {
          this.noticeOnce(`A session could not be saved or restored: ${messageOf(error)}`);
        }
        return otherwise;
      }
    });
  }

  private noticeOnce(text: string): void {
    if (this.noticed.has(text)) return;
    this.noticed.add(text);
    this.parts.notice(text);
  }
}

function firstDocument({ messages }: GenerateRequest): string | undefined {
  return messages.find(({ role }) => role === 'user')?.documents?.[0]?.id;
}

/** Of a label and a length that the context takes. */
function fits({ sessionLabel, effective }: Context, label: string, tokens: number): boolean {
  return label === sessionLabel && tokens <= effective.nCtx;
}

function bytesOf(sessions: readonly SessionMeta[]): number {
  return sessions.reduce((sum, { bytes }) => sum + bytes, 0);
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
