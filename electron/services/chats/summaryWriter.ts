/**
 * Summarizes documents that may be longer than the context: part by part, then the results are joined, by groups first where
 * they are too long for one pass. What is left to do follows from the parts alone, so it goes on after any end.
 */
import { msg } from '@lingui/core/runtime-macro';
import { openPart, partMessageId, reserveOf, type StopReason, type SummaryPart } from '../../contract/chats';
import type { GenerateRequest, PromptMessage } from '../../contract/engineContract';
import { ConcertinaError } from '../../contract/errors';
import { type Attachment, isMedia } from '../../contract/lib/attachments';
import type { Settings } from '../../contract/settings';
import type { DocumentStore } from '../documents/documentStore';
import { type DocumentCounts, type DocumentTexts, documentBlock } from '../documents/documentTexts';
import { addStats, type RunningAnswer, type WritingEngine } from './runningAnswer';
import { joinPrompt, partPrompt, partsOf, type Result, wholePrompt } from './summaryPlan';
import type { SummaryProgress } from './summaryProgress';

export interface SummaryTask {
  answer: RunningAnswer;
  progress: SummaryProgress;
  attachments: readonly Attachment[];
  /** see `GenerateRequest` */
  now: number;
}

export interface SummarySources {
  texts: Pick<DocumentTexts, 'block' | 'characters'>;
  counts: Pick<DocumentCounts, 'sections'>;
  store: Pick<DocumentStore, 'sections' | 'text'>;
}

export class SummaryWriter {
  constructor(
    private readonly engine: WritingEngine,
    private readonly sources: SummarySources,
    private readonly settings: () => Settings,
  ) {}

  /** Rejects with `not-found` when one of them is not stored any more. */
  async check(attachments: readonly Attachment[]): Promise<void> {
    for (const attachment of attachments) {
      if (isMedia(attachment.part)) {
        const message = `${attachment.name} has no text that could be read part by part.`;
        throw new ConcertinaError('bad-request', message, msg`Ask about it instead, or remove it.`);
      }
      await this.sources.texts.characters(attachment);
    }
  }

  /** What is written is in `answer` and `progress`; the result says how it ended. */
  async write(task: SummaryTask): Promise<StopReason> {
    const { progress, answer } = task;
    await this.engine.whenReady(answer.controller.signal);
    if (progress.current.parts.length === 0) await progress.add(await this.plan(task));
    const [first, ...others] = progress.current.parts;
    if (first && others.length === 0) return this.whole(task, first);
    for (;;) {
      const index = openPart(progress.current);
      if (index === -1) {
        const joined = await this.join(task);
        if (joined) return joined;
      } else if ((await this.part(task, index)) === 'cancelled') return 'cancelled';
    }
  }

  private async plan({ attachments, progress, now }: SummaryTask): Promise<SummaryPart[]> {
    const { kind } = progress.current;
    const parts: SummaryPart[] = [];
    for (const attachment of attachments) {
      const { documentId, name } = attachment;
      const frame = partPrompt(kind, documentBlock(name, [], [], []), `${name}: Pages 1000-2000`);
      const room = this.room() - (await this.engine.countTokens(frame, { now })).tokens;
      const sections = await this.sources.store.sections(documentId);
      const tokens = await this.sources.counts.sections(documentId);
      const text = (start: number, end: number) => this.sources.store.text(documentId, start, end);
      parts.push(...(await partsOf({ attachment, sections, tokens, text }, room, attachments.length > 1)));
    }
    if (parts.length === 0) throw new ConcertinaError('bad-request', msg`There are no words in what was chosen.`);
    return parts;
  }

  /** It fits at once. */
  private async whole(task: SummaryTask, part: SummaryPart): Promise<StopReason> {
    const { kind } = task.progress.current;
    const messages = wholePrompt(kind, part.source.kind === 'document' ? await this.block(part.source.attachment) : '');
    return this.final(task, messages);
  }

  private async part(task: SummaryTask, index: number): Promise<StopReason> {
    const { answer, progress, now } = task;
    const part = progress.current.parts[index];
    if (!part) throw new Error(`There is no part ${index}.`);
    progress.begin(index);
    const { message, requestId, chatId, controller } = answer;
    const messages = await this.promptOf(progress, part);
    const from = performance.now();
    const request: GenerateRequest = {
      ...{ requestId, chatId, messageId: partMessageId(message.id, index), messages, now, jsonSchema: null },
      ...(part.text ? { continueFrom: { text: part.text, thinking: '' } } : {}),
      ...{ sampling: { ...this.settings().sampling, maxTokens: this.mostOfPart() }, passing: true },
    };
    const { stopReason, text, stats } = await this.engine.generate(request, controller.signal);
    answer.stats = addStats(answer.stats, stats);
    await progress.end(index, part.text + text, stopReason === 'cancelled' ? null : performance.now() - from);
    return stopReason;
  }

  private async promptOf(progress: SummaryProgress, { source, label }: SummaryPart): Promise<PromptMessage[]> {
    const { kind, parts } = progress.current;
    if (source.kind === 'document') return partPrompt(kind, await this.block(source.attachment), label);
    return joinPrompt(kind, resultsOf(parts.slice(source.first, source.last + 1)), false);
  }

  /** null: there is too much of it; groups of results are joined first. */
  private async join(task: SummaryTask): Promise<StopReason | null> {
    const { answer, progress, now } = task;
    const { kind, parts } = progress.current;
    const first = firstUnjoined(parts);
    const results = resultsOf(parts.slice(first));
    if (results.length === 0) throw nothingWritten();
    const count = async (messages: PromptMessage[]) => (await this.engine.countTokens(messages, { now })).tokens;
    const whole = joinPrompt(kind, results, true);
    // what is half written fitted when it was begun
    if (answer.written.text !== '' || (await count(whole)) <= this.room()) {
      progress.begin(-1);
      return this.final(task, whole);
    }
    const fits = async (some: readonly SummaryPart[]) =>
      (await count(joinPrompt(kind, resultsOf(some), false))) <= this.room();
    await progress.add(await groupsOf(parts, first, fits));
    return null;
  }

  private async final({ answer, now }: SummaryTask, messages: PromptMessage[]): Promise<StopReason> {
    const { requestId, chatId, message, controller, written } = answer;
    const request: GenerateRequest = {
      ...{ requestId, chatId, messageId: message.id, messages, now, jsonSchema: null, passing: true },
      ...(written.text || written.thinking ? { continueFrom: written } : {}),
      sampling: this.settings().sampling,
    };
    const { stopReason, text, thinking, stats } = await this.engine.generate(request, controller.signal);
    answer.endPart({ text, thinking, toolCalls: [] }, addStats(answer.stats, stats));
    return stopReason;
  }

  private block(attachment: Attachment): Promise<string> {
    return this.sources.texts.block(attachment);
  }

  private room(): number {
    return this.engine.contextSize() - this.reserve();
  }

  private reserve(): number {
    return reserveOf(this.settings().documents.reserve, this.engine.contextSize());
  }

  private mostOfPart(): number {
    const { maxTokens = 0 } = this.settings().sampling;
    return maxTokens === 0 ? this.reserve() : Math.min(maxTokens, this.reserve());
  }
}

function resultsOf(parts: readonly SummaryPart[]): Result[] {
  return parts.filter(({ text }) => text.trim() !== '');
}

/** Parts before it went into results that stand behind all of them. */
function firstUnjoined(parts: readonly SummaryPart[]): number {
  return parts.reduce((first, { source }) => (source.kind === 'parts' ? Math.max(first, source.last + 1) : first), 0);
}

/** Neighbors whose results fit together, each group to become one result. */
async function groupsOf(
  parts: readonly SummaryPart[],
  first: number,
  fits: (some: readonly SummaryPart[]) => Promise<boolean>,
): Promise<SummaryPart[]> {
  const groups: SummaryPart[] = [];
  for (let at = first; at < parts.length; ) {
    let next = at + 1;
    while (next < parts.length && (await fits(parts.slice(at, next + 1)))) next += 1;
    const some = parts.slice(at, next);
    const tokens = Math.ceil(some.reduce((sum, { text }) => sum + text.length, 0) / 4);
    const label = `Parts ${at + 1}-${next}`;
    groups.push({ label, source: { kind: 'parts', first: at, last: next - 1 }, tokens, text: '', ms: null });
    at = next;
  }
  if (groups.length === parts.length - first) throw tooLong();
  return groups;
}

function nothingWritten(): ConcertinaError {
  return new ConcertinaError(
    'bad-request',
    msg`The model wrote nothing about any part.`,
    msg`Models that think first may need more room: raise what is kept free for the answer, or choose another model.`,
  );
}

function tooLong(): ConcertinaError {
  return new ConcertinaError(
    'context-full',
    msg`The results of two parts do not fit into the context together.`,
    msg`Raise the context length, or lower what is kept free for the answer.`,
  );
}
