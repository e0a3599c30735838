/** Export and import of chats, one after the other, so that it can be watched and ended. */
import type { ExportedChat, ExportOptions } from '../../../electron/shared/chatFile';
import { chatFileEnd, chatFileSeparator, chatFileStart, chatsOfFile } from '../../../electron/shared/chatFileParts';
import { errorPayloadOf } from '../../bridge/errorPayload';
import type { Tools } from '../tools';

export interface ImportOutcome {
  added: number;
  /** why chats stayed out, each reason once */
  refused: string[];
}

export function createTransferActions({ client, get, patch, report }: Tools) {
  /** False: it was cancelled. */
  async function each<T>(
    kind: 'export' | 'import',
    items: readonly T[],
    work: (item: T) => Promise<void>,
  ): Promise<boolean> {
    patch('chats', { transfer: { kind, done: 0, all: items.length } });
    try {
      for (const [index, item] of items.entries()) {
        await work(item);
        if (!get().chats.transfer) return false;
        patch('chats', { transfer: { kind, done: index + 1, all: items.length } });
      }
      return true;
    } finally {
      patch('chats', { transfer: null });
    }
  }

  function cancelTransfer(): void {
    patch('chats', { transfer: null });
  }

  /** The parts of a file with these chats; null: it was cancelled, or one could not be read (which is on the screen). */
  async function exportChats(chatIds: readonly string[], options: ExportOptions): Promise<string[] | null> {
    if (get().chats.transfer) return null;
    const texts: string[] = [];
    try {
      const whole = await each('export', chatIds, async (chatId) => {
        const { text } = await client.call('chats.exportText', { chatId, ...options });
        texts.push(text);
      });
      if (!whole) return null;
    } catch (error) {
      report(error);
      return null;
    }
    if (options.format === 'markdown') return [texts.join('\n---\n\n')];
    const start = chatFileStart(get().engine.info?.version ?? '', new Date());
    return [start, ...texts.flatMap((text, n) => (n === 0 ? [text] : [chatFileSeparator, text])), chatFileEnd];
  }

  /** Chats that cannot be taken over stay out and are told of; the others are there. */
  async function importChats(text: string): Promise<ImportOutcome> {
    const file = chatsOfFile(text);
    if ('problem' in file) return { added: 0, refused: [file.problem] };
    if (get().chats.transfer) return { added: 0, refused: ['Wait until the other chats are done.'] };
    const refused = new Set<string>();
    let added = 0;
    await each('import', file.chats, async (chat) => {
      try {
        // the services check it
        await client.call('chats.import', { chat: chat as ExportedChat });
        added += 1;
      } catch (error) {
        refused.add(errorPayloadOf(error).message);
      }
    });
    return { added, refused: [...refused] };
  }

  return { exportChats, importChats, cancelTransfer };
}
