import type { Chat } from '../../../electron/contract/chats';
import { type Brief, type BriefPlan, type BriefProgress, briefOn } from '../../../electron/contract/lib/brief';
import type { AppState } from '../appState';
import { pathTo } from '../lib/messageTree';
import type { Tools } from '../slice';

/** Briefs in place of the oldest messages. The services write them, and keep them with their chats. */
export function createBriefsActions({ client, get, patch, report }: Tools) {
  function change(chatId: string, step: (briefs: readonly Brief[]) => Brief[]): void {
    const { chat } = get().conversation;
    if (chat?.id === chatId) patch('conversation', { chat: { ...chat, briefs: step(chat.briefs) } });
  }

  function forget(chatId: string): void {
    const { [chatId]: _gone, ...making } = get().briefs.making;
    patch('briefs', { making });
  }

  /** Of the open chat, as it is shown. */
  async function onOpenChat<T>(task: (place: { chatId: string; leafId: string | null }) => Promise<T>) {
    const { chat } = get().conversation;
    if (!chat) return null;
    try {
      return await task({ chatId: chat.id, leafId: chat.leafId });
    } catch (error) {
      report(error, chat.id);
      return null;
    }
  }

  return {
    receive(progress: BriefProgress): void {
      const { chatId, end } = progress;
      if (end?.brief) change(chatId, (briefs) => [...briefs, end.brief as Brief]);
      if (end && end.problem === null) forget(chatId);
      else patch('briefs', { making: { ...get().briefs.making, [chatId]: progress } });
    },
    /** What a brief of the open chat would cost; null: there is nothing to shorten, or nobody can tell. */
    async plan(): Promise<BriefPlan | null> {
      const { chat } = get().conversation;
      if (!chat) return null;
      return client.call('briefs.plan', { chatId: chat.id, leafId: chat.leafId }).catch(() => null);
    },
    make: () => onOpenChat((place) => client.call('briefs.make', place)),
    cancel: (chatId: string) => void client.call('briefs.cancel', { chatId }).catch(() => undefined),
    forget,
    /** False: it was refused, which is on the screen. */
    async edit(briefId: string, text: string): Promise<boolean> {
      const edited = await onOpenChat(({ chatId }) => client.call('briefs.edit', { chatId, briefId, text }));
      const chatId = get().conversation.chat?.id;
      if (edited && chatId) change(chatId, (briefs) => briefs.map((one) => (one.id === briefId ? edited : one)));
      return edited !== null;
    },
    async remove({ id }: Brief): Promise<void> {
      await onOpenChat(async ({ chatId }) => {
        await client.call('briefs.remove', { chatId, briefId: id });
        change(chatId, (briefs) => briefs.filter((one) => one.id !== id));
      });
    },
    unfold: (briefId: string | null) => patch('briefs', { unfolded: briefId }),
  };
}

export const selectMaking = (chatId: string) => (state: AppState) => state.briefs.making[chatId] ?? null;
/** Whether the messages that it stands for are shown. */
export const selectIsUnfolded = (briefId: string | undefined) => (state: AppState) =>
  briefId !== undefined && state.briefs.unfolded === briefId;

/** The brief that counts on the shown branch of a chat. */
export function shownBrief(chat: Chat): Brief | null {
  return chat.briefs.length === 0 ? null : briefOn(pathTo(chat.messages, chat.leafId), chat.briefs);
}
