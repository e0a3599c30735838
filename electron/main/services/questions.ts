/** A question before it is sent: the blocks of its documents, and the passages that are looked up for it. */
import type { Attachment } from '../../shared/attachments';
import { reserveOf } from '../../shared/budget';
import type { Chat } from '../../shared/chats';
import type { PromptMessage, PromptOptions } from '../../shared/engineContract';
import { ConcertinaError } from '../../shared/errors';
import type { Settings } from '../../shared/settings';
import type { CountingModel, DocumentCounts } from './documents/documentCounts';
import type { DocumentTexts } from './documents/documentTexts';
import type { Retrieval } from './documents/retrieval';
import { type RollSource, rollBranch } from './overflow';
import { asRead, buildPrompt, type PromptSource, systemPromptOf } from './prompt';

/** What counting needs of the engine; `EngineService` is one. */
export interface CountingEngine extends CountingModel {
  /** of the prompt that the chat template makes of them */
  countTokens(messages: PromptMessage[], options: PromptOptions): Promise<{ tokens: number }>;
  /** 0: nothing is loaded */
  contextSize(): number;
  /** a model is loaded; rejects when none is on its way */
  whenReady(signal: AbortSignal): Promise<void>;
}

/** characters of one document that are written out for a count: nothing of it holds up the window's thread for long */
const mostWritten = 2_000_000;

/** What of a chat stands in its prompts beside its messages; null: it is not begun. */
export type PromptChat = Pick<Chat, 'systemPrompt' | 'createdAt'> | null;

export interface Question {
  chat: PromptChat;
  /** messages before it */
  branch: readonly (PromptSource & RollSource)[];
  text: string;
  attachments: readonly Attachment[];
}

export class Questions {
  constructor(
    private readonly engine: CountingEngine,
    private readonly texts: DocumentTexts,
    private readonly counts: DocumentCounts,
    private readonly retrieval: Retrieval,
    private readonly settings: () => Settings,
  ) {}

  /** The prompt of a branch, whose last message is the question. */
  prompt(chat: PromptChat, branch: readonly PromptSource[]): Promise<PromptMessage[]> {
    return buildPrompt(this.systemPrompt(chat), branch, (attachment) => this.texts.block(attachment));
  }

  systemPrompt(chat: PromptChat): string {
    return systemPromptOf(chat, this.settings());
  }

  /**
   * Tokens of its prompt. Documents far beyond any context are not written out for each count: their own tokens are added,
   * which can differ by one or two where they touch the words around them.
   */
  async total(chat: PromptChat, branch: readonly PromptSource[]): Promise<number> {
    let added = 0;
    const sources: PromptSource[] = [];
    for (const source of branch.map(asRead)) {
      const large = await this.large(source.attachments);
      for (const attachment of large) added += await this.counts.block(attachment);
      sources.push({ ...source, attachments: source.attachments.filter((one) => !large.includes(one)) });
    }
    const prompt = await this.prompt(chat, sources);
    // a template that tells the day tells the one on which the chat began
    const now = chat?.createdAt ?? Date.now();
    return added + (prompt.length === 0 ? 0 : (await this.engine.countTokens(prompt, { now })).tokens);
  }

  reserve(): number {
    return reserveOf(this.settings().documents.reserve, this.engine.contextSize());
  }

  /**
   * Its attachments as they are kept, with their passages. Rejects with `context-full` when there is room for none, or when
   * a document alone is larger than the context by far.
   */
  async attachments(question: Question): Promise<Attachment[]> {
    const large = await this.large(question.attachments);
    if (large.length === 0 && !question.attachments.some(isToBeFilled)) return [...question.attachments];
    await this.engine.whenReady(new AbortController().signal);
    for (const attachment of large) await this.checkSize(attachment);
    const filled = await this.filled(question);
    const without = filled.find(isToBeFilled);
    if (without) throw noRoom(without.name);
    return filled;
  }

  /** The same for a draft: passages that there is no room for are left out. */
  async filled(question: Question): Promise<Attachment[]> {
    const { chat, branch, text, attachments } = question;
    const open = attachments.filter(isToBeFilled).length;
    if (open === 0) return [...attachments];
    const fixed = { role: 'user' as const, text, attachments: attachments.filter(isFixed) };
    const { retrievalTokens } = this.settings().documents;
    const room = await this.room(chat, [...branch, fixed], retrievalTokens);
    const most = Math.floor(Math.min(retrievalTokens, room) / open);
    const filled: Attachment[] = [];
    for (const attachment of attachments) {
      filled.push(isFixed(attachment) ? attachment : await this.retrieval.choose(attachment, text, most));
    }
    return filled;
  }

  /** Tokens that the context leaves beside a branch; where old turns may go, they go for `wanted` tokens too. */
  private async room(
    chat: PromptChat,
    branch: readonly (PromptSource & RollSource)[],
    wanted: number,
  ): Promise<number> {
    const all = this.engine.contextSize() - this.reserve();
    const count = (some: readonly PromptSource[]) => this.total(chat, some);
    if (this.settings().overflow !== 'roll') return all - (await count(branch));
    const rolled = (await rollBranch(branch, count, all - wanted)) ?? (await rollBranch(branch, count, all));
    return rolled ? all - (await count(rolled.branch)) : 0;
  }

  private async large(attachments: readonly Attachment[]): Promise<Attachment[]> {
    const large: Attachment[] = [];
    for (const attachment of attachments) {
      if ((await this.texts.characters(attachment)) > mostWritten) large.push(attachment);
    }
    return large;
  }

  private async checkSize(attachment: Attachment): Promise<void> {
    const tokens = await this.counts.block(attachment);
    const size = this.engine.contextSize();
    if (tokens > size) throw tooLarge(attachment.name, tokens, size);
  }
}

function isToBeFilled({ part }: Attachment): boolean {
  return part.kind === 'passages' && part.passages.length === 0;
}

function isFixed(attachment: Attachment): boolean {
  return !isToBeFilled(attachment);
}

function tooLarge(name: string, tokens: number, size: number): ConcertinaError {
  return new ConcertinaError(
    'context-full',
    `${name} has ${tokens.toLocaleString('en')} tokens, the context holds ${size.toLocaleString('en')}.`,
    'Attach pages, headings or passages of it, or choose a longer context.',
  );
}

function noRoom(name: string): ConcertinaError {
  return new ConcertinaError(
    'context-full',
    `The context has no room for passages of ${name}.`,
    'Choose a longer context, or ask in a new chat.',
  );
}
