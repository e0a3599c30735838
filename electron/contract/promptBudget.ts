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
  /**
   * To make it fit, the passages of so many questions will leave the prompt; they are in no figure, and those that left before
   * are not among them
   */
  released: tokens.optional(),
  /** tokens of earlier messages that are read again, because something before them will leave */
  readAgain: tokens.optional(),
  /** `total` and `reserve` beyond the context; 0: it fits, unless there is an `unfilled` */
  over: tokens,
  /** name of a document of the draft of which not even one passage has room: the question would be refused */
  unfilled: z.string().optional(),
  /** of a draft that does not fit: what would make it fit. A longer context is not among them */
  remedies: z
    .object({
      /** the policy `roll` */
      leaveOut: z.boolean(),
      /** the same question and documents in a new chat */
      newChat: z.boolean(),
    })
    .optional(),
});
export type PromptBudget = z.infer<typeof budgetSchema>;

/** Tokens kept free for the answer: what was set, but never over a quarter of the context. */
export function reserveOf(asked: number, contextSize: number): number {
  return Math.min(asked, Math.floor(contextSize / 4));
}
