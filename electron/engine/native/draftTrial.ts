/** Speculative decoding in one chat: whether drafting pays, by the clock. */
import type { DraftTrial } from './types';

/** tokens that are measured with drafts, then without; after them the faster way is kept */
const measured = { with: 200, without: 64 };

export const noTrial: DraftTrial = { withTokens: 0, withoutTokens: 0, withMs: 0, withoutMs: 0 };

function decided({ withTokens, withoutTokens }: DraftTrial): boolean {
  return withTokens >= measured.with && withoutTokens >= measured.without;
}

export function wantsDrafts(trial: DraftTrial): boolean {
  if (!decided(trial)) return trial.withTokens < measured.with;
  return trial.withMs / trial.withTokens <= trial.withoutMs / trial.withoutTokens;
}

/** Nothing more is drafted in this chat, because it was faster without. */
export function isSlower(trial: DraftTrial): boolean {
  return decided(trial) && !wantsDrafts(trial);
}

/** With a step of the answer; `drafts`: whether tokens were drafted for it. */
export function withStep(trial: DraftTrial, drafts: boolean, ms: number): DraftTrial {
  const { withTokens, withoutTokens, withMs, withoutMs } = trial;
  return drafts
    ? { withTokens: withTokens + 1, withMs: withMs + ms, withoutTokens, withoutMs }
    : { withTokens, withMs, withoutTokens: withoutTokens + 1, withoutMs: withoutMs + ms };
}
