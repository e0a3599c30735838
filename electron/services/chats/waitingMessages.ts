/**
 * waiting.json: questions that were asked while an answer was being written. The first of a chat is sent when the answer has
 * come to its end. After any other end, and after a restart, they stay until a person sends them.
 */

import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import { type WaitingList, type WaitingMessage, waitingListSchema } from '../../contract/chatOperations';
import type { StopReason } from '../../contract/chats';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import { JsonFile } from '../lib/jsonFile';
import type { ChatStore } from './chatStore';
import type { TurnService } from './turnService';

const mostWaiting = 100;

export class WaitingMessages extends JsonFile<WaitingList> {
  /** chats of which one is on its way: the answer to it is not being written yet */
  private readonly sending = new Set<string>();
  private closed = false;

  constructor(
    path: string,
    private readonly chats: Pick<ChatStore, 'open' | 'allIds'>,
    private readonly turns: Pick<TurnService, 'send' | 'isAnswering' | 'finished'>,
  ) {
    super({
      ...{ path, version: 1, schema: waitingListSchema, initial: waitingListSchema.parse({}) },
      // on one line, as `DocumentUse` looks for documents
      compact: true,
      asideNotice: (name) => `The messages that waited could not be read. Their file was kept as ${name}.`,
    });
    turns.finished.on(({ chatId, message }) => void this.afterAnswer(chatId, message.id, message.stopReason));
  }

  override async load(): Promise<void> {
    await super.load();
    const ids = await this.chats.allIds();
    await this.quietly((messages) =>
      hold(
        messages.filter(({ chatId }) => ids.includes(chatId)),
        whenClosed,
      ),
    );
  }

  /** The answers that are stopped from now on were not stopped by a person. */
  close(): void {
    this.closed = true;
  }

  async add({ chatId, text, attachments }: Omit<WaitingMessage, 'id' | 'held'>): Promise<void> {
    await this.change(({ messages }) => {
      if (messages.length >= mostWaiting) {
        throw new ConcertinaError(
          'busy',
          msg`${{ mostWaiting }} messages wait already.`,
          msg`Remove one of them first.`,
        );
      }
      return { messages: [...messages, { id: randomUUID(), chatId, text, attachments, held: null }] };
    });
    await this.sendNext(chatId);
  }

  async remove(id: string): Promise<void> {
    await this.change(({ messages }) => {
      const one = messages.find((message) => message.id === id);
      if (!one || this.sending.has(id)) throw missing();
      return { messages: messages.filter((message) => message !== one) };
    });
  }

  /** For good, with their chats. */
  async removeOf(chatIds: readonly string[]): Promise<void> {
    await this.change((list) => {
      const messages = list.messages.filter(({ chatId }) => !chatIds.includes(chatId));
      return messages.length < list.messages.length ? { messages } : list;
    });
  }

  /** A person asks for it; the others of its chat that are held stay so. */
  async send(id: string): Promise<void> {
    const { messages } = await this.change(({ messages: all }) => {
      if (!all.some((message) => message.id === id)) throw missing();
      return { messages: all.map((message) => (message.id === id ? { ...message, held: null } : message)) };
    });
    const chatId = messages.find((message) => message.id === id)?.chatId;
    if (chatId !== undefined) await this.sendNext(chatId);
  }

  private async afterAnswer(chatId: string, answerId: string, reason: StopReason | null): Promise<void> {
    if (this.closed || !this.get().messages.some((message) => message.chatId === chatId)) return;
    const why = reason === null ? null : whyHeld[reason];
    if (why === null) await this.sendNext(chatId, answerId);
    else await this.quietly((messages) => hold(messages, why, chatId));
  }

  /** @param parentId the message that it follows; left out: the last of the branch that was shown last */
  private async sendNext(chatId: string, parentId?: string): Promise<void> {
    if (this.closed || this.sending.has(chatId) || this.turns.isAnswering(chatId)) return;
    const next = this.get().messages.find((message) => message.chatId === chatId && message.held === null);
    if (!next) return;
    const marks = [chatId, next.id];
    for (const mark of marks) this.sending.add(mark);
    try {
      const below = parentId ?? (await this.chats.open(chatId)).leafId;
      await this.turns.send(chatId, below, next.text, next.attachments);
      await this.quietly((messages) => messages.filter(({ id }) => id !== next.id));
    } catch (error) {
      const { message, hint } = toErrorPayload(error);
      const why = ['It could not be sent.', message, hint].filter(Boolean).join(' ');
      await this.quietly((messages) => hold(messages, why, chatId));
    } finally {
      for (const mark of marks) this.sending.delete(mark);
    }
    // an answer that ended before it was noted here that its question is sent
    if (!this.turns.isAnswering(chatId)) await this.sendNext(chatId);
  }

  /** What nobody waits for: the list counts even where it cannot be written. */
  private async quietly(step: (messages: WaitingMessage[]) => WaitingMessage[]): Promise<void> {
    const changed = (list: WaitingList) => {
      const messages = step(list.messages);
      const same = messages.length === list.messages.length && messages.every((one, i) => one === list.messages[i]);
      return same ? list : { messages };
    };
    await this.remember(changed);
  }
}

/** Those that are held already keep their reason. */
function hold(messages: readonly WaitingMessage[], why: string, chatId?: string): WaitingMessage[] {
  const meant = (message: WaitingMessage) =>
    message.held === null && (chatId === undefined || message.chatId === chatId);
  return messages.map((message) => (meant(message) ? { ...message, held: why } : message));
}

const whenClosed = 'Concertina was closed before it was sent.';

/** By the end of the answer before it; null: the question is sent. */
const whyHeld: Record<StopReason, string | null> = {
  'end-of-turn': null,
  'stop-string': null,
  'max-tokens': null,
  'tool-rounds': 'The answer before it called tools as often as the settings allow.',
  'context-full': 'The context was too short for the answer before it.',
  cancelled: 'You stopped the answer before it.',
  interrupted: 'The engine stopped during the answer before it.',
  error: 'The answer before it ended with an error.',
};

function missing(): ConcertinaError {
  return new ConcertinaError('not-found', msg`This message does not wait any more.`, msg`It was sent, or removed.`);
}
