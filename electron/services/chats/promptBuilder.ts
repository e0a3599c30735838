/**
 * The messages that the model sees for an answer: the system prompt and the branch, as chat templates accept them, with the
 * blocks of documents and the passages that are looked up for a question. What was sent once keeps its bytes: the messages of
 * a turn begin with those of the turn before it.
 */

import type { MessageDescriptor } from '@lingui/core';
import { msg } from '@lingui/core/runtime-macro';
import { type Chat, type Message, releasedOf, reserveOf, withoutReleased } from '../../contract/chats';
import type { PromptMessage, PromptOptions } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { type Attachment, isMedia, mediaLast } from '../../contract/lib/attachments';
import { briefShare } from '../../contract/lib/brief';
import type { Settings } from '../../contract/settings';
import { givenIn, givenOf, isArguments, promptTools, resultOf, type ToolRound } from '../../contract/tools/tools';
import type { DocumentCounts, DocumentTexts } from '../documents/documentTexts';
import { type MediaBlock, type MediaFiles, mediaBehind } from '../documents/mediaFiles';
import type { Retrieval } from '../documents/retrieval';
import type { EngineService } from '../engine/engineService';
import { type Fitted, fitBranch, type RollSource } from './contextShift';
import { type BranchMessage, shortened } from './promptBranch';
import { resultsText } from './summaryPlan';

/** A message, or the draft of one. */
export type PromptSource = Pick<Message, 'role' | 'text' | 'attachments' | 'summary' | 'rounds'>;

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
export function asRead({ role, text, attachments, summary, rounds }: PromptSource): PromptSource {
  if (!summary) return { role, text, attachments, ...(rounds && { rounds }) };
  if (role === 'user') return { role, text, attachments: [] };
  const written = summary.parts.filter((part) => part.text.trim() !== '');
  return { role, text: text || resultsText(written).trim(), attachments };
}

/** Gives the block of an attached document. */
export type BlockOf = (attachment: Attachment) => Promise<string>;

/**
 * Templates expect the roles to take turns. An answer without text (it failed, or was stopped at once) is left out, and
 * two questions that then follow each other become one message. Documents stand before the words of their question. Rounds stand
 * before the text of an answer, and behind that of a question whose answer is being written.
 */
export async function buildPrompt(
  systemPrompt: string,
  branch: readonly PromptSource[],
  blockOf: BlockOf,
  mediaOf?: (attachment: Attachment) => Promise<MediaBlock>,
): Promise<PromptMessage[]> {
  const prompt: PromptMessage[] = [];
  const given = (attachment: Attachment): MediaBlock | Promise<MediaBlock> =>
    mediaOf && isMedia(attachment.part)
      ? mediaOf(attachment)
      : blockOf(attachment).then((text) => ({ text, media: [] }));
  if (systemPrompt.trim() !== '') prompt.push({ role: 'system', content: systemPrompt });
  for (const { role, text, attachments, rounds = [] } of branch.map(asRead)) {
    const called: PromptMessage[] = [];
    for (const round of rounds) called.push(...(await roundMessages(round, given)));
    if (role === 'assistant') prompt.push(...called);
    let content = '';
    const documents: NonNullable<PromptMessage['documents']> = [];
    const media: NonNullable<PromptMessage['media']> = [];
    for (const [index, attachment] of mediaLast(attachments).entries()) {
      const { documentId, name, part } = attachment;
      const block = await given(attachment);
      media.push(...mediaBehind(content.length, block.media));
      content += block.text;
      // passages are another text for each question
      if (part.kind === 'passages' || isMedia(part) || documents.length < index) continue;
      documents.push({ id: documentId, name, end: content.length });
    }
    const first = prompt.every((message) => message.role === 'system');
    const beside = { ...(first && documents.length > 0 && { documents }), ...(media.length > 0 && { media }) };
    append(prompt, { role, content: content + text, ...beside });
    if (role === 'user') prompt.push(...called);
  }
  return prompt;
}

/** Documents that results are kept as stand behind what is said of them. */
async function roundMessages(
  { text, thinking, calls }: ToolRound,
  given: (attachment: Attachment) => MediaBlock | Promise<MediaBlock>,
): Promise<PromptMessage[]> {
  const toolCalls = calls.map(({ id, name, arguments: given }) => {
    // templates take them apart
    return { id, name, arguments: given.trim() !== '' && isArguments(given) ? given : '{}' };
  });
  const results: PromptMessage[] = [];
  for (const call of calls) {
    let content = resultOf(call);
    const media: MediaBlock['media'] = [];
    for (const attachment of mediaLast(givenOf(call))) {
      const block = await given(attachment);
      content += '\n\n';
      media.push(...mediaBehind(content.length, block.media));
      content += block.text.trimEnd();
    }
    results.push({ role: 'tool', content, toolCallId: call.id, ...(media.length > 0 && { media }) });
  }
  return [{ role: 'assistant', content: text, ...(thinking && { thinking }), toolCalls }, ...results];
}

function append(prompt: PromptMessage[], message: PromptMessage): void {
  if (message.content === '') return;
  const last = prompt.at(-1);
  if (last?.role !== message.role) return void prompt.push(message);
  const before = `${last.content}\n\n`;
  last.content = before + message.content;
  if (message.media) last.media = [...(last.media ?? []), ...mediaBehind(before.length, message.media)];
}

export type CountingEngine = Pick<
  EngineService,
  'countTokens' | 'contextSize' | 'trainedContext' | 'whenReady' | 'countTexts'
>;

/** characters of one document that are written out for a count: nothing of it holds up the window's thread for long */
const mostWritten = 2_000_000;

/** What of a chat stands in its prompts beside its messages; null: it is not begun. */
type PromptChat = (Pick<Chat, 'systemPrompt' | 'createdAt'> & Partial<Pick<Chat, 'tools'>>) | null;

/** What its prompts hang on beside their messages: a template that prints the date prints the one on which the chat began. */
export type ChatOptions = Pick<PromptOptions, 'now' | 'tools' | 'mustCall'>;

export function chatOptions(chat: PromptChat): ChatOptions {
  const now = chat?.createdAt ?? Date.now();
  return chat?.tools?.chosen.length ? { now, tools: promptTools(chat.tools) } : { now };
}

export interface Question {
  chat: PromptChat;
  /** messages before it */
  branch: readonly BranchMessage[];
  text: string;
  attachments: readonly Attachment[];
}

type QuestionSource = PromptSource & RollSource;

/** A question as it would be asked now. */
export interface Prepared {
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
  /** a brief in place of the oldest messages, if it is as short as it may be */
  brief: boolean;
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
    private readonly media: MediaFiles,
    private readonly settings: () => Settings,
  ) {}

  /** The prompt of a branch, whose last message is the question. */
  async prompt(chat: PromptChat, branch: readonly PromptSource[]): Promise<PromptMessage[]> {
    const given = branch.map(asRead).flatMap(({ attachments, rounds }) => [...attachments, ...givenIn(rounds)]);
    this.media.requireSensed(given);
    const blockOf: BlockOf = (one) => this.texts.block(one);
    return buildPrompt(this.systemPrompt(chat), branch, blockOf, (one) => this.media.block(one));
  }

  /** As it stands before anything has to leave for a new answer. */
  promptBefore(chat: PromptChat, branch: readonly QuestionSource[]): Promise<PromptMessage[]> {
    return this.prompt(chat, withoutReleased(branch, releasedOf(branch)));
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
    return added + (prompt.length === 0 ? 0 : (await this.engine.countTokens(prompt, chatOptions(chat))).tokens);
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
    if (question.branch.length === 0) return { leaveOut: false, newChat: false, brief: false };
    const fits = async (other: Question, rolls: boolean) => {
      const { fitted, unfilled } = await this.prepare(other, rolls);
      return fitted.fits && unfilled === null;
    };
    const rolls = this.settings().overflow === 'roll';
    const branch = shortened(question.branch, briefShare);
    return {
      leaveOut: !rolls && (await fits(question, true)),
      brief: !rolls && branch !== null && (await fits({ ...question, branch }, false)),
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
      ...(leaveOut ? [msg`have the oldest messages left out when the context is full (in the settings)`] : []),
      ...(newChat ? [msg`ask in a new chat with ${{ name }}`] : []),
      ...(size < this.engine.trainedContext() ? [msg`choose a longer context`] : []),
    ].reduce<MessageDescriptor | null>((ways, way) => (ways ? msg`${{ ways }}, or ${{ way }}` : way), null);
    const full = newChat ? msg`This chat is full` : msg`This question is too long`;
    return new ConcertinaError(
      'context-full',
      msg`${{ full }}: the context of ${{ size: size }} tokens has no room left for passages of ${{ name }}.`,
      ways ? msg`You can ${{ ways }}.` : msg`Ask with fewer words.`,
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
    msg`${{ name }} has ${{ tokens: tokens }} tokens, the context holds ${{ size: size }}.`,
    msg`Attach pages, headings or passages of it, or choose a longer context.`,
  );
}
