/** One answer while it is written: gathers its frames and puts the new text on disk about once a second. */
import type { AnswerStats, Message } from '../../contract/chats';
import type { StreamFrame } from '../../contract/engine';
import type { ChatStore } from './chatStore';
import type { SummaryProgress } from './summaryProgress';

const saveEveryMs = 1000;

export class RunningAnswer {
  readonly controller = new AbortController();
  /** with what has come in frames */
  text: string;
  thinking: string;
  /** what the engine gave as results: the parts that have ended */
  written: { text: string; thinking: string };
  stats: AnswerStats | null;
  leftOut: number | undefined;
  released: number | undefined;
  /** of a summary: takes the frames of its parts */
  summary: SummaryProgress | null = null;
  /** more passages of earlier questions left the prompt, and nothing of the answer was written yet */
  onReleased: () => void = () => undefined;
  private savedText: number;
  private savedThinking: number;
  private timer: NodeJS.Timeout | null = null;
  private saving: Promise<void> = Promise.resolve();

  constructor(
    readonly requestId: string,
    readonly chatId: string,
    /** as it was created, without text; or as it was stopped, when it is continued */
    readonly message: Message,
    private readonly store: ChatStore,
    private readonly onSaveFailed: (error: unknown) => void,
  ) {
    this.text = message.text;
    this.thinking = message.thinking;
    this.written = { text: message.text, thinking: message.thinking };
    this.stats = message.stats;
    this.leftOut = message.leftOut;
    this.released = message.released;
    this.savedText = this.text.length;
    this.savedThinking = this.thinking.length;
  }

  add(frame: StreamFrame): void {
    if (frame.messageId !== this.message.id) {
      this.summary?.receive(frame);
      return;
    }
    this.text += frame.text;
    this.thinking += frame.thinking;
    const isNew = this.text.length > this.savedText || this.thinking.length > this.savedThinking;
    if (isNew) this.timer ??= setTimeout(() => this.save(), saveEveryMs);
  }

  /** The engine has ended a part; `stats`: of all parts so far. */
  endPart(text: string, thinking: string, stats: AnswerStats): void {
    this.written = { text: this.written.text + text, thinking: this.written.thinking + thinking };
    this.stats = stats;
  }

  /**
   * Passages of so many questions are out of its prompt; of `before` of them since earlier answers. More of them are written down
   * before the engine is asked, so that they stay out however this answer ends.
   */
  async release(count: number, before: number): Promise<void> {
    const known = Math.max(before, this.released ?? 0);
    this.released = count || undefined;
    if (count <= known) return;
    await this.store.release(this.chatId, this.message.id, count).catch(this.onSaveFailed);
    if (this.text === this.message.text) this.onReleased();
  }

  /** No more partial records after this. */
  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    await this.saving;
    await this.summary?.close();
  }

  private save(): void {
    this.timer = null;
    const text = this.text.slice(this.savedText);
    const thinking = this.thinking.slice(this.savedThinking);
    this.savedText = this.text.length;
    this.savedThinking = this.thinking.length;
    // the final record holds the whole text again, so a failure here costs at most the recovery after a crash
    this.saving = this.store.addPartial(this.chatId, this.message.id, text, thinking).catch(this.onSaveFailed);
  }
}
