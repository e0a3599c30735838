import type { WaitingList, WaitingMessage } from '../../../electron/contract/chatOperations';
import { type AppState, emptyDraft } from '../appState';
import type { Tools } from '../slice';
import type { createDocumentsActions } from './documents';

/** Questions that wait until the answer before them has ended. The services hold and send them. */
export function createWaitingActions(
  { client, get, patch, report }: Tools,
  documents: Pick<ReturnType<typeof createDocumentsActions>, 'attachStored'>,
) {
  /** False: it was refused, which is on the screen. */
  async function done(call: Promise<unknown>, chatId: string): Promise<boolean> {
    try {
      await call;
      return true;
    } catch (error) {
      report(error, chatId);
      return false;
    }
  }

  function remove({ id, chatId }: WaitingMessage): Promise<boolean> {
    return done(client.call('waiting.remove', { id }), chatId);
  }

  /** Back into the text field, before what is written there. */
  async function edit(message: WaitingMessage): Promise<boolean> {
    if (!(await remove(message))) return false;
    const { chatId, attachments } = message;
    const { drafts } = get().conversation;
    const draft = drafts[chatId] ?? emptyDraft;
    const text = [message.text, draft.text.trim()].filter(Boolean).join('\n\n');
    patch('conversation', { drafts: { ...drafts, [chatId]: { ...draft, text } } });
    const there = draft.documents.map(({ info }) => info?.id);
    const missing = attachments.filter(({ documentId }) => !there.includes(documentId));
    for (const { documentId, part } of missing) await documents.attachStored(documentId, part, chatId);
    return true;
  }

  return {
    receive: (waiting: WaitingList) => patch('waiting', waiting),
    remove,
    /** The undo of a removal: behind the others. */
    restore: ({ chatId, text, attachments }: WaitingMessage) =>
      done(client.call('waiting.add', { chatId, text, attachments }), chatId),
    edit,
    /** One that is held. */
    send: ({ id, chatId }: WaitingMessage) => done(client.call('waiting.send', { id }), chatId),
  };
}

/** Of all chats. */
export const selectWaiting = ({ waiting }: AppState) => waiting.messages;
