/** Chats on disk: chats/<id>.jsonl, append-only, with a trash folder beside it. The index can be deleted at any time. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { msg } from '@lingui/core/runtime-macro';
import type { ChatSummary, Message, Summary, TrashedChat } from '../../contract/chats';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import { SerialQueue } from '../../contract/lib/serialQueue';
import { Emitter } from '../lib/emitter';
import { appendText, readTextIfThere, writeFileAtomic } from '../lib/files';
import { Unsaved } from '../lib/unsaved';
import {
  applyRecord,
  type ChatRecord,
  type ChatState,
  emptyChat,
  endingsOf,
  findMessage,
  isOpen,
  type KeptRecord,
  parseLog,
  replay,
  summaryOf,
} from './chatLog';
import { ChatIndex, ChatTrash } from './chatTrash';

const chatsInMemory = 8;

export type FinalPart = Extract<ChatRecord, { type: 'final' }>['message'];

/** What the disk did not take of a log: behind what is in the file, or, after a repair, in its place. */
interface Unwritten {
  text: string;
  replaces: boolean;
  /** lines of the file that are to be set aside first */
  damaged: readonly string[];
}
type PartRecord = Extract<ChatRecord, { type: 'part' }>;

export class ChatStore {
  /** a summary changed, or a chat came or went */
  readonly changed = new Emitter<ChatSummary[]>();
  /** what a person should know about how the chats were read */
  readonly notices: string[] = [];
  private readonly chats = new Map<string, ChatState>();
  private readonly queues = new Map<string, SerialQueue>();
  /** answers being written, by message id, with their chat */
  private readonly unfinished = new Map<string, string>();
  /** lines that this run of the app set aside, by chat */
  private readonly damaged = new Map<string, number>();
  /** by chat; such a chat stays in memory */
  private readonly unwritten = new Map<string, Unwritten>();
  private readonly index: ChatIndex;
  private readonly trash: ChatTrash;

  constructor(
    private readonly folder: string,
    trashFolder: string,
    private readonly now: () => number = Date.now,
    private readonly unsaved = new Unsaved(),
  ) {
    this.index = new ChatIndex(join(folder, 'index.json'));
    this.trash = new ChatTrash(trashFolder, join(folder, 'trash.json'), now);
  }

  /** Reads the index and brings it up to date with the files; empties old trash. */
  async load(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.orNotice(() => this.trash.load());
    await this.index.load();
    const ids = (await readdir(this.folder)).filter((name) => name.endsWith('.jsonl')).map((name) => name.slice(0, -6));
    this.index.keepOnly(ids);
    for (const id of ids.filter(isChatId)) await this.orNotice(() => this.bringUpToDate(id));
    for (const id of this.chats.keys()) if (!this.unwritten.has(id)) this.chats.delete(id);
    await this.orNotice(() => this.index.save());
  }

  /** Waits for open writes and saves the index. */
  async close(): Promise<void> {
    await Promise.all([...this.queues.values()].map((queue) => queue.idle()));
    // they are made again from the logs
    await Promise.allSettled([this.index.save(), this.trash.save()]);
  }

  list(): ChatSummary[] {
    return this.index.summaries();
  }

  /** those in the trash too */
  async allIds(): Promise<string[]> {
    const names = await Promise.all([readdir(this.folder), readdir(this.trash.folder)]);
    return names.flat().flatMap((name) => (name.endsWith('.jsonl') ? [name.slice(0, -'.jsonl'.length)] : []));
  }

  /** Files with text of chats: the trash and what was set aside among them. */
  async files(ids?: readonly string[]): Promise<string[]> {
    const isWanted = (name: string) => (ids ? ids.some((id) => name.startsWith(`${id}.`)) : true);
    const inFolder = async (folder: string) =>
      (await readdir(folder))
        .filter((name) => /\.(jsonl|damaged\.txt)$/.test(name) && isWanted(name))
        .map((name) => join(folder, name));
    return (await Promise.all([this.folder, this.trash.folder].map(inFolder))).flat();
  }

  /** Chats in the trash. */
  trashed(): TrashedChat[] {
    return this.trash.list();
  }

  async create(title?: string, folder?: string): Promise<ChatSummary> {
    const id = randomUUID();
    const at = this.now();
    this.chats.set(id, emptyChat(id, at));
    const placed: ChatRecord[] = folder === undefined ? [] : [{ type: 'folder', at, folder }];
    await this.append(id, [{ type: 'chat', at, id, title: title ?? null }, ...placed], true);
    return this.emitChange(id);
  }

  /** A chat that its log begins with; `id`: of no other chat, those in the trash among them. `quiet`: the caller emits the change. */
  async add(id: string, records: ChatRecord[], quiet = false): Promise<ChatSummary> {
    await this.inOrder(id, async () => {
      await writeFileAtomic(this.pathOf(id), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      await this.state(id);
    });
    return this.emitChange(id, quiet);
  }

  /** The chat as it is now; the caller may keep it, it does not change any more. */
  open(id: string): Promise<ChatState> {
    return this.inOrder(id, async () => {
      const chat = await this.state(id);
      return { ...chat, messages: [...chat.messages], damagedLines: this.damaged.get(id) ?? 0 };
    });
  }

  async rename(id: string, title: string, auto = false): Promise<ChatSummary> {
    await this.append(id, [{ type: 'rename', at: this.now(), title, auto }], true);
    return this.emitChange(id);
  }

  /** By the model; a chat that a person has named keeps its name. Its place in the list is that of its last message. */
  async entitle(id: string, title: string): Promise<void> {
    await this.note(id, (at, { namedBy }) =>
      namedBy === 'question' ? { type: 'rename', at, title, auto: true, by: 'model' } : null,
    );
    this.emitChange(id);
  }

  async selectBranch(id: string, leafId: string): Promise<ChatState> {
    const chat = await this.open(id);
    if (!findMessage(chat, leafId)) throw gone('message');
    await this.append(id, [{ type: 'leaf', at: chat.updatedAt, leafId }], false);
    return this.open(id);
  }

  /** Appends a message below its parent and shows the branch that ends in it. */
  async addMessages(id: string, messages: Message[]): Promise<void> {
    await this.append(
      id,
      messages.map((message) => ({ type: 'message', at: this.now(), message })),
      true,
    );
    for (const message of messages) if (isOpen(message)) this.unfinished.set(message.id, id);
    this.emitChange(id);
  }

  async addPartial(id: string, messageId: string, text: string, thinking: string): Promise<void> {
    await this.append(id, [{ type: 'partial', at: this.now(), id: messageId, text, thinking }], false);
  }

  /** What must not be lost, however the answer that is being written ends. */
  async keep(id: string, record: KeptRecord): Promise<void> {
    await this.append(id, [{ ...record, at: this.now() }], true);
  }

  /** The parts of a summary as they are planned now. */
  async setSummary(id: string, messageId: string, summary: Summary): Promise<void> {
    await this.append(id, [{ type: 'summary', at: this.now(), id: messageId, summary }], true);
  }

  async addToPart(id: string, messageId: string, part: Pick<PartRecord, 'index' | 'text' | 'ms'>): Promise<void> {
    await this.append(id, [{ type: 'part', at: this.now(), id: messageId, ...part }], part.ms !== null);
  }

  /** An answer that had ended is being written again, behind what it has. */
  async reopen(id: string, messageId: string): Promise<void> {
    await this.append(id, [{ type: 'continue', at: this.now(), id: messageId }], true, (chat) => {
      if (findMessage(chat, messageId)?.stopReason === null) {
        throw new ConcertinaError('busy', msg`This answer is being written.`, msg`Wait for it, or stop it.`);
      }
    });
    this.unfinished.set(messageId, id);
  }

  /** Writes the final state of an answer and returns the message. */
  async finish(id: string, messageId: string, final: FinalPart): Promise<Message> {
    try {
      await this.append(id, [{ type: 'final', at: this.now(), id: messageId, message: final }], true);
    } finally {
      this.unfinished.delete(messageId);
    }
    this.emitChange(id);
    const message = findMessage(await this.open(id), messageId);
    if (!message) throw gone('message');
    return message;
  }

  async setPinned(id: string, pinned: boolean): Promise<ChatSummary> {
    await this.note(id, (at) => ({ type: 'pin', at, pinned }));
    return this.emitChange(id);
  }

  async setSystemPrompt(id: string, systemPrompt: string): Promise<void> {
    await this.note(id, (at) => ({ type: 'prompt', at, systemPrompt }));
  }

  /** null: out of its folder */
  async setFolder(ids: string[], folder: string | null): Promise<void> {
    for (const id of ids) await this.note(id, (at) => ({ type: 'folder', at, folder }));
    this.changed.emit(this.list());
  }

  /** Moves a chat to the trash. */
  remove(id: string): Promise<void> {
    return this.inOrder(id, async () => {
      const summary = this.index.get(id);
      if (!summary) throw gone('chat');
      await this.writeRest(id);
      await this.trash.take(this.pathOf(id), summary);
      this.chats.delete(id);
      this.index.remove(id);
      this.changed.emit(this.list());
    });
  }

  restore(id: string): Promise<ChatSummary> {
    return this.inOrder(id, async () => {
      if (!isChatId(id)) throw gone('chat');
      await this.trash.giveBack(id, this.pathOf(id));
      await this.state(id);
      return this.emitChange(id);
    });
  }

  /** Deletes chats of the trash for good, with what was set aside of them. */
  async destroy(ids: string[]): Promise<void> {
    for (const id of ids) {
      await this.inOrder(id, async () => {
        await this.trash.destroy(id);
        await rm(join(this.folder, `${id}.damaged.txt`), { force: true });
      });
    }
    this.changed.emit(this.list());
  }

  private async bringUpToDate(id: string): Promise<void> {
    const { size } = await stat(this.pathOf(id));
    if (!this.index.isCurrent(id, size)) await this.inOrder(id, () => this.state(id));
  }

  /** One file that cannot be read or written must not keep the app, and the other chats, from opening. */
  private async orNotice(task: () => Promise<unknown>): Promise<void> {
    try {
      await task();
    } catch (error) {
      const { message, hint } = toErrorPayload(error);
      this.notices.push(`${message} ${hint}`.trim());
    }
  }

  private pathOf(id: string): string {
    return join(this.folder, `${id}.jsonl`);
  }

  /** Appends what is no change of the chat's text: the time of its last change stays. */
  note(id: string, recordOf: (at: number, chat: ChatState) => ChatRecord | null): Promise<void> {
    return this.inOrder(id, async () => {
      const chat = await this.state(id);
      const record = recordOf(chat.updatedAt, chat);
      if (record) await this.write(id, chat, [record], true);
    });
  }

  /** `check` throws when the chat, as it is when its turn comes, is not to be written to. */
  private append(
    id: string,
    records: ChatRecord[],
    sync: boolean,
    check: (chat: ChatState) => void = () => undefined,
  ): Promise<void> {
    return this.inOrder(id, async () => {
      const chat = await this.state(id);
      check(chat);
      await this.write(id, chat, records, sync);
    });
  }

  /** Call it from the chat's queue only. */
  private async write(id: string, chat: ChatState, records: ChatRecord[], sync: boolean): Promise<void> {
    const text = records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const before = this.unwritten.get(id);
    if (before) this.unwritten.set(id, { ...before, text: before.text + text });
    else {
      await appendText(this.pathOf(id), text, sync).catch((error: unknown) =>
        this.hold(id, { text, replaces: false, damaged: [] }, error),
      );
    }
    for (const record of records) applyRecord(chat, record);
    this.index.set(summaryOf(chat), Buffer.byteLength(text));
  }

  /** The chat in memory, read from disk when needed. Call it from the chat's queue only. */
  private async state(id: string): Promise<ChatState> {
    const known = this.chats.get(id);
    const chat = known ?? (await this.read(id));
    this.chats.delete(id);
    this.chats.set(id, chat);
    this.forgetOldChats();
    return chat;
  }

  private async read(id: string): Promise<ChatState> {
    const text = isChatId(id) ? await readTextIfThere(this.pathOf(id)) : null;
    if (text === null) throw gone('chat');
    const { records, damaged } = parseLog(text);
    const { birthtimeMs } = await stat(this.pathOf(id));
    const chat = replay(id, birthtimeMs, records);
    const endings = endingsOf(chat, (messageId) => this.unfinished.has(messageId));
    for (const record of endings) applyRecord(chat, record);
    const repaired = [...records, ...endings].map((record) => `${JSON.stringify(record)}\n`).join('');
    const needsRepair = damaged.length > 0 || endings.length > 0 || !(text === '' || text.endsWith('\n'));
    if (needsRepair) {
      this.unwritten.set(id, { text: repaired, replaces: true, damaged });
      await this.writeRest(id).catch((error: unknown) => this.hold(id, this.unwritten.get(id), error));
    }
    this.index.replace(summaryOf(chat), Buffer.byteLength(needsRepair ? repaired : text));
    return chat;
  }

  private async keepDamaged(id: string, lines: readonly string[]): Promise<void> {
    await appendText(join(this.folder, `${id}.damaged.txt`), `${lines.join('\n')}\n`, true);
    this.damaged.set(id, (this.damaged.get(id) ?? 0) + lines.length);
  }

  /** Call it from the chat's queue only. */
  private async writeRest(id: string): Promise<void> {
    const rest = this.unwritten.get(id);
    if (!rest) return;
    if (rest.damaged.length > 0) await this.keepDamaged(id, rest.damaged);
    this.unwritten.set(id, { ...rest, damaged: [] });
    if (rest.replaces) await writeFileAtomic(this.pathOf(id), rest.text);
    else await appendText(this.pathOf(id), rest.text, true);
    this.unwritten.delete(id);
  }

  private hold(id: string, rest: Unwritten | undefined, error: unknown): void {
    try {
      this.unsaved.hold(this.pathOf(id), 'this answer', error, () => this.inOrder(id, () => this.writeRest(id)));
      if (rest) this.unwritten.set(id, rest);
    } catch {
      this.unwritten.delete(id);
      this.chats.delete(id);
      throw error;
    }
  }

  private emitChange(id: string, quiet = false): ChatSummary {
    const summary = this.index.get(id);
    if (!summary) throw gone('chat');
    if (!quiet) this.changed.emit(this.list());
    return summary;
  }

  private forgetOldChats(): void {
    const busy = new Set([...this.unfinished.values(), ...this.unwritten.keys()]);
    for (const id of this.chats.keys()) {
      if (this.chats.size <= chatsInMemory) return;
      if (!busy.has(id)) this.chats.delete(id);
    }
  }

  private inOrder<T>(id: string, task: () => Promise<T>): Promise<T> {
    const queue = this.queues.get(id) ?? new SerialQueue();
    this.queues.set(id, queue);
    const result = queue.run(task);
    void queue.idle().then(() => {
      if (queue.size === 0) this.queues.delete(id);
    });
    return result;
  }
}

export function isChatId(id: string): boolean {
  return /^[A-Za-z0-9-]{1,64}$/.test(id);
}

function gone(what: 'chat' | 'message'): ConcertinaError {
  const texts = { chat: msg`This chat is not there any more.`, message: msg`This message is not there any more.` };
  return new ConcertinaError('not-found', texts[what]);
}
