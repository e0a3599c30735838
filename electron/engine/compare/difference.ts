/** Where two answers part, how likely each column held both ways for, and how much of them is the same. */
import type { Agreement, Candidate, Difference } from '../../contract/compareFigures';
import type { Step } from './column';

/** One of two answers. */
export interface Side {
  steps: Step[];
  text: string;
}

/** `textOf`: of tokens as the vocabulary writes them. Null: one answer is the beginning of the other. */
export function differenceOf(own: Side, reference: Side, textOf: (tokens: number[]) => string): Difference | null {
  const index = commonPrefix(own.steps, reference.steps);
  const ownStep = own.steps[index];
  const referenceStep = reference.steps[index];
  if (!ownStep || !referenceStep) return null;
  const before = textOf(own.steps.slice(0, index).map(({ token }) => token));
  const candidate = ({ token, end }: Step): Candidate => ({
    token,
    text: end ? '' : textOf([token]),
    end,
    probability: probabilityOf(token, ownStep),
    referenceProbability: probabilityOf(token, referenceStep),
  });
  return {
    index,
    offset: offsetIn(own.text, before, reference.text),
    referenceOffset: offsetIn(reference.text, before, own.text),
    own: candidate(ownStep),
    reference: candidate(referenceStep),
  };
}

export function agreementOf(own: readonly Step[], reference: readonly Step[]): Agreement {
  const longer = Math.max(own.length, reference.length);
  const share = longer === 0 ? 1 : commonSubsequence(own, reference) / longer;
  return { prefix: commonPrefix(own, reference), own: own.length, reference: reference.length, share };
}

function commonPrefix(a: readonly Step[], b: readonly Step[]): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length]?.token === b[length]?.token) length++;
  return length;
}

function probabilityOf(token: number, { candidates }: Step): number | null {
  return candidates.find((candidate) => candidate.token === token)?.probability ?? null;
}

/**
 * The text of the tokens in common is where the answer goes on, unless it was rewritten on its way: thinking taken out, a
 * character that two tokens share. Then it is the first character that differs.
 */
function offsetIn(text: string, before: string, other: string): number {
  if (text.startsWith(before)) return before.length;
  let same = 0;
  while (same < Math.min(text.length, other.length) && text[same] === other[same]) same++;
  return same;
}

/** Length of the longest sequence of tokens that both have in the same order. */
function commonSubsequence(a: readonly Step[], b: readonly Step[]): number {
  let above = new Uint32Array(b.length + 1);
  for (const { token } of a) {
    const row = new Uint32Array(b.length + 1);
    for (const [j, step] of b.entries()) {
      row[j + 1] = step.token === token ? (above[j] ?? 0) + 1 : Math.max(above[j + 1] ?? 0, row[j] ?? 0);
    }
    above = row;
  }
  return above[b.length] ?? 0;
}
