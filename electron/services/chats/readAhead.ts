/**
 * Documents of the shelf, read before anybody asks about them: the beginning of a chat with the document is read for one token, and
 * its KV cache is kept as that of any chat's beginning is. A question goes before it: the reading makes way, and goes on behind
 * the answer with what it has read.
 */

import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import { templateOptionsOf } from '../../contract/engineContract';
import { ConcertinaError, type ErrorPayload, toErrorPayload } from '../../contract/errors';
import { type ShelfDocument, type ShelfReading, shelfChatId } from '../../contract/lib/shelf';
import type { ShelfStore } from '../documents/shelf';
import type { EngineHost } from '../engine/engineHost';
import type { EngineService } from '../engine/engineService';
import type { SessionService } from '../engine/sessionService';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import type { SettingsService } from '../settings/settingsStore';
import type { Questions } from './promptBuilder';
import type { TurnService } from './turnService';

/** tokens behind a document, of the chat template: they are read with each question anyway */
const mostBehind = 64;

interface ReadAheadParts {
  engine: Pick<EngineService, 'generate' | 'live' | 'status'>;
  host: Pick<EngineHost, 'client'>;
  sessions: Pick<SessionService, 'list'>;
  settings: Pick<SettingsService, 'get' | 'of' | 'settled'>;
  questions: Pick<Questions, 'prompt'>;
  turns: Pick<TurnService, 'begun' | 'finished' | 'isAnswering'>;
  shelf: Pick<ShelfStore, 'get'>;
  log: Logger;
}

export class ReadAhead {
  readonly changed = new Emitter<ShelfReading[]>();
  /** in the order in which they were asked for */
  private list: ShelfReading[] = [];
  private current: { documentId: string; stop: AbortController } | null = null;
  private closed = false;

  constructor(private readonly parts: ReadAheadParts) {
    const { turns } = parts;
    turns.begun.on(({ requestId }) => requestId !== undefined && this.makeWay());
    turns.finished.on(() => void this.work());
  }

  readings(): ShelfReading[] {
    return this.list;
  }

  /** Behind those that were asked for before. Rejects when there is no model, or no such document on the shelf. */
  read(documentId: string): void {
    this.parts.engine.live.requireUsable();
    this.entryOf(documentId);
    const before = this.list.find((one) => one.documentId === documentId);
    if (before && before.state !== 'failed') return;
    const others = this.list.filter((one) => one !== before);
    this.tell([...others, { documentId, state: 'waiting', messageId: null, error: null }]);
    void this.work();
  }

  /** Ends one that waits or reads; one that failed is forgotten. */
  stop(documentIds: readonly string[]): void {
    const rest = this.list.filter(({ documentId }) => !documentIds.includes(documentId));
    if (rest.length < this.list.length) this.tell(rest);
    if (this.current && documentIds.includes(this.current.documentId)) this.current.stop.abort();
  }

  close(): void {
    this.closed = true;
    this.stop(this.list.map(({ documentId }) => documentId));
  }

  /**
   * Documents of the shelf that a new chat could begin with now without reading them: with this model, these settings, and
   * the system prompt and date of today. Waits for an answer that is being written.
   */
  async kept(): Promise<string[]> {
    const { engine, sessions, shelf } = this.parts;
    if (!['ready', 'generating'].includes(engine.status().state)) return [];
    const usable = (await sessions.list()).filter(
      ({ problem, documents }) => problem === null && documents.length === 1,
    );
    const saved = new Set(usable.flatMap(({ documents }) => documents.map(({ id }) => id)));
    const kept: string[] = [];
    for (const entry of shelf.get().documents) {
      // what was read a moment ago is in the context, and on no disk yet
      const perhaps = saved.has(entry.documentId) || engine.status().contextChat === shelfChatId(entry);
      if (perhaps && (await this.isKept(entry))) kept.push(entry.documentId);
    }
    return kept;
  }

  private makeWay(): void {
    if (!this.current) return;
    this.change(this.current.documentId, { state: 'paused', messageId: null });
    this.current.stop.abort();
  }

  /** One after the other, while no answer is written. */
  private async work(): Promise<void> {
    if (this.current || this.closed || this.parts.turns.isAnswering()) return;
    const next = this.list.find(({ state }) => state === 'waiting' || state === 'paused');
    if (!next) return;
    const { documentId } = next;
    const stop = new AbortController();
    this.current = { documentId, stop };
    const error = await this.readOne(documentId, stop.signal).catch(toErrorPayload);
    this.current = null;
    // what was stopped is off the list, or makes way
    if (!stop.signal.aborted) this.end(documentId, error);
    void this.work();
  }

  private end(documentId: string, error: ErrorPayload | null): void {
    if (error) this.parts.log.warn(`A document was not read ahead: ${error.message}`);
    if (error) this.change(documentId, { state: 'failed', messageId: null, error });
    else this.tell(this.list.filter((one) => one.documentId !== documentId));
  }

  /** @returns why what was read is of no use; null: it is kept */
  private async readOne(documentId: string, signal: AbortSignal): Promise<ErrorPayload | null> {
    const { engine, settings } = this.parts;
    const entry = this.entryOf(documentId);
    const messages = await this.promptOf(entry);
    // frames of what came before it, and was stopped, must not count for it
    const messageId = randomUUID();
    this.change(documentId, { state: 'reading', messageId });
    const { stopReason } = await engine.generate(
      {
        ...{ requestId: messageId, chatId: shelfChatId(entry), messageId, messages, now: Date.now(), jsonSchema: null },
        sampling: { ...settings.get().sampling, maxTokens: 1 },
      },
      signal,
    );
    if (stopReason === 'cancelled') return stopped;
    return (await this.isKept(entry)) ? null : cannotKeep;
  }

  private async isKept(entry: ShelfDocument): Promise<boolean> {
    const { host, settings, engine } = this.parts;
    const messages = await this.promptOf(entry).catch(() => null);
    if (!messages) return false;
    await settings.settled();
    const template = templateOptionsOf(settings.of(engine.status().modelId).template);
    const { tokens, spared } = await host.client.call('spared', { messages, now: Date.now(), ...template });
    return tokens - spared <= mostBehind;
  }

  /** What a chat with it begins with, up to the words of the question. */
  private promptOf({ documentId, name }: ShelfDocument) {
    const attachments = [{ documentId, name, part: { kind: 'whole' as const } }];
    return this.parts.questions.prompt(null, [{ role: 'user', text: '', attachments }]);
  }

  private entryOf(documentId: string): ShelfDocument {
    const entry = this.parts.shelf.get().documents.find((one) => one.documentId === documentId);
    if (entry) return entry;
    throw new ConcertinaError('not-found', msg`This document is not on the shelf any more.`);
  }

  private change(documentId: string, change: Partial<ShelfReading>): void {
    this.tell(this.list.map((one) => (one.documentId === documentId ? { ...one, ...change } : one)));
  }

  private tell(list: ShelfReading[]): void {
    this.list = list;
    this.changed.emit(list);
  }
}

const stopped: ErrorPayload = {
  code: 'cancelled',
  message: 'The reading was ended by something else: another model, or new settings.',
  hint: 'Read it again when that is done.',
};

const cannotKeep: ErrorPayload = {
  code: 'model-unsupported',
  message: 'It was read, but other chats cannot go on from that with this model.',
  hint: 'Models with sliding windows or recurrent layers read a document again in each chat.',
};
