/** How far a summary is: its parts grow by frames, are put on disk about once a second, and are reported when one ends. */

import { partMessageId, type Summary, type SummaryPart } from '../../contract/chats';
import type { StreamFrame } from '../../contract/engine';
import type { ChatStore } from './chatStore';

const saveEveryMs = 1000;

export interface ProgressOptions {
  chatId: string;
  messageId: string;
  store: Pick<ChatStore, 'setSummary' | 'addToPart'>;
  /** a part begins, or all are done */
  onStep: () => void;
  onSaveFailed: (error: unknown) => void;
}

export class SummaryProgress {
  /** index and length of what of the open part is on disk */
  private saved = { index: -1, length: 0 };
  private timer: NodeJS.Timeout | null = null;
  private saving: Promise<void> = Promise.resolve();

  constructor(
    private summary: Summary,
    private readonly options: ProgressOptions,
  ) {}

  get current(): Summary {
    return this.summary;
  }

  /** More parts, behind those that there are. */
  async add(parts: readonly SummaryPart[]): Promise<void> {
    this.summary = { ...this.summary, parts: [...this.summary.parts, ...parts] };
    await this.options.store.setSummary(this.options.chatId, this.options.messageId, this.summary);
  }

  begin(index: number): void {
    this.saved = { index, length: this.textOf(index).length };
    this.options.onStep();
  }

  /** Of the part that is written now; a late frame of another one is nothing new. */
  receive({ messageId, text }: StreamFrame): void {
    const { index } = this.saved;
    if (messageId !== partMessageId(this.options.messageId, index)) return;
    this.change(index, { text: this.textOf(index) + text });
    this.timer ??= setTimeout(() => this.save(null), saveEveryMs);
  }

  /** `text`: all of it, as the engine gave it. `ms` null: it was stopped, and can go on. */
  end(index: number, text: string, ms: number | null): Promise<void> {
    this.change(index, { text, ms });
    this.save(ms);
    return this.saving;
  }

  /** No more records after this. */
  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    await this.saving;
  }

  private textOf(index: number): string {
    return this.summary.parts[index]?.text ?? '';
  }

  private change(index: number, change: Partial<SummaryPart>): void {
    const parts = this.summary.parts.map((part, i) => (i === index ? { ...part, ...change } : part));
    this.summary = { ...this.summary, parts };
  }

  private save(ms: number | null): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    const { index, length } = this.saved;
    const text = this.textOf(index);
    this.saved = { index, length: text.length };
    const { store, chatId, messageId, onSaveFailed } = this.options;
    // the final record holds all parts again
    this.saving = store.addToPart(chatId, messageId, { index, text: text.slice(length), ms }).catch(onSaveFailed);
  }
}
