import { type Turn, titleFrom } from '../../../electron/contract/chatOperations';
import type { Chat, Message, SummaryKind } from '../../../electron/contract/chats';
import type { EventPayload } from '../../../electron/contract/contract';
import type { Attachment } from '../../../electron/contract/lib/attachments';
import { type ChatTools, noTools } from '../../../electron/contract/tools/tools';
import { type Draft, type DraftDocument, emptyDraft, newChatKey } from '../appState';
import { attachmentsOf } from '../lib/attach';
import { indexChildren, leafBelow, pathTo, withMessages } from '../lib/messageTree';
import { draftKeyOfNew, lastTurn, lookedUp, selectDraftKey, selectDraftOfOpenChat, withDraft } from '../lib/openChat';
import type { Tools } from '../slice';
import type { createDocumentsActions } from './documents';
import { type createStreamActions, endedParts, openPartOf, selectIsAnswering } from './live';

const recentMessages = 8;

export function createConversationActions(
  { client, get, patch, report }: Tools,
  stream: ReturnType<typeof createStreamActions>,
  documents: Pick<ReturnType<typeof createDocumentsActions>, 'attachStored'>,
  /** a new chat is begun */
  onNew: () => void,
) {
  /** Messages that go on, whose Stop was pressed before the services had said by which request. */
  const stopOnceBegun = new Set<string>();

  function show(chat: Chat): void {
    const { live } = get().stream;
    // Frames can still be on their way for what ended just now; of thousands of older answers none can.
    const recent = chat.messages.length - recentMessages;
    chat.messages.forEach((message, index) => {
      const finished = message.role === 'assistant' && message.stopReason !== null;
      if (finished && (index >= recent || live[message.id])) stream.end(message.id, null);
    });
    const { chat: before, target } = get().conversation;
    patch('conversation', { chat, openingId: null, target: before?.id === chat.id ? target : null });
    if (!get().conversation.drafts[chat.id]) void lookUpAgain(chat.id, lastTurn(chat));
  }

  /** What the last question, or its answer, had looked up, the next one has too, until it is taken off. */
  async function lookUpAgain(chatId: string, turn: readonly Message[]): Promise<void> {
    for (const { documentId, part } of lookedUp(turn)) {
      const known = get().conversation.drafts[chatId]?.documents.some(({ info }) => info?.id === documentId);
      if (!known) await documents.attachStored(documentId, part, chatId);
    }
  }

  /** A second click while one chat is still being read wins over the first. */
  async function open(chatId: string): Promise<void> {
    patch('conversation', { openingId: chatId });
    try {
      const chat = await client.call('chats.open', { chatId });
      if (get().conversation.openingId === chatId) show(chat);
    } catch (error) {
      if (get().conversation.openingId === chatId) patch('conversation', { openingId: null });
      report(error, selectDraftKey(get()));
    }
  }

  /** @param folder that the chat will lie in */
  function startNew(folder: string | null = null): void {
    patch('conversation', { chat: null, openingId: null, newIn: folder, target: null });
    onNew();
  }

  /**
   * Opens the chat if need be, on a branch that runs through the message, and brings that message into view.
   * `highlight`: words to mark in it. False: the message is not there, or something else was opened meanwhile.
   */
  async function showMessage(chatId: string, messageId: string, highlight: string | readonly string[] = []) {
    if (get().conversation.chat?.id !== chatId) await open(chatId);
    const { chat } = get().conversation;
    if (chat?.id !== chatId || !chat.messages.some((message) => message.id === messageId)) return false;
    const shown = pathTo(chat.messages, chat.leafId).some((message) => message.id === messageId);
    if (!shown) void selectBranch(messageId);
    const words = (typeof highlight === 'string' ? [highlight] : highlight).filter((word) => word.trim() !== '');
    patch('conversation', { target: { messageId, words } });
    return true;
  }

  function receive({ chatId, message, requestId }: EventPayload<'onMessage'>): void {
    if (message.role === 'assistant' && message.stopReason !== null) stream.end(message.id, message.stats);
    // another window lets an answer go on that this one has seen end
    else if (get().stream.ended.includes(message.id)) {
      stream.resume({ chatId, messageId: message.id, text: message.text, thinking: message.thinking });
    }
    // whoever asked: another window, or the services for a question that waited
    if (requestId !== undefined) stream.begin({ requestId, chatId, messageId: message.id });
    for (const id of endedParts(message, get().stream.live)) stream.end(id, null);
    const part = message.stopReason === null ? openPartOf(message) : null;
    if (part && get().stream.ended.includes(part.id)) {
      stream.resume({ chatId, messageId: part.id, text: part.text, thinking: '' });
    }
    const { chat } = get().conversation;
    if (chat?.id !== chatId) return;
    // what another window asks below the branch that is shown belongs to it
    const leafId = message.parentId === chat.leafId ? message.id : chat.leafId;
    patch('conversation', { chat: { ...withMessages(chat, [message]), leafId } });
    // what its tools gave
    if (message.rounds && message.stopReason !== null && message.id === leafId) void lookUpAgain(chatId, [message]);
  }

  function receiveTurn(chatId: string, turn: Turn): void {
    const added = [turn.userMessage, turn.assistantMessage].filter((message): message is Message => message !== null);
    const { chat } = get().conversation;
    if (chat?.id === chatId) {
      // The final state may have overtaken this answer; it must not go back to "being written".
      const { ended } = get().stream;
      // and so may the first parts of a summary, or what left the prompt for it
      const begun = chat.messages.filter(
        ({ summary, released, rounds, stopReason }) => (summary || released || rounds) && stopReason === null,
      );
      const fresh = added.filter(({ id }) => !ended.includes(id) && !begun.some((message) => message.id === id));
      // with its first question a chat keeps the system prompt of that moment
      const systemPrompt = chat.systemPrompt ?? (turn.userMessage && get().settings.saved?.systemPrompt) ?? null;
      patch('conversation', {
        chat: { ...withMessages(chat, fresh), leafId: turn.assistantMessage.id, systemPrompt },
      });
    }
    stream.begin({ requestId: turn.requestId, chatId, messageId: turn.assistantMessage.id });
    if (stopOnceBegun.delete(turn.assistantMessage.id)) void stopRequest(turn.requestId, chatId);
  }

  /** Runs one call that starts an answer. False: it was refused (the reason is on the screen), or one is being written. */
  async function takeTurn(chatId: string, start: () => Promise<Turn>): Promise<boolean> {
    if (selectIsAnswering(chatId)(get())) return false;
    patch('conversation', { sending: true, target: null });
    const { problem } = get().ui;
    if (!problem?.of || problem.of.draftKey === chatId) patch('ui', { problem: null });
    try {
      receiveTurn(chatId, await start());
      // The person has gone on: the notice about the last crash has done its work.
      patch('engine', { recovered: false });
      return true;
    } catch (error) {
      report(error, chatId);
      return false;
    } finally {
      patch('conversation', { sending: false });
    }
  }

  async function openedChat(text: string): Promise<Chat> {
    const { chat } = get().conversation;
    if (chat) return chat;
    const title = titleFrom(text);
    const { newIn } = get().conversation;
    const key = draftKeyOfNew(newIn);
    const summary = await client.call('chats.create', {
      ...(title !== null && { title }),
      ...(newIn !== null && { folder: newIn }),
    });
    const fresh: Chat = {
      ...summary,
      messages: [],
      leafId: null,
      systemPrompt: null,
      briefs: [],
      tools: noTools,
      damagedLines: 0,
    };
    const { drafts } = get().conversation;
    const written = drafts[key] ?? emptyDraft;
    patch('conversation', {
      chat: fresh,
      openingId: null,
      drafts: withDraft(withDraft(drafts, key, emptyDraft), fresh.id, written),
    });
    return fresh;
  }

  /**
   * Sends the draft of the open chat; while an answer is being written there, behind that answer. It leaves the text field only
   * when the services have taken it.
   */
  async function send(): Promise<void> {
    const text = currentDraft().text.trim();
    if (text === '') return;
    const { chat } = get().conversation;
    if (chat && selectIsAnswering(chat.id)(get())) return wait(chat.id, text);
    await deliver(text, (chat, attachments) =>
      client.call('turns.send', { chatId: chat.id, parentId: shownLeaf(chat), text, attachments }),
    );
  }

  async function wait(chatId: string, text: string): Promise<void> {
    if (get().conversation.sending) return;
    patch('conversation', { sending: true });
    const sent = currentDraft();
    try {
      await client.call('waiting.add', { chatId, text, attachments: attachmentsOf(sent.documents) });
      const { drafts } = get().conversation;
      if (drafts[chatId] === sent) patch('conversation', { drafts: withDraft(drafts, chatId, draftAfter(sent)) });
    } catch (error) {
      report(error, chatId);
    } finally {
      patch('conversation', { sending: false });
    }
  }

  /** Another chat has the room that this one has not: what is written goes there, behind what may be written there already. */
  function takeToNewChat(): void {
    const { chat, drafts } = get().conversation;
    if (!chat) return;
    const { text, documents } = currentDraft();
    const waiting = drafts[newChatKey] ?? emptyDraft;
    const joined = {
      text: [waiting.text.trimEnd(), text].filter(Boolean).join('\n\n'),
      documents: [...waiting.documents, ...documents],
    };
    patch('conversation', { drafts: withDraft(withDraft(drafts, chat.id, emptyDraft), newChatKey, joined) });
    startNew();
  }

  /** The documents of the draft, however long they are, part by part. */
  async function summarize(kind: SummaryKind): Promise<void> {
    const names = currentDraft().documents.map(({ name }) => name);
    if (names.length === 0) return;
    await deliver(names.join(', '), (chat, attachments) =>
      client.call('turns.summarize', { chatId: chat.id, parentId: shownLeaf(chat), attachments, kind }),
    );
  }

  /** `title`: of a chat that begins with it. */
  async function deliver(
    title: string,
    start: (chat: Chat, attachments: Attachment[]) => Promise<Turn>,
  ): Promise<void> {
    const { chat: before, sending } = get().conversation;
    const draftKey = selectDraftKey(get());
    if (sending || selectIsAnswering(before?.id ?? null)(get())) return;
    patch('conversation', { sending: true });
    let chat: Chat;
    try {
      chat = await openedChat(title);
    } catch (error) {
      patch('conversation', { sending: false });
      report(error, draftKey);
      return;
    }
    const sent = currentDraft();
    const attachments = attachmentsOf(sent.documents);
    const taken = await takeTurn(chat.id, () => start(chat, attachments));
    const { drafts } = get().conversation;
    if (taken && drafts[chat.id] === sent)
      patch('conversation', { drafts: withDraft(drafts, chat.id, draftAfter(sent)) });
  }

  async function regenerate(messageId: string): Promise<void> {
    const { chat } = get().conversation;
    if (chat) await takeTurn(chat.id, () => client.call('turns.regenerate', { chatId: chat.id, messageId }));
  }

  /** An answer that was stopped goes on where it is. */
  async function goOn(message: Message): Promise<void> {
    const { id, text, thinking } = message;
    const { chat } = get().conversation;
    if (!chat) return;
    const part = openPartOf(message);
    await takeTurn(chat.id, async () => {
      stream.resume({ chatId: chat.id, messageId: id, text, thinking });
      if (part) stream.resume({ chatId: chat.id, messageId: part.id, text: part.text, thinking: '' });
      try {
        return await client.call('turns.continue', { chatId: chat.id, messageId: id });
      } catch (error) {
        stopOnceBegun.delete(id);
        stream.end(id, null);
        if (part) stream.end(part.id, null);
        throw error;
      }
    });
  }

  /** `attachments` left out: those that it had, whose passages are looked up again */
  async function edit(messageId: string, text: string, attachments?: Attachment[]): Promise<boolean> {
    const { chat } = get().conversation;
    if (!chat || text.trim() === '') return false;
    return takeTurn(chat.id, () => client.call('turns.edit', { chatId: chat.id, messageId, text, attachments }));
  }

  /** Stops every answer of the open chat; without one open, the answer that the engine works on. */
  async function stop(): Promise<void> {
    const chatId = get().conversation.chat?.id;
    const answers = Object.values(get().stream.live).filter((answer) => answer.chatId === chatId);
    for (const { requestId, messageId } of answers) {
      if (requestId === null) stopOnceBegun.add(messageId);
      else await stopRequest(requestId, chatId);
    }
  }

  async function stopRequest(requestId: string, chatId: string | undefined): Promise<void> {
    try {
      await client.call('turns.stop', { requestId });
    } catch (error) {
      report(error, chatId);
    }
  }

  /** Shows the newest branch that runs through this message. */
  async function selectBranch(messageId: string): Promise<void> {
    const { chat } = get().conversation;
    if (!chat) return;
    const leafId = leafBelow(indexChildren(chat.messages), messageId);
    patch('conversation', { chat: { ...chat, leafId } });
    try {
      await client.call('chats.selectBranch', { chatId: chat.id, leafId });
    } catch (error) {
      report(error, chat.id);
    }
  }

  /** Of one chat alone, which is read again with its next question. */
  async function setSystemPrompt(chatId: string, systemPrompt: string): Promise<void> {
    try {
      await client.call('chats.setSystemPrompt', { chatId, systemPrompt });
      const { chat } = get().conversation;
      if (chat?.id === chatId) patch('conversation', { chat: { ...chat, systemPrompt } });
    } catch (error) {
      report(error, chatId);
    }
  }

  function setTools(chatId: string, tools: ChatTools): void {
    const { chat } = get().conversation;
    if (chat?.id === chatId) patch('conversation', { chat: { ...chat, tools } });
  }

  function currentDraft(): Draft {
    return selectDraftOfOpenChat(get());
  }

  function setDraft(draft: Draft): void {
    patch('conversation', { drafts: withDraft(get().conversation.drafts, selectDraftKey(get()), draft) });
  }

  /** Behind what is written. */
  function quote(text: string): void {
    const quoted = text.replace(/^/gm, '> ').replace(/^> $/gm, '>');
    const draft = currentDraft();
    setDraft({ ...draft, text: `${[draft.text.trimEnd(), quoted].filter(Boolean).join('\n\n')}\n\n` });
  }

  return {
    open,
    show,
    startNew,
    showMessage,
    clearTarget: () => patch('conversation', { target: null }),
    receive,
    send,
    takeToNewChat,
    summarize,
    regenerate,
    goOn,
    edit,
    stop,
    selectBranch,
    setSystemPrompt,
    /** the open chat, or a new one with the draft */
    opened: () => openedChat(''),
    setTools,
    quote,
    setDraftText: (text: string) => setDraft({ ...currentDraft(), text }),
  };
}

/** Documents that are looked up stay with the chat; the words that were chosen for one question go with it. */
function draftAfter({ documents }: Draft): Draft {
  const kept = documents
    .filter(({ part }) => part.kind === 'passages')
    .map((one): DraftDocument => ({ ...one, part: { kind: 'passages', passages: [] } }));
  return kept.length > 0 ? { text: '', documents: kept } : emptyDraft;
}

/** The question goes below what is on the screen. */
function shownLeaf(chat: Chat): string | null {
  return pathTo(chat.messages, chat.leafId).at(-1)?.id ?? null;
}
