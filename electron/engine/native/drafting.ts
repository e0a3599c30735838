/** Speculative decoding in one answer: tokens are drafted or not, by the clock of the chat. */
import type { RawContext } from './raw';
import type { DraftTrial } from './types';

export class Drafting {
  readonly #context: Pick<RawContext, 'speculate'>;
  readonly #drafts: boolean;
  readonly #may: boolean;
  #trial: DraftTrial;
  /** behind the first `#from` tokens; before them, the opposite */
  #on: boolean;
  #from = 0;
  #switching = false;

  /** `drafts`: the context can; `free`: nothing constrains the answer. `trial`: of the chat so far */
  constructor(context: Pick<RawContext, 'speculate'>, drafts: boolean, free: boolean, trial: DraftTrial) {
    this.#context = context;
    this.#drafts = drafts;
    this.#may = drafts && free;
    this.#trial = trial;
    this.#on = this.#may && wantsDrafts(trial);
  }

  get on(): boolean {
    return this.#on;
  }

  get trial(): DraftTrial {
    return this.#trial;
  }

  /** Nothing more is drafted in this chat, because it was faster without. */
  get slower(): boolean {
    return this.#drafts && decided(this.#trial) && !wantsDrafts(this.#trial);
  }

  /** `written`: tokens of the answer, with this one, which took `ms`. What was written before a switch may arrive after it. */
  step(written: number, ms: number): void {
    if (!this.#may) return;
    this.#trial = withStep(this.#trial, written > this.#from ? this.#on : !this.#on, ms);
    const wanted = wantsDrafts(this.#trial);
    if (wanted === this.#on || written <= this.#from || this.#switching) return;
    this.#switching = true;
    const switched = (before: number): void => {
      this.#switching = false;
      // a draft is being verified, or the answer has ended meanwhile
      if (before < written) return;
      this.#on = wanted;
      this.#from = before;
    };
    this.#context.speculate(wanted).then(switched, () => switched(-1));
  }
}

/** tokens that are measured with drafts, then without; after them the faster way is kept */
const measured = { with: 200, without: 64 };

export const noTrial: DraftTrial = { withTokens: 0, withoutTokens: 0, withMs: 0, withoutMs: 0 };

function decided({ withTokens, withoutTokens }: DraftTrial): boolean {
  return withTokens >= measured.with && withoutTokens >= measured.without;
}

function wantsDrafts(trial: DraftTrial): boolean {
  if (!decided(trial)) return trial.withTokens < measured.with;
  return trial.withMs / trial.withTokens <= trial.withoutMs / trial.withoutTokens;
}

/** With a step of the answer; `drafts`: whether tokens were drafted for it. */
function withStep(trial: DraftTrial, drafts: boolean, ms: number): DraftTrial {
  const { withTokens, withoutTokens, withMs, withoutMs } = trial;
  return drafts
    ? { withTokens: withTokens + 1, withMs: withMs + ms, withoutTokens, withoutMs }
    : { withTokens, withMs, withoutTokens: withoutTokens + 1, withoutMs: withoutMs + ms };
}
