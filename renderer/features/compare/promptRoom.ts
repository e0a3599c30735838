/** Whether the configurations hold the prompt and its answer, and how long they would have to be. Pure. */
import { t } from '@lingui/core/macro';
import type { CompareForm } from '../../state/appState';
import { formatCount } from '../../ui/format';

export type LengthProblem = 'too-short' | number | null;

export interface PromptRoom {
  /** by row: it cannot hold the prompt, or so many tokens of its answer at the most; null: it holds both */
  problems: readonly LengthProblem[];
  /** what to do; null: every row holds both */
  advice: string | null;
  /** tokens that hold both, or all that the model has; null: there is no use in a longer context */
  needed: number | null;
}

const step = 1024;

/** @param tokens of the prompt. @param longest beyond which a context is cut; null: none is, or it is not known */
export function promptRoom(
  { rows, maxTokens }: Pick<CompareForm, 'rows' | 'maxTokens'>,
  tokens: number,
  longest: number | null,
): PromptRoom {
  const most = longest ?? Number.POSITIVE_INFINITY;
  const lengths = rows.map(({ nCtx }) => Math.min(nCtx, most));
  const problems = lengths.map((length, index): LengthProblem => {
    // the tokens of another model are others
    if (rows[index]?.modelId !== undefined) return null;
    if (tokens >= length) return 'too-short';
    return tokens + maxTokens > length ? length - tokens : null;
  });
  if (problems.every((problem) => problem === null)) return { problems, advice: null, needed: null };
  if (longest !== null && tokens >= longest) {
    const advice = t`The prompt takes ${formatCount(tokens)} tokens, and the model was trained for ${formatCount(longest)}. Shorten the prompt.`;
    return { problems, advice, needed: null };
  }
  const needed = Math.min(most, Math.ceil((tokens + maxTokens) / step) * step);
  const advice = t`The prompt takes ${formatCount(tokens)} tokens, its answer up to ${formatCount(maxTokens)}.`;
  return { problems, advice, needed: lengths.some((length) => length < needed) ? needed : null };
}
