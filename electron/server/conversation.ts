/** A chat in the terminal: the services of the window, and what of them goes to stderr. */

import type { Message } from '../contract/chats';
import type { DocumentInfo } from '../contract/documents';
import type { EngineStatus, StreamFrame } from '../contract/engine';
import { ConcertinaError } from '../contract/errors';
import { fallbacksOf } from '../contract/fallbacks';
import { type Attachment, usualPart } from '../contract/lib/attachments';
import { autoContext, type SettingsPatch } from '../contract/settings';
import type { Services } from '../services/services';
import { exitCodes, type Status } from './commandLine';
import { type Call, callOf, modelIdOf, readDocuments } from './commandServices';

export interface Asked {
  /** as a person names it; null: the one of the settings */
  model: string | null;
  documents: readonly string[];
  /** for this run alone */
  settings: SettingsPatch;
}

/** One chat of the services, and what of it a terminal shows. */
export class Conversation {
  private readonly call: Call;
  private readonly documents = new Map<string, DocumentInfo>();
  /** of the chat; null: it has no question yet */
  private chatId: string | null = null;
  /** the message that the next question follows */
  private lastId: string | null = null;

  constructor(
    private readonly services: Services,
    private readonly status: Status,
  ) {
    this.call = callOf(services);
  }

  /** Reads the documents, then loads the model with these settings, of which nothing is written down. */
  async open({ model, settings: patch, documents }: Asked, signal: AbortSignal): Promise<Attachment[]> {
    const { engine, settings } = this.services;
    const named = model === null ? {} : { modelId: await modelIdOf(this.call, model) };
    settings.override({ ...patch, ...named });
    const attachments = await this.attach(documents, signal);
    const off = engine.changed.on((status) => this.showLoading(status));
    try {
      engine.start();
      await engine.whenReady(signal);
    } finally {
      off();
      this.status.clear();
    }
    const { context, capabilities } = engine.status();
    for (const { what, why } of fallbacksOf(context, capabilities)) this.status.line(`Note: ${what} ${why}`.trim());
    return attachments;
  }

  private showLoading({ state, loadStep, loadProgress }: EngineStatus): void {
    if (state !== 'loading') return;
    const stages = {
      weights: 'loading the model',
      calibration: 'measuring the model, once',
      cache: 'preparing the cache',
    };
    this.status.show(stages[loadStep ?? 'weights'], percent(loadProgress ?? 0));
  }

  title(): string {
    const { model, context } = this.services.engine.status();
    return `${model?.name}, context ${count(context?.nCtx ?? 0)}, K ${context?.typeK.effective}, V ${context?.typeV.effective}`;
  }

  async attach(files: readonly string[], signal: AbortSignal): Promise<Attachment[]> {
    const read = await readDocuments(this.services, files, {
      signal,
      onProgress: ({ name, progress, pages }) =>
        this.status.show(`reading ${name}`, pages ? `page ${pages.done} of ${pages.all}` : percent(progress)),
    });
    this.status.clear();
    for (const document of read) {
      this.documents.set(document.id, document);
      for (const notice of document.notices) this.status.line(`${document.name}: ${notice}`);
    }
    return read.map((document) => ({ documentId: document.id, name: document.name, part: usualPart(document) }));
  }

  begin(): void {
    this.chatId = null;
    this.lastId = null;
  }

  /** The final state of the answer, which failed maybe. Rejects when the question cannot be asked. */
  async ask(
    text: string,
    attachments: Attachment[],
    write: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Message> {
    await this.requireRoom(text, attachments, signal);
    this.chatId ??= (await this.call('chats.create', {})).id;
    const chatId = this.chatId;
    let written = '';
    const add = (more: string) => {
      if (more === '') return;
      this.status.clear();
      write(more);
      written += more;
    };
    const offFrames = this.services.engine.frames.on((frame) => {
      if (frame.chatId !== chatId) return;
      if (frame.text === '') this.showReading(frame);
      add(frame.text);
    });
    try {
      const message = await this.turn({ chatId, parentId: this.lastId, text, attachments }, signal);
      this.lastId = message.id;
      add(message.text.slice(written.length));
      if (written !== '' && !written.endsWith('\n')) write('\n');
      return message;
    } finally {
      offFrames();
      this.status.clear();
    }
  }

  private turn(
    question: { chatId: string; parentId: string | null; text: string; attachments: Attachment[] },
    signal: AbortSignal,
  ): Promise<Message> {
    return new Promise((resolve, reject) => {
      const off = this.services.events.on((event) => {
        if (event.name !== 'onMessage' || event.payload.chatId !== question.chatId) return;
        const { message } = event.payload;
        if (message.role !== 'assistant' || message.stopReason === null) return;
        off();
        resolve(message);
      });
      this.call('turns.send', question).then(
        ({ requestId }) => {
          const stop = () => void this.call('turns.stop', { requestId });
          if (signal.aborted) stop();
          else signal.addEventListener('abort', stop, { once: true });
        },
        (error: unknown) => {
          off();
          reject(error);
        },
      );
    });
  }

  private showReading({ stats, thinking }: StreamFrame): void {
    const { phase, prefillDone, promptTokens, cachedTokens, prefillMsLeft, answerTokens } = stats;
    if (thinking !== '') this.status.show('thinking', `${count(answerTokens)} tokens`);
    if (phase !== 'prefill') return;
    const all = promptTokens - cachedTokens;
    const left = prefillMsLeft === null ? '' : `, ${Math.ceil(prefillMsLeft / 1000)} s left`;
    this.status.show(
      'reading the prompt',
      `of ${count(all)} tokens, ${percent(prefillDone / Math.max(1, all))}${left}`,
    );
  }

  /** A context of the length Auto grows, as the window offers it; a question that fits into none is refused with the length that would do. */
  private async requireRoom(draft: string, attachments: Attachment[], signal: AbortSignal): Promise<void> {
    const { engine, settings } = this.services;
    const { chatId, lastId: leafId } = this;
    if (attachments.length > 0) this.status.show('counting tokens');
    const ask = () => this.call('turns.budget', { chatId, leafId, draft, attachments });
    let { total, reserve, contextSize } = await ask();
    this.status.clear();
    const trained = engine.trainedContext();
    const longest = trained > 0 ? trained : Number.POSITIVE_INFINITY;
    const needed = Math.min(longest, 2 ** Math.ceil(Math.log2(total + reserve)));
    if (
      total >= contextSize &&
      settings.get().context.nCtx === autoContext &&
      total < longest &&
      needed > contextSize
    ) {
      await this.grow(needed, signal);
      ({ total, contextSize } = await ask());
    }
    if (total < contextSize) return;
    const what = attachments.length > 0 ? 'The question with its documents' : 'This chat with the question';
    const message = `${what} has ${count(total)} tokens, and the context holds ${count(contextSize)}.`;
    const hint =
      total >= longest
        ? `The model was trained for ${count(trained)}: choose another one, or ask about less.`
        : `Use --context ${needed}.`;
    throw new ConcertinaError('context-full', message, hint);
  }

  private async grow(atLeast: number, signal: AbortSignal): Promise<void> {
    const { engine } = this.services;
    this.status.line(`The context grows to ${count(atLeast)} tokens: the model is loaded again.`);
    const off = engine.changed.on((status) => this.showLoading(status));
    try {
      await engine.apply(null, { atLeast });
      await engine.whenReady(signal);
    } finally {
      off();
      this.status.clear();
    }
  }

  /** For programs. */
  answerOf({ text, thinking, stopReason, error, stats }: Message): unknown {
    const { model, context, capabilities } = this.services.engine.status();
    return {
      ...{ model: model?.name ?? '', text, thinking, stopReason, error, stats, context },
      fallbacks: fallbacksOf(context, capabilities),
      documents: [...this.documents.values()],
    };
  }

  /** The chat leaves the data folder with all that was saved of it. */
  async forget(): Promise<void> {
    if (this.chatId === null) return;
    await this.call('chats.remove', { chatId: this.chatId });
    await this.call('chats.destroy', { chatIds: [this.chatId] });
  }
}

const percent = (fraction: number) => `${Math.floor(fraction * 100)} %`;

/** How an answer ended, on stderr. @returns the exit code. Throws what it failed for */
export function reportEnd({ error, stopReason, stats }: Message, status: Status): number {
  if (error) throw ConcertinaError.fromPayload(error);
  if (stats) {
    const { promptTokens, cachedTokens, answerTokens, contextUsed, contextSize, typeK, typeV } = stats;
    const cached = cachedTokens > 0 ? ` (${count(cachedTokens)} of them in the cache)` : '';
    status.line(
      [
        `${count(promptTokens)} tokens read${cached} at ${rate(stats.promptTokensPerSecond)}`,
        `${count(answerTokens)} written at ${rate(stats.tokensPerSecond)}`,
        `the first after ${(stats.ttftMs / 1000).toFixed(stats.ttftMs < 1000 ? 2 : 1)} s`,
        `context ${count(contextUsed)} of ${count(contextSize)}`,
        `K ${typeK}, V ${typeV}`,
      ].join('; '),
    );
  }
  if (stopReason === 'cancelled') {
    status.line('The answer was stopped.');
    return exitCodes.canceled;
  }
  if (stopReason === 'max-tokens') status.line('The answer has as many tokens as --max-tokens or the settings allow.');
  if (stopReason !== 'context-full') return exitCodes.done;
  status.line('The answer ends here because the context is full. A longer one: --context.');
  return exitCodes.doesNotFit;
}

const count = (tokens: number) => tokens.toLocaleString('en');
const rate = (perSecond: number) => `${perSecond.toFixed(perSecond < 100 ? 1 : 0)} tok/s`;
