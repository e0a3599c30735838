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
  type FoundChats,
  type Lost,
  type TakenChats,
} from '../../../electron/contract/chatOperations';
import type { ExportedDocument, UploadPart } from '../../../electron/contract/documents';
import type { ErrorPayload } from '../../../electron/contract/errors';
import { hasNoText } from '../../../electron/contract/lib/attachments';
import { say } from '../../../electron/contract/lib/language';
import { limits } from '../../../electron/contract/limits';
import { errorPayloadOf } from '../../bridge/client';
import { sendInParts } from '../../bridge/upload';
import type { Tools } from '../slice';

export interface ImportOutcome {
  added: number;
  /** why chats and files stayed out, each reason once */
  refused: string[];
  /** of files of other apps; absent: there were none */
  report?: ImportReport;
}

/** What came of the chats of other apps, those that stayed out and what did not come with the others among it. */
export type ImportReport = Omit<TakenChats, 'added'> & Pick<FoundChats, 'apps' | 'damaged' | 'empty'>;

/** a file of ours says so at its beginning */
const headBytes = 4096;

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
    if (hasNoText(document.kind)) {
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

  /** Files of exported chats, ours and those of other apps. */
  async function importFiles(files: readonly File[]): Promise<ImportOutcome> {
    const refused: string[] = [];
    const foreign: File[] = [];
    let added = 0;
    for (const file of files) {
      if (!/"format"\s*:\s*"concertina-chats"/.test(await file.slice(0, headBytes).text())) {
        foreign.push(file);
        continue;
      }
      const outcome = await importChats(await file.text());
      added += outcome.added;
      refused.push(...outcome.refused);
    }
    if (foreign.length === 0) return { added, refused: [...new Set(refused)] };
    const others = await importForeign(foreign);
    return { ...others, added: added + others.added, refused: [...new Set([...refused, ...others.refused])] };
  }

  /** Chats that are here already stay as they are. */
  async function importForeign(files: readonly File[]): Promise<ImportOutcome> {
    if (get().chats.transfer) return { added: 0, refused: [t`Wait until the other chats are done.`] };
    const refused: string[] = [];
    const uploadIds: string[] = [];
    const stop = new AbortController();
    const sent = await each('import', files, async (file) => {
      const onProgress = (fraction: number) => {
        const { transfer } = get().chats;
        if (!transfer) stop.abort();
        else patch('chats', { transfer: { ...transfer, done: files.indexOf(file) + fraction } });
      };
      try {
        const send = (part: UploadPart) => client.call('imports.upload', part);
        uploadIds.push((await sendInParts(file, send, { onProgress, signal: stop.signal })).uploadId);
      } catch (error) {
        if (!stop.signal.aborted) refused.push(sentenceOf(errorPayloadOf(error)));
      }
    });
    if (!sent || uploadIds.length === 0) return { added: 0, refused };
    const outcome = { added: 0, refused, report: emptyReport() };
    try {
      const found: FoundChats[] = [];
      const wanted = await each('import', [uploadIds], async (ids) => {
        found.push(await client.call('imports.read', { uploadIds: ids }));
      });
      for (const one of found) await takeAll(one, outcome, wanted);
    } catch (error) {
      refused.push(sentenceOf(errorPayloadOf(error)));
    }
    return outcome;
  }

  /** `wanted`: nobody has canceled it; what is found is thrown away in any case. */
  async function takeAll(found: FoundChats, outcome: Required<ImportOutcome>, wanted: boolean): Promise<void> {
    const { importId, apps, damaged, empty, refused, chats } = found;
    const slices = Array.from({ length: Math.ceil(chats / limits.maxImportSlice) }, (_, n) => n);
    try {
      if (!wanted) return;
      outcome.refused.push(...refused.map(sentenceOf));
      Object.assign(outcome.report, { apps, damaged, empty });
      await each('import', slices, async (n) => {
        addTo(outcome, await client.call('imports.take', { importId, first: n * limits.maxImportSlice }));
      });
    } finally {
      await client.call('imports.close', { importId });
    }
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

  return { exportChats, importFiles, importChats, cancelTransfer };
}

function emptyReport(): ImportReport {
  const lost = { pictures: 0, files: 0, sounds: 0, tools: 0, others: 0 };
  return { apps: [], messages: 0, here: 0, trashed: 0, grown: 0, damaged: 0, empty: 0, lost };
}

function addTo(outcome: Required<ImportOutcome>, { added, lost, ...counts }: TakenChats): void {
  const { report } = outcome;
  outcome.added += added;
  for (const name of ['messages', 'here', 'trashed', 'grown'] as const) report[name] += counts[name];
  for (const kind of Object.keys(lost) as (keyof Lost)[]) report.lost[kind] += lost[kind];
}

function sentenceOf({ message, hint }: ErrorPayload): string {
  return `${message} ${hint}`.trim();
}

function listed(items: readonly string[]): string[] {
  return items.flatMap((text, n) => (n === 0 ? [text] : [chatFileSeparator, text]));
}

/** Documents that exported chats name: id and name, each once. */
function documentsOf(chats: readonly string[]): [string, string][] {
  const named = chats.flatMap((text) =>
    (JSON.parse(text) as ExportedChat).messages.flatMap(({ attachments, rounds = [] }) => [
      ...attachments,
      ...rounds.flatMap(({ calls }) => calls.flatMap(({ kept = [] }) => kept)),
    ]),
  );
  return [...new Map(named.map(({ documentId, name }) => [documentId, name]))];
}
