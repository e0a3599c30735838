import type { AttachmentPart } from '../../../electron/contract/lib/attachments';

/** All of them are the whole document; none of them has to be told to the person. */
export function partOf(chosen: ReadonlySet<number>, count: number): AttachmentPart {
  if (chosen.size === count) return { kind: 'whole' };
  return { kind: 'sections', sections: [...chosen].sort((a, b) => a - b) };
}

/** Tokens of the chosen sections, each counted alone; null: not counted. */
export function tokensOf(chosen: ReadonlySet<number>, tokens: readonly number[] | null): number | null {
  if (!tokens) return null;
  let sum = 0;
  for (const index of chosen) sum += tokens[index] ?? 0;
  return sum;
}
