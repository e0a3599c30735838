/**
 * The messages that the model sees for an answer: the system prompt and the branch, as chat templates accept them, with the
 * blocks of documents and the passages that are looked up for a question. What was sent once keeps its bytes: the messages of
 * a turn begin with those of the turn before it.
 */

import {
  type Attachment,
  type AttachmentPart,
  type Chat,
  type Message,
  type PromptBudget,
  releasedOf,
  reserveOf,
} from '../../contract/chats';
import type { OperationInput, OperationOutput } from '../../contract/contract';
import type { PromptMessage } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import type { Settings } from '../../contract/settings';
import type { DocumentStore } from '../documents/documentStore';
import type { DocumentCounts, DocumentTexts } from '../documents/documentTexts';
import type { Retrieval } from '../documents/retrieval';
import type { EngineService } from '../engine/engineService';
import { branchTo } from './chatLog';
import type { ChatStore } from './chatStore';
import { type Fitted, fitBranch, type RollSource } from './contextShift';
import { resultsText } from './summaryPlan';

/** A message, or the draft of one. */
export type PromptSource = Pick<Message, 'role' | 'text' | 'attachments' | 'summary'>;

/** The system prompt of a chat: the one that it began with, or the general one for a chat that is not begun. */
export function systemPromptOf(
  chat: Pick<Chat, 'systemPrompt'> | null,
  settings: Pick<Settings, 'systemPrompt'>,
): string {
  return chat?.systemPrompt ?? settings.systemPrompt;
}

/**
 * What the model reads of a message. Documents that were read part by part are too long for it: it sees the summary, or
 * the parts for as long as there is none.
 */
export function asRead({ role, text, attachments, summary }: PromptSource): PromptSource {
  if (!summary) return { role, text, attachments };
  if (role === 'user') return { role, text, attachments: [] };
  const written = summary.parts.filter((part) => part.text.trim() !== '');
  return { role, text: text || resultsText(written).trim(), attachments };
}

/** Gives the block of an attached document. */
export type BlockOf = (attachment: Attachment) => Promise<string>;

/**
 * Templates expect the roles to take turns. An answer without text (it failed, or was stopped at once) is left out, and
 * two questions that then follow each other become one message. Documents stand before the words of their question.
 */
export async function buildPrompt(
  systemPrompt: string,
  branch: readonly PromptSource[],
  blockOf: BlockOf,
): Promise<PromptMessage[]> {
  const prompt: PromptMessage[] = [];
  if (systemPrompt.trim() !== '') prompt.push({ role: 'system', content: systemPrompt });
  for (const { role, text, attachments } of branch.map(asRead)) {
    let content = '';
    const documents: NonNullable<PromptMessage['documents']> = [];
    for (const [index, attachment] of attachments.entries()) {
      content += await blockOf(attachment);
      const { documentId, name, part } = attachment;
      // passages are another text for each question
      if (part.kind === 'passages' || documents.length < index) continue;
      documents.push({ id: documentId, name, end: content.length });
    }
    const first = prompt.every((message) => message.role === 'system');
    append(prompt, { role, content: content + text, ...(first && documents.length > 0 && { documents }) });
  }
  return prompt;
}

function append(prompt: PromptMessage[], message: PromptMessage): void {
  if (message.content === '') return;
  const last = prompt.at(-1);
  if (last?.role === message.role) last.content = `${last.content}\n\n${message.content}`;
  else prompt.push(message);
}

type CountingEngine = Pick<
  EngineService,
  'countTokens' | 'contextSize' | 'trainedContext' | 'whenReady' | 'countTexts'
>;

/** characters of one document that are written out for a count: nothing of it holds up the window's thread for long */
const mostWritten = 2_000_000;

/** What of a chat stands in its prompts beside its messages; null: it is not begun. */
type PromptChat = Pick<Chat, 'systemPrompt' | 'createdAt'> | null;

interface Question {
  chat: PromptChat;
  /** messages before it */
  branch: readonly (PromptSource & RollSource)[];
  text: string;
  attachments: readonly Attachment[];
}

type QuestionSource = PromptSource & RollSource;

/** A question as it would be asked now. */
interface Prepared {
  /** with passages, as many as there is room for */
  attachments: Attachment[];
  /** what it is read with: earlier messages without what had to leave, and the question */
  fitted: Fitted<QuestionSource>;
  /** a document of which not even one passage has room; null: there is none */
  unfilled: string | null;
  /** tokens of passages that there was room for; null: as many as are set, or none */
  fewer: number | null;
}

/** What would make a question fit. */
interface Remedies {
  /** the policy `roll` */
  leaveOut: boolean;
  /** the same question as the first of a new chat */
  newChat: boolean;
}

/** tries to look up fewer passages, when those that were looked up take a token too much in their place */
const mostTries = 4;

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
    // a template that prints the date prints the one on which the chat began
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
    const { attachments, unfilled } = await this.prepare(question);
    if (unfilled !== null) throw this.noRoom(unfilled, await this.remedies(question));
    return attachments;
  }

  /**
   * The question as it would be asked now: passages are looked up for it, and what there is no room for leaves, of earlier
   * questions first. The answer is given the same prompt, see `AnswerWriter`.
   */
  async prepare(question: Question, rolls = this.settings().overflow === 'roll'): Promise<Prepared> {
    const { chat, branch, text, attachments } = question;
    const room = { tokens: this.engine.contextSize() - this.reserve(), rolls };
    const count = (some: readonly PromptSource[]) => this.total(chat, some);
    const fitWith = (own: Attachment[]) =>
      fitBranch<QuestionSource>([...branch, { role: 'user', text, attachments: own }], count, room);
    const isOpen = attachments.map(isToBeFilled);
    const open = isOpen.filter(Boolean).length;
    if (open === 0)
      return { attachments: [...attachments], fitted: await fitWith([...attachments]), unfilled: null, fewer: null };

    const lookUp = (tokens: number) => this.filled(attachments, text, Math.floor(tokens / open));
    let filled = await lookUp(this.settings().documents.retrievalTokens);
    let fitted = await fitWith(filled);
    let fewer: number | null = null;
    for (let tries = 1; !fitted.fits && tries <= mostTries; tries++) {
      const lookedUp = filled.filter((one, index) => isOpen[index] && isFixed(one));
      if (lookedUp.length === 0) break;
      // all that can leave has left: fewer of its own passages are what remains
      const most = (await this.tokensOf(lookedUp)) - (fitted.total - room.tokens);
      fewer = tries < mostTries ? Math.max(0, most) : 0;
      filled = await lookUp(fewer);
      fitted = await fitWith(filled);
    }
    const unfilled = filled.find(isToBeFilled)?.name ?? null;
    return { attachments: filled, fitted, unfilled, fewer: unfilled === null ? fewer : null };
  }

  /** For a question that does not fit. The first one of a chat is itself too long. */
  async remedies(question: Question): Promise<Remedies> {
    if (question.branch.length === 0) return { leaveOut: false, newChat: false };
    const fits = async (other: Question, rolls: boolean) => {
      const { fitted, unfilled } = await this.prepare(other, rolls);
      return fitted.fits && unfilled === null;
    };
    const rolls = this.settings().overflow === 'roll';
    return {
      leaveOut: !rolls && (await fits(question, true)),
      newChat: await fits({ ...question, chat: null, branch: [] }, rolls),
    };
  }

  /** `most`: tokens of the passages of one document */
  private async filled(attachments: readonly Attachment[], text: string, most: number): Promise<Attachment[]> {
    const filled: Attachment[] = [];
    for (const attachment of attachments) {
      filled.push(isFixed(attachment) ? attachment : await this.retrieval.choose(attachment, text, most));
    }
    return filled;
  }

  private async tokensOf(attachments: readonly Attachment[]): Promise<number> {
    let tokens = 0;
    for (const attachment of attachments) tokens += await this.counts.block(attachment);
    return tokens;
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

  /** Names only what would help. */
  private noRoom(name: string, { leaveOut, newChat }: Remedies): ConcertinaError {
    const size = this.engine.contextSize();
    const ways = [
      ...(leaveOut ? ['have the oldest messages left out when the context is full (in the settings)'] : []),
      ...(newChat ? [`ask in a new chat with ${name}`] : []),
      ...(size < this.engine.trainedContext() ? ['choose a longer context'] : []),
    ];
    const full = newChat ? 'This chat is full' : 'This question is too long';
    return new ConcertinaError(
      'context-full',
      `${full}: the context of ${size.toLocaleString('en')} tokens has no room left for passages of ${name}.`,
      ways.length > 0 ? `You can ${ways.join(', or ')}.` : 'Ask with fewer words.',
    );
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

// What a draft would take of the context, before it is sent: the exact prompt, counted by the loaded model.

export class BudgetService {
  constructor(
    private readonly chats: ChatStore,
    private readonly engine: CountingEngine,
    private readonly questions: Questions,
    private readonly counts: DocumentCounts,
    private readonly store: DocumentStore,
  ) {}

  async budget({ chatId, leafId, draft, attachments }: OperationInput<'turns.budget'>): Promise<PromptBudget> {
    const chat = chatId === null ? null : await this.chats.open(chatId);
    const question = { chat, branch: chat ? branchTo(chat, leafId) : [], text: draft, attachments };
    const { fitted, unfilled, fewer } = await this.questions.prepare(question);
    const { total, branch } = fitted;
    const asked = branch.at(-1);
    const { byDocument, ...parts } = await this.parts(
      this.questions.systemPrompt(chat),
      branch.slice(0, -1).map(asRead),
      asked ?? { role: 'user', text: '', attachments: [] },
    );
    const contextSize = this.engine.contextSize();
    const reserve = this.questions.reserve();
    const over = Math.max(0, total + reserve - contextSize);
    const fits = over === 0 && unfilled === null;
    return {
      ...{ ...withTemplate(parts, total), total, reserve, contextSize, fits, over, byDocument },
      ...(await this.leaving(question, fitted)),
      ...(unfilled === null ? {} : { unfilled }),
      ...(fewer === null ? {} : { fewer }),
      ...(fits ? {} : { remedies: await this.questions.remedies(question) }),
    };
  }

  /** What goes for this question, and the price of it. */
  private async leaving({ chat, branch }: Question, fitted: Prepared['fitted']): Promise<Partial<PromptBudget>> {
    const released = fitted.released - releasedOf(branch);
    const earlier = fitted.branch.slice(0, -1);
    const count = (some: readonly PromptSource[]) => this.questions.total(chat, some);
    const readAgain =
      fitted.kept < earlier.length ? (await count(earlier)) - (await count(earlier.slice(0, fitted.kept))) : 0;
    return {
      ...(fitted.leftOut > 0 ? { leftOut: fitted.leftOut } : {}),
      ...(released > 0 ? { released } : {}),
      ...(readAgain > 0 ? { readAgain } : {}),
    };
  }

  async countDocument(
    documentId: string,
    part: AttachmentPart = { kind: 'whole' },
  ): Promise<OperationOutput<'documents.countTokens'>> {
    const { name } = await this.store.get(documentId);
    const tokens = await this.counts.block({ documentId, name, part });
    return { tokens, sections: part.kind === 'whole' ? await this.counts.sections(documentId) : null };
  }

  private async parts(systemPrompt: string, branch: readonly PromptSource[], question: PromptSource) {
    const attached = [
      ...branch.flatMap(({ attachments }) => attachments.map((attachment) => ({ attachment, inBranch: true }))),
      ...question.attachments.map((attachment) => ({ attachment, inBranch: false })),
    ];
    const byDocument: PromptBudget['byDocument'] = [];
    for (const { attachment, inBranch } of attached) {
      const tokens = await this.counts.block(attachment);
      const { documentId, part } = attachment;
      const words = part.kind === 'passages' ? part.words : undefined;
      byDocument.push({ documentId, tokens, inBranch, ...(words === undefined ? {} : { words }) });
    }
    const texts = [systemPrompt.trim() === '' ? '' : systemPrompt, question.text, ...branch.map(({ text }) => text)];
    const [system = 0, message = 0, ...history] = await this.engine.countTexts(texts);
    const documents = sum(byDocument.map(({ tokens }) => tokens));
    return { system, message, documents, history: sum(history), byDocument };
  }
}

type Parts = Pick<PromptBudget, 'system' | 'documents' | 'history' | 'message'>;

/**
 * The template takes what the parts leave. Parts that are counted alone can come to a token more than in their place,
 * where the words at a border become one token: then the largest part gives it.
 */
function withTemplate(parts: Parts, total: number): Parts & { template: number } {
  const template = total - parts.system - parts.documents - parts.history - parts.message;
  if (template >= 0) return { ...parts, template };
  const names = Object.keys(parts) as (keyof Parts)[];
  const largest = names.reduce((best, name) => (parts[name] > parts[best] ? name : best));
  return { ...parts, [largest]: parts[largest] + template, template: 0 };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
