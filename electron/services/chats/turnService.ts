/** A turn: a question appended to a chat and the answer to it, from the first frame to the final record. */

import { randomUUID } from 'node:crypto';
import { msg } from '@lingui/core/runtime-macro';
import { type Turn, titleFrom } from '../../contract/chatOperations';
import { type Chat, canGoOn, type Message, type StopReason, type SummaryKind } from '../../contract/chats';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import { type Attachment, asAsked } from '../../contract/lib/attachments';
import type { Settings } from '../../contract/settings';
import type { DocumentStore } from '../documents/documentStore';
import type { DocumentCounts, DocumentTexts } from '../documents/documentTexts';
import type { MediaFiles } from '../documents/mediaFiles';
import type { PassageSearch, Retrieval } from '../documents/retrieval';
import type { EngineService } from '../engine/engineService';
import { Emitter } from '../lib/emitter';
import type { Logger } from '../lib/logger';
import type { ToolRounds } from '../tools/toolRounds';
import { Briefs } from './briefs';
import { BudgetService } from './budget';
import { type ChatState, findMessage } from './chatLog';
import type { ChatStore, FinalPart } from './chatStore';
import { type BranchMessage, promptBranch, withRounds } from './promptBranch';
import { chatOptions, Questions } from './promptBuilder';
import { asked, Recall } from './recall';
import { AnswerWriter, type BranchPrompt, RunningAnswer, type WritingEngine } from './runningAnswer';
import { questionText } from './summaryPlan';
import { SummaryProgress } from './summaryProgress';
import { SummaryWriter } from './summaryWriter';
import { ChatTitles } from './titles';

export type AnswerEngine = WritingEngine & Pick<EngineService, 'frames' | 'live' | 'modelName'>;

const then = ', then ';

type End = Omit<FinalPart, 'modelName'>;
/** puts the answer down; the result says how it ended */
type Write = (answer: RunningAnswer) => Promise<StopReason>;

export class TurnService {
  /** a question as it was written down, and an answer that is being written from now on: a new one, or one that goes on */
  readonly begun = new Emitter<{ chatId: string; message: Message; requestId?: string }>();
  /** the final state of an answer */
  readonly finished = new Emitter<{ chatId: string; message: Message }>();
  /** a part of a summary begins, or passages left the prompt for an answer */
  readonly progressed = new Emitter<{ chatId: string; message: Message }>();
  private readonly writer: AnswerWriter;
  /** waited for before a question of the chat is read */
  beforeTurn: (chatId: string) => Promise<void> = async () => undefined;
  private readonly running = new Map<string, { answer: RunningAnswer; done: Promise<void> }>();

  constructor(
    private readonly store: ChatStore,
    private readonly engine: AnswerEngine,
    private readonly settings: () => Settings,
    private readonly questions: Pick<Questions, 'prompt' | 'promptBefore' | 'attachments'>,
    private readonly summaries: Pick<SummaryWriter, 'check' | 'write'>,
    private readonly recall: Pick<Recall, 'find'>,
    private readonly tools: Pick<ToolRounds, 'write'>,
    private readonly log: Logger,
    private readonly now: () => number = Date.now,
  ) {
    this.writer = new AnswerWriter(engine, settings);
    engine.frames.on((frame) => this.running.get(frame.requestId)?.answer.add(frame));
  }

  /** Appends a question below `parentId` and starts its answer. */
  async send(
    chatId: string,
    parentId: string | null,
    text: string,
    attachments: readonly Attachment[] = [],
  ): Promise<Turn> {
    const chat = await this.ready(chatId);
    if (parentId !== null && !findMessage(chat, parentId)) throw missingMessage();
    return this.ask(chat, parentId, text, attachments);
  }

  /** Documents of any length, read part by part; the answer joins what was written about the parts. */
  async summarize(
    chatId: string,
    parentId: string | null,
    attachments: readonly Attachment[],
    kind: SummaryKind,
  ): Promise<Turn> {
    const chat = await this.ready(chatId);
    if (parentId !== null && !findMessage(chat, parentId)) throw missingMessage();
    const names = attachments.map(({ name }) => name);
    const read = attachments.map(withoutPassages);
    await this.summaries.check(read);
    const question = { ...this.newMessage('user', parentId, questionText(kind, names)), attachments: read };
    const userMessage = { ...question, summary: { kind, parts: [] } };
    const assistantMessage = this.newSummary(userMessage, kind);
    await this.addTurn(chat, userMessage, assistantMessage);
    return this.begin(chat.id, this.summary(chat, read), userMessage, assistantMessage);
  }

  /** A second answer to the question of an answer (or a first one to a question that has none). */
  async regenerate(chatId: string, messageId: string): Promise<Turn> {
    const chat = await this.ready(chatId);
    const message = findMessage(chat, messageId);
    if (!message) throw missingMessage();
    const questionId = message.role === 'user' ? message.id : message.parentId;
    if (questionId === null) throw missingMessage();
    const question = findMessage(chat, questionId);
    if (question?.summary) {
      const again = this.newSummary(question, question.summary.kind);
      await this.store.addMessages(chatId, [again]);
      return this.begin(chatId, this.summary(chat, question.attachments), null, again);
    }
    const prompt = await this.promptOf(chat, promptBranch(chat, questionId));
    const assistantMessage = this.newMessage('assistant', questionId, '');
    await this.store.addMessages(chatId, [assistantMessage]);
    return this.begin(chatId, this.answer(chat, prompt), null, assistantMessage);
  }

  /** The question in other words, as a new branch beside the old one; with its documents, unless others are named. */
  async edit(chatId: string, messageId: string, text: string, attachments?: readonly Attachment[]): Promise<Turn> {
    const chat = await this.ready(chatId);
    const message = findMessage(chat, messageId);
    if (!message) throw missingMessage();
    if (message.role !== 'user') throw new ConcertinaError('bad-request', msg`Only a question can be edited.`);
    return this.ask(chat, message.parentId, text, attachments ?? message.attachments.map(asAsked));
  }

  /** An answer that was stopped, or broke off, goes on behind what it has. */
  async continue(chatId: string, messageId: string): Promise<Turn> {
    const chat = await this.ready(chatId);
    const message = findMessage(chat, messageId);
    if (!message) throw missingMessage();
    if (message.role !== 'assistant' || !canGoOn(message.stopReason))
      throw refuseToGoOn('This answer has come to its end.');
    if (chat.messages.some(({ parentId }) => parentId === messageId)) {
      throw refuseToGoOn('Other messages build on this answer.');
    }
    const branch = promptBranch(chat, message.parentId);
    const write = message.summary
      ? this.summary(chat, branch.at(-1)?.attachments ?? [])
      : this.answer(chat, await this.promptOf(chat, branch));
    await this.store.reopen(chatId, messageId);
    return this.begin(chatId, write, null, { ...message, stopReason: null, error: null });
  }

  /** Ends an answer; what was written stays. Nothing happens when it has ended already. */
  async stop(requestId: string): Promise<void> {
    this.running.get(requestId)?.answer.controller.abort();
  }

  /** `chatId` left out: in any chat */
  isAnswering(chatId?: string): boolean {
    return [...this.running.values()].some(({ answer }) => chatId === undefined || answer.chatId === chatId);
  }

  /** Stops the answers of a chat and waits for their final records. */
  async stopChat(chatId: string): Promise<void> {
    await this.stopWhere((answer) => answer.chatId === chatId);
  }

  async close(): Promise<void> {
    await this.stopWhere(() => true);
  }

  /** The chat with the text of running answers as it is now, not as it was saved last. */
  withLiveText<C extends Chat>(chat: C): C {
    const live = new Map([...this.running.values()].map(({ answer }) => [answer.message.id, answer]));
    const messages = chat.messages.map((message) => {
      const answer = live.get(message.id);
      if (!answer) return message;
      return { ...answer.current, released: message.released, ...summaryOf(answer) };
    });
    return { ...chat, messages };
  }

  /** The chat, when an answer can be expected and nothing changes what it is read from. */
  private async ready(chatId: string): Promise<ChatState> {
    this.engine.live.requireUsable();
    await this.beforeTurn(chatId);
    return this.store.open(chatId);
  }

  private async ask(
    chat: ChatState,
    parentId: string | null,
    text: string,
    attachments: readonly Attachment[],
  ): Promise<Turn> {
    const branch = promptBranch(chat, parentId);
    // before anything is written: a document that is missing leaves the chat as it was
    const filled = await this.questions.attachments({ chat, branch, text, attachments });
    const recalled = await this.recall.find({ chat, parentId, text, attachments: filled });
    const fresh = { ...this.newMessage('user', parentId, text), attachments: filled };
    const userMessage = recalled.length === 0 ? fresh : { ...fresh, recalled };
    const prompt = await this.promptOf(chat, asked(chat, userMessage));
    const assistantMessage = this.newMessage('assistant', userMessage.id, '');
    await this.addTurn(chat, userMessage, assistantMessage);
    return this.begin(chat.id, this.answer(chat, prompt), userMessage, assistantMessage);
  }

  private async addTurn(chat: ChatState, userMessage: Message, assistantMessage: Message): Promise<void> {
    // from here on a change of the general one does not make the chat be read again behind the person's back
    if (chat.systemPrompt === null) await this.store.setSystemPrompt(chat.id, this.settings().systemPrompt);
    await this.store.addMessages(chat.id, [userMessage, assistantMessage]);
    const title = chat.namedBy ? null : titleFrom(userMessage.text);
    // a chat without its title is no reason to leave the question without its answer
    if (title) await this.store.rename(chat.id, title, true).catch((error) => this.log.error(String(error)));
  }

  private async promptOf(chat: Chat, branch: readonly BranchMessage[]): Promise<BranchPrompt> {
    return {
      branch,
      messages: await this.questions.promptBefore(chat, branch),
      build: (some) => this.questions.prompt(chat, some),
      options: { ...chatOptions(chat), mustCall: chat.tools.mustCall },
      behind: (rounds) => this.promptOf(chat, withRounds(branch, rounds)),
    };
  }

  private answer(chat: Chat, prompt: BranchPrompt): Write {
    return (answer) => {
      const now = () => ({ chatId: chat.id, message: { ...answer.current, released: answer.released } });
      answer.onReleased = () => this.progressed.emit(now());
      const behind = async ({ rounds }: RunningAnswer) => (rounds.length > 0 ? prompt.behind(rounds) : prompt);
      const next = async () => this.writer.write(answer, await behind(answer));
      return this.tools.write(answer, chat.tools, { next, tell: answer.onReleased });
    };
  }

  private summary(chat: Chat, attachments: readonly Attachment[]): Write {
    return (answer) => {
      const { chatId, message } = answer;
      const progress = new SummaryProgress(message.summary ?? { kind: 'summary', parts: [] }, {
        ...{ chatId, messageId: message.id, store: this.store },
        onStep: () => {
          const { text, thinking } = answer;
          this.progressed.emit({ chatId, message: { ...message, text, thinking, ...summaryOf(answer) } });
        },
        onSaveFailed: (error) => this.log.error(`A part of a summary could not be saved: ${String(error)}`),
      });
      answer.summary = progress;
      return this.summaries.write({ answer, progress, attachments, now: chat.createdAt });
    };
  }

  private begin(chatId: string, write: Write, userMessage: Message | null, assistantMessage: Message): Turn {
    const requestId = randomUUID();
    if (userMessage) this.begun.emit({ chatId, message: userMessage });
    this.begun.emit({ chatId, message: assistantMessage, requestId });
    const answer = new RunningAnswer(requestId, chatId, assistantMessage, this.store, (error) =>
      this.log.error(`A partial answer could not be saved: ${String(error)}`),
    );
    this.running.set(requestId, { answer, done: this.run(answer, write) });
    return { requestId, userMessage, assistantMessage };
  }

  private async run(answer: RunningAnswer, write: Write): Promise<void> {
    const endOf = (stopReason: StopReason): End => ({
      ...answer.written,
      ...figuresOf(answer),
      stopReason,
      error: null,
    });
    const ended = await write(answer).then(endOf, (error: unknown) => {
      this.log.warn(`An answer ended with an error: ${String(error)}`);
      return failedEnd(answer, error);
    });
    const final: FinalPart = { ...ended, modelName: writersOf(answer.message, ended, this.engine.modelName()) };
    const message = await this.stored(answer, final);
    // before anyone hears of the end, who may send the next question
    this.running.delete(answer.requestId);
    this.finished.emit({ chatId: answer.chatId, message });
  }

  /** The final state; never rejects. */
  private async stored(answer: RunningAnswer, final: FinalPart): Promise<Message> {
    try {
      await answer.close();
      return await this.store.finish(answer.chatId, answer.message.id, final);
    } catch (error) {
      this.log.error(`An answer could not be saved: ${String(error)}`);
      // the window shows the answer and says that it is not on disk
      return { ...answer.current, ...final, error: toErrorPayload(error) };
    }
  }

  private async stopWhere(test: (answer: RunningAnswer) => boolean): Promise<void> {
    const chosen = [...this.running.values()].filter(({ answer }) => test(answer));
    for (const { answer } of chosen) answer.controller.abort();
    await Promise.all(chosen.map(({ done }) => done));
  }

  private newSummary({ id }: Message, kind: SummaryKind): Message {
    return { ...this.newMessage('assistant', id, ''), summary: { kind, parts: [] } };
  }

  private newMessage(role: Message['role'], parentId: string | null, text: string): Message {
    const modelName = role === 'assistant' ? this.engine.modelName() : '';
    const common = { id: randomUUID(), parentId, role, text, thinking: '', createdAt: this.now(), modelName };
    return { ...common, attachments: [], stopReason: null, error: null, stats: null };
  }
}

/**
 * The models that wrote an answer, in their order: one that was stopped can go on with another model.
 * @param last what is loaded now: the model may have been loading when the answer was asked for
 */
function writersOf(before: Message, after: End, last: string): string {
  const first = before.modelName || last;
  const had = before.text.length + before.thinking.length;
  const grew = after.text.length + after.thinking.length > had;
  if (had === 0 || !grew || last === '' || first.split(then).at(-1) === last) return first;
  return `${first}${then}${last}`;
}

function figuresOf(answer: RunningAnswer): Pick<End, 'stats' | 'leftOut' | 'released' | 'summary'> {
  const { stats, leftOut, released } = answer;
  return { stats, leftOut, released, ...summaryOf(answer) };
}

function summaryOf({ summary, message }: RunningAnswer): Pick<Message, 'summary'> {
  const current = summary?.current ?? message.summary;
  return current ? { summary: current } : {};
}

/** Nothing is looked up for a summary. */
function withoutPassages(attachment: Attachment): Attachment {
  return attachment.part.kind === 'passages' ? { ...attachment, part: { kind: 'whole' } } : attachment;
}

/** What was written until the failure is kept. */
function failedEnd(answer: RunningAnswer, error: unknown): End {
  const { text, thinking } = answer;
  const payload = toErrorPayload(error);
  const base = { text, thinking, ...figuresOf(answer), error: payload };
  switch (payload.code) {
    case 'cancelled':
      return { ...base, stopReason: 'cancelled', error: null };
    case 'engine-crashed':
    case 'engine-unavailable':
      return { ...base, stopReason: 'interrupted' };
    case 'context-full':
      return { ...base, stopReason: 'context-full' };
    default:
      return { ...base, stopReason: 'error' };
  }
}

function refuseToGoOn(what: string): ConcertinaError {
  return new ConcertinaError('bad-request', what, msg`Let the question be answered again instead.`);
}

function missingMessage(): ConcertinaError {
  return new ConcertinaError('not-found', msg`This message is not there any more.`);
}

interface TurnsSetUp {
  chats: ChatStore;
  engine: EngineService;
  settings: () => Settings;
  texts: DocumentTexts;
  counts: DocumentCounts;
  retrieval: Retrieval;
  media: MediaFiles;
  passages: PassageSearch;
  /** folder of files that are there for a moment */
  scratch: string;
  store: DocumentStore;
  tools: ToolRounds;
  log: Logger;
}

/** What questions are made of, what they would take, and their answers. */
export function setUpTurns({
  chats,
  engine,
  settings,
  texts,
  counts,
  retrieval,
  media,
  store,
  passages,
  scratch,
  tools,
  log,
}: TurnsSetUp) {
  const questions = new Questions(engine, texts, counts, retrieval, media, settings);
  const summaries = new SummaryWriter(engine, { texts, counts, store }, settings);
  const recall = new Recall(passages, engine, questions, settings, scratch, log);
  const turns = new TurnService(chats, engine, settings, questions, summaries, recall, tools, log);
  new ChatTitles(chats, engine, questions, settings, log);
  const briefs = new Briefs(chats, engine, questions, turns, settings, log);
  turns.beforeTurn = (chatId) => briefs.settled(chatId);
  return { questions, turns, briefs, budgets: new BudgetService(chats, engine, questions, counts, store, recall) };
}
