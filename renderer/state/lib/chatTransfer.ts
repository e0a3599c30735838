/** Export and import of chats, one after the other, so that it can be watched and ended. */
import { t } from '@lingui/core/macro';
import {
  chatFileDocuments,
  chatFileEnd,
  chatFileSeparator,
  chatFileStart,
  chatsOfFile,
  type ExportedChat,
  type ExportOptions,
} from '../../../electron/contract/chatOperations';
import type { ExportedDocument } from '../../../electron/contract/documents';
import { say } from '../../../electron/contract/lib/language';
import { usualPart } from '../../../electron/contract/lib/senses';
import { limits } from '../../../electron/contract/limits';
import { errorPayloadOf } from '../../bridge/client';
import type { Tools } from '../slice';

export interface ImportOutcome {
  added: number;
  /** why chats stayed out, each reason once */
  refused: string[];
}

export interface ExportOutcome {
  parts: string[];
  /** names of documents whose texts were asked for and are not in it */
  without: string[];
}

export function createTransferActions({ client, get, patch, report }: Tools) {
  /** False: it was canceled. */
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

  /**
   * A file with these chats; null: it was canceled, or one could not be read (which is on the screen).
   * `withDocuments`: in JSON, the texts of their documents too.
   */
  async function exportChats(
    chatIds: readonly string[],
    options: ExportOptions,
    withDocuments = false,
  ): Promise<ExportOutcome | null> {
    if (get().chats.transfer) return null;
    const texts: string[] = [];
    const documents: string[] = [];
    const without: string[] = [];
    try {
      const whole = await each('export', chatIds, async (chatId) => {
        const { text } = await client.call('chats.exportText', { chatId, ...options });
        texts.push(text);
      });
      if (!whole) return null;
      if (options.format === 'markdown') return { parts: [texts.join('\n---\n\n')], without };
      const named = withDocuments ? documentsOf(texts) : [];
      const all = await each('export', named, async ([documentId, name]) => {
        const document = await exportedDocument(documentId);
        if (document) documents.push(JSON.stringify(document));
        else without.push(name);
      });
      if (!all) return null;
    } catch (error) {
      report(error);
      return null;
    }
    const start = chatFileStart(get().engine.info?.version ?? '', new Date());
    const texted = documents.length > 0 ? [chatFileDocuments, ...listed(documents)] : [];
    return { parts: [start, ...listed(texts), ...texted, chatFileEnd], without };
  }

  /** null: it is not stored any more, or too long for a file. */
  async function exportedDocument(documentId: string): Promise<ExportedDocument | null> {
    const document = await client.call('documents.get', { documentId }).catch(() => null);
    if (!document || document.characters > limits.maxMessage) return null;
    if (usualPart(document).kind !== 'whole') {
      const file = await client.call('documents.file', { documentId }).catch(() => null);
      return file && { document, sections: [], text: '', file: file.data };
    }
    const sections = await client.call('documents.sections', { documentId });
    const slices: string[] = [];
    for (let start = 0; start < document.characters; start += limits.maxDocumentSlice) {
      const { text } = await client.call('documents.text', { documentId, start, end: start + limits.maxDocumentSlice });
      slices.push(text);
    }
    return { document, sections, text: slices.join('') };
  }

  /** Chats that cannot be taken over stay out and are reported; the others are there. */
  async function importChats(text: string): Promise<ImportOutcome> {
    const file = chatsOfFile(text);
    if ('problem' in file) return { added: 0, refused: [say(file.problem)] };
    if (get().chats.transfer) return { added: 0, refused: [t`Wait until the other chats are done.`] };
    const refused = new Set<string>();
    const documents: Record<string, string> = {};
    let added = 0;
    // the services check both
    const whole = await each('import', file.documents as ExportedDocument[], async (exported) => {
      try {
        const { id } = await client.call('documents.import', exported);
        documents[exported.document.id] = id;
      } catch (error) {
        refused.add(errorPayloadOf(error).message);
      }
    });
    if (!whole) return { added, refused: [...refused] };
    await each('import', file.chats as ExportedChat[], async (chat) => {
      try {
        await client.call('chats.import', { chat, documents });
        added += 1;
      } catch (error) {
        refused.add(errorPayloadOf(error).message);
      }
    });
    return { added, refused: [...refused] };
  }

  return { exportChats, importChats, cancelTransfer };
}

function listed(items: readonly string[]): string[] {
  return items.flatMap((text, n) => (n === 0 ? [text] : [chatFileSeparator, text]));
}

/** Documents that exported chats name: id and name, each once. */
function documentsOf(chats: readonly string[]): [string, string][] {
  const named = chats.flatMap((text) => (JSON.parse(text) as ExportedChat).messages.flatMap((one) => one.attachments));
  return [...new Map(named.map(({ documentId, name }) => [documentId, name]))];
}
