/** A loaded model. */
import type { ModelInfo } from '../../contract/models';
import { NativeContext } from './context';
import { coded, codedAsync } from './errors';
import { DisposeGuard } from './guards';
import { withProgress } from './progress';
import type { RawAddon, RawModel } from './raw';
import type { CalibrateOptions, ChatMessage, Context, ContextOptions, Model, PromptOptions } from './types';

export class NativeModel implements Model {
  readonly info: ModelInfo;
  readonly #addon: RawAddon;
  readonly #raw: RawModel;
  readonly #guard = new DisposeGuard('model');

  constructor(addon: RawAddon, raw: RawModel) {
    this.#addon = addon;
    this.#raw = raw;
    this.info = raw.info;
  }

  get fingerprint(): string {
    this.#guard.check();
    return this.#raw.fingerprint;
  }

  wantsCalibration(options: ContextOptions): boolean {
    this.#guard.check();
    return coded(() => this.#raw.wantsCalibration(options));
  }

  calibrate(options: CalibrateOptions): Promise<Uint8Array> {
    const { text, maxTokens, positions, threads, rope } = options;
    return withProgress(this.#addon, options, (onProgress, cancellation) =>
      codedAsync(() =>
        this.#guard.track(cancellation, () =>
          this.#raw.calibrate({ text, maxTokens, positions, threads, ...(rope && { rope }) }, onProgress, cancellation),
        ),
      ),
    );
  }

  attachCalibration(bytes: Uint8Array | null): void {
    this.#guard.check();
    coded(() => this.#raw.attachCalibration(bytes ?? new Uint8Array()));
  }

  createContext(options: ContextOptions): Promise<Context> {
    const create = async (): Promise<Context> => {
      const raw = await this.#raw.createContext(options);
      return new NativeContext(this.#addon, raw, (dispose) => this.#guard.adopt(dispose));
    };
    return codedAsync(() => this.#guard.track(new this.#addon.Cancellation(), create));
  }

  tokenize(text: string, options: { addSpecial?: boolean; parseSpecial?: boolean } = {}): Int32Array {
    this.#guard.check();
    return coded(() => this.#raw.tokenize(text, options.addSpecial ?? false, options.parseSpecial ?? false));
  }

  detokenize(tokens: Int32Array): string {
    this.#guard.check();
    return coded(() => this.#raw.detokenize(tokens));
  }

  splitsAtLines(): Promise<boolean> {
    return this.#whenOpen(() => this.#raw.splitsAtLines());
  }

  countTexts(texts: string[]): Promise<Int32Array> {
    return this.#whenOpen(() => this.#raw.countTexts(texts));
  }

  renderChat(messages: ChatMessage[], { now, continueFrom }: PromptOptions = {}): Promise<string> {
    return this.#whenOpen(() => this.#raw.renderChat(messages, now, continueFrom));
  }

  chatTokens(messages: ChatMessage[], { now, continueFrom }: PromptOptions = {}): Promise<Int32Array> {
    return this.#whenOpen(() => this.#raw.chatTokens(messages, now, continueFrom));
  }

  dispose(): Promise<void> {
    return this.#guard.dispose(() => this.#raw.dispose());
  }

  #whenOpen<T>(task: () => Promise<T>): Promise<T> {
    return codedAsync(async () => {
      this.#guard.check();
      return task();
    });
  }
}
