/** The text of an answer as it grows, with thinking apart where the chat template marks it. */
import type { PromptCall } from '../../contract/tools/tools';
import type { ChatParams } from './chatRequest';
import type { RawAddon } from './raw';

export interface Parts {
  text: string;
  thinking: string;
}

type Parsed = Parts & { toolCalls: PromptCall[] };

export const nothing: Parts = { text: '', thinking: '' };

/** The parser reads the whole answer each time. After a parse of t it rests for 20 t, so it takes 5% of the time at most. */
const restFactor = 20;

export class AnswerText {
  readonly #addon: Pick<RawAddon, 'parseAnswer'>;
  /** null: the template marks no thinking, all is text */
  readonly #parser: string | null;
  /** what the prompt has of an answer, which is not given out again */
  readonly #before: Parts;
  /** all that the core gave, marks and all */
  #raw: string;
  #shown = nothing;
  #calls: PromptCall[] = [];
  #nextParse = 0;

  /** `raw`: of an answer that goes on with its own tokens */
  constructor(addon: Pick<RawAddon, 'parseAnswer'>, params: ChatParams, raw: string) {
    this.#addon = addon;
    const { chat_format, chat_parser, generation_prompt } = params;
    this.#parser = chat_format === undefined ? null : JSON.stringify({ chat_format, chat_parser, generation_prompt });
    this.#raw = raw;
    this.#shown = this.#parser === null ? { text: raw, thinking: '' } : this.#parse(this.#parser, true);
    this.#before = this.#shown;
  }

  get raw(): string {
    return this.#raw;
  }

  /** Returns what can be shown of it, and of what came before. */
  push(content: string): Parts {
    this.#raw += content;
    if (this.#parser === null) return { text: content, thinking: '' };
    return content !== '' && performance.now() >= this.#nextParse ? this.#grow(this.#parser, true) : nothing;
  }

  /** The rest. `partial`: the answer was stopped. */
  finish(partial: boolean): Parts {
    return this.#parser === null ? nothing : this.#grow(this.#parser, partial);
  }

  /** Of an answer that has come to its end: what it asks for. */
  get toolCalls(): PromptCall[] {
    return this.#calls;
  }

  /** All that was given out. */
  added(): Parts {
    if (this.#parser === null) return { text: this.#raw.slice(this.#before.text.length), thinking: '' };
    const of = (part: keyof Parts) => this.#shown[part].slice(this.#before[part].length);
    return { text: of('text'), thinking: of('thinking') };
  }

  /** What is new; nothing while a partial parse disagrees with what was shown. */
  #grow(parser: string, partial: boolean): Parts {
    const now = this.#read(parser, partial);
    if (!partial) this.#calls = now.toolCalls;
    const before = this.#shown;
    const next = (part: keyof Parts) => (now[part].startsWith(before[part]) ? now[part] : before[part]);
    this.#shown = { text: next('text'), thinking: next('thinking') };
    const of = (part: keyof Parts) => this.#shown[part].slice(before[part].length);
    return { text: of('text'), thinking: of('thinking') };
  }

  #read(parser: string, partial: boolean): Parsed {
    const started = performance.now();
    try {
      return this.#parse(parser, partial);
    } finally {
      const ended = performance.now();
      this.#nextParse = ended + (ended - started) * restFactor;
    }
  }

  #parse(parser: string, partial: boolean): Parsed {
    try {
      return this.#addon.parseAnswer(parser, this.#raw, partial);
    } catch {
      // the answer does not follow the template: show it as it is rather than lose it
      return partial ? { ...this.#shown, toolCalls: [] } : this.#parseCut(parser);
    }
  }

  #parseCut(parser: string): Parsed {
    try {
      // half of a call is none
      return { ...this.#addon.parseAnswer(parser, this.#raw, true), toolCalls: [] };
    } catch {
      return { text: this.#raw, thinking: '', toolCalls: [] };
    }
  }
}
