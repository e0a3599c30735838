/** What a message would take of the context, part by part, in tokens of the loaded model. */
import { z } from 'zod';

const tokens = z.number().int().min(0);

export const budgetSchema = z.object({
  system: tokens,
  /** blocks of documents, of the branch and of the draft */
  documents: tokens,
  /** questions and answers of the branch, without documents */
  history: tokens,
  /** the draft, without documents */
  message: tokens,
  /** what the chat template puts around them */
  template: tokens,
  /** the sum of those above: exactly the prompt that the engine would be given */
  total: tokens,
  /** kept free for the answer */
  reserve: tokens,
  contextSize: tokens,
  /** those of the branch first, then those of the draft, in their order */
  byDocument: z.array(
    z.object({
      documentId: z.string(),
      tokens,
      /** attached to an earlier question; false: to the draft */
      inBranch: z.boolean(),
    }),
  ),
  fits: z.boolean(),
  /** the policy `roll`: so many of the oldest messages will be left out to make it fit; they are in no figure */
  leftOut: tokens.optional(),
  /** `total` and `reserve` beyond the context; 0: it fits */
  over: tokens,
});
export type PromptBudget = z.infer<typeof budgetSchema>;

/** Tokens kept free for the answer: what was set, but never over a quarter of the context. */
export function reserveOf(asked: number, contextSize: number): number {
  return Math.min(asked, Math.floor(contextSize / 4));
}
