/**
 * What of the messages that a brief stands for fits a question: their best stretches come back before it, as passages of a
 * document do, and stay with it.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Chat, type Message, type Recalled, reserveOf } from '../../contract/chats';
import type { Attachment } from '../../contract/lib/attachments';
import { briefOn, coveredBy, recallShare } from '../../contract/lib/brief';
import { fold } from '../../contract/lib/textSearch';
import type { Settings } from '../../contract/settings';
import type { PassageSearch } from '../documents/retrieval';
import type { EngineService } from '../engine/engineService';
import type { Logger } from '../lib/logger';
import { branchTo } from './chatLog';
import { type BranchMessage, promptBranch, recalledText } from './promptBranch';
import type { Questions } from './promptBuilder';

/** passages that are looked at for one question */
const mostCandidates = 24;
/** characters of the end of a question: what was pasted before it would find itself */
const mostOfQuestion = 2000;
/** characters: what is shorter says nothing */
const leastCharacters = 12;
const between = '\n\n';

interface Asked {
  chat: Chat | null;
  /** the message that the question follows */
  parentId: string | null;
  text: string;
  /** with their passages, or still without */
  attachments: readonly Attachment[];
}

export class Recall {
  constructor(
    private readonly passages: Pick<PassageSearch, 'ask'>,
    private readonly engine: Pick<EngineService, 'countTexts' | 'contextSize' | 'whenReady'>,
    private readonly questions: Pick<Questions, 'prepare'>,
    private readonly settings: () => Settings,
    /** for the texts that are searched, as long as that takes */
    private readonly folder: string,
    private readonly log: Logger,
  ) {}

  /** In their order; none: no brief is in use, no word of the question is in the messages, or there is no room. */
  async find({ chat, parentId, text, attachments }: Asked): Promise<Recalled[]> {
    const path = chat ? branchTo(chat, parentId) : [];
    const brief = chat && briefOn(path, chat.briefs);
    if (!brief || text.trim() === '') return [];
    await this.engine.whenReady(new AbortController().signal);
    const branch = promptBranch(chat, parentId);
    const { fitted } = await this.questions.prepare({ chat, branch, text, attachments });
    const size = this.engine.contextSize();
    const free = size - reserveOf(this.settings().documents.reserve, size) - fitted.total;
    const most = Math.min(free, this.settings().documents.retrievalTokens, Math.floor(size * recallShare));
    if (most <= 0) return [];
    const covered = coveredBy(path, brief.throughId);
    const messages = path.filter(({ id }) => covered.has(id));
    const found = await this.search(`${chat.id} ${brief.throughId}`, messages, text).catch((error: unknown) => {
      // the question goes without them
      this.log.warn(`Nothing was looked up in earlier messages: ${String(error)}`);
      return [];
    });
    return this.cheapEnough(found, messages, most);
  }

  /** What stands before the question in its prompt. */
  async before(asked: Asked): Promise<string> {
    const { chat } = asked;
    return chat ? recalledText(chat.messages, await this.find(asked)) : '';
  }

  /** The best first. */
  private async search(id: string, messages: readonly Message[], question: string): Promise<Recalled[]> {
    const textPath = join(this.folder, `earlier-${randomUUID()}`);
    const query = question.slice(-mostOfQuestion).trim();
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await writeFile(textPath, messages.map(({ text }) => text).join(between), { mode: 0o600 });
      const found = await this.passages.ask({ documentId: id, textPath, query, limit: mostCandidates });
      const words = found.words.split(/[\s"]+/).filter(Boolean);
      if (found.all === 0) return [];
      return found.passages.flatMap(({ start, end }) => piecesOf(messages, start, end, words.map(beginningOf)));
    } finally {
      await rm(textPath, { force: true });
    }
  }

  /** One that is too long leaves its room to the next. */
  private async cheapEnough(
    found: readonly Recalled[],
    messages: readonly Message[],
    most: number,
  ): Promise<Recalled[]> {
    const texts = found.map((one) => recalledText(messages, [one]));
    const tokens = await this.engine.countTexts(texts);
    let left = most;
    const chosen = found.filter((_, index) => {
      const cost = tokens[index] ?? 0;
      if (cost > left) return false;
      left -= cost;
      return true;
    });
    const place = ({ messageId }: Recalled) => messages.findIndex(({ id }) => id === messageId);
    return joined(chosen.sort((a, b) => place(a) - place(b) || a.start - b.start));
  }
}

/** Words are found in other forms, too. */
function beginningOf(word: string): string {
  return fold(word).slice(0, Math.max(5, word.length - 2));
}

/** A passage of the whole text, message by message: those that have some of the words, the one with most of them first. */
function piecesOf(messages: readonly Message[], start: number, end: number, words: readonly string[]): Recalled[] {
  const pieces: { piece: Recalled; count: number }[] = [];
  let at = 0;
  for (const { id, text } of messages) {
    const [from, to] = [Math.max(0, start - at), Math.min(text.length, end - at)];
    const folded = fold(text.slice(from, Math.max(from, to)));
    const count = words.filter((word) => folded.includes(word)).length;
    if (to - from >= leastCharacters && count > 0)
      pieces.push({ piece: { messageId: id, start: from, end: to }, count });
    at += text.length + between.length;
  }
  return pieces.sort((one, other) => other.count - one.count).map(({ piece }) => piece);
}

/** Those that touch or overlap are one. */
function joined(pieces: readonly Recalled[]): Recalled[] {
  const all: Recalled[] = [];
  for (const piece of pieces) {
    const last = all.at(-1);
    if (last?.messageId === piece.messageId && piece.start <= last.end + 1) last.end = Math.max(last.end, piece.end);
    else all.push({ ...piece });
  }
  return all;
}

/** A question with what was recalled for it, behind the branch that it follows. */
export function asked(chat: Chat, question: Message): BranchMessage[] {
  return promptBranch({ ...chat, messages: [...chat.messages, question] }, question.id);
}
