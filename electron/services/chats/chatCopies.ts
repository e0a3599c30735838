/** Chats out of the app and into it again. */

import type { ExportedChat, ExportOptions } from '../../contract/chatFile';
import type { Chat } from '../../contract/chats';
import { branchTo, type ChatRecord } from './chatLog';
import { chatMarkdown, type LabelsOf } from './chatMarkdown';

/** One chat: Markdown, or an object of JSON. */
export async function exportedText(chat: Chat, options: ExportOptions, labelsOf: LabelsOf): Promise<string> {
  const exported = exportedChat(chat, options.branches);
  return options.format === 'json' ? JSON.stringify(exported) : chatMarkdown(exported, labelsOf);
}

function exportedChat(chat: Chat, branches: ExportOptions['branches']): ExportedChat {
  const { id, title, createdAt, updatedAt, pinned, folder, systemPrompt, messages, leafId } = chat;
  const shown = branches === 'all' ? messages : branchTo(chat, leafId ?? messages.at(-1)?.id ?? null);
  return { id, title, createdAt, updatedAt, pinned, folder, systemPrompt, leafId, messages: shown };
}

/** The log that an imported chat begins with. Its times are those of the chat, so that it stands in its old place. */
export function recordsOf(chat: ExportedChat, id: string): ChatRecord[] {
  const at = chat.updatedAt;
  return [
    { type: 'chat', at: chat.createdAt, id, title: chat.title },
    ...(chat.systemPrompt === null ? [] : [{ type: 'prompt', at, systemPrompt: chat.systemPrompt } as const]),
    ...chat.messages.map((message): ChatRecord => ({ type: 'message', at, message })),
    { type: 'leaf', at, leafId: chat.leafId },
    ...(chat.pinned ? [{ type: 'pin', at, pinned: true } as const] : []),
    ...(chat.folder === null ? [] : [{ type: 'folder', at, folder: chat.folder } as const]),
  ];
}

/** The chat as it names documents that have other ids here. @param ids by the old ones; those that are not in it stay */
export function withDocuments(chat: ExportedChat, ids: Readonly<Record<string, string>>): ExportedChat {
  const known = new Map(Object.entries(ids));
  const messages = chat.messages.map((message) => ({
    ...message,
    attachments: message.attachments.map((one) => ({
      ...one,
      documentId: known.get(one.documentId) ?? one.documentId,
    })),
  }));
  return { ...chat, messages };
}
