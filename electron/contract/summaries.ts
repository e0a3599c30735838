/** Summaries and outlines of documents that are longer than the context: read part by part, then joined. */
import { z } from 'zod';
import { attachmentSchema } from './attachments';

export const summaryKindSchema = z.enum(['summary', 'outline']);
export type SummaryKind = z.infer<typeof summaryKindSchema>;

export const summaryPartSchema = z.object({
  /** "Pages 1-24"; of results that were joined: "Parts 1-8" */
  label: z.string(),
  /** a stretch of one document, or the results of other parts: from index `first` to index `last` */
  source: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('document'), attachment: attachmentSchema }),
    z.object({ kind: z.literal('parts'), first: z.number().int().min(0), last: z.number().int().min(0) }),
  ]),
  /** of what is read, as it was planned */
  tokens: z.number().int().min(0),
  /** the result, as far as it is written */
  text: z.string().default(''),
  /** milliseconds that it took; null: it is not done */
  ms: z.number().nullable().default(null),
});
export type SummaryPart = z.infer<typeof summaryPartSchema>;

export const summarySchema = z.object({
  kind: summaryKindSchema,
  /** in the order in which they are read; on a question, and before the plan is made: none */
  parts: z.array(summaryPartSchema),
});
export type Summary = z.infer<typeof summarySchema>;

/** Stands for the message in the frames of one part: its words are not those of the answer. */
export function partMessageId(messageId: string, index: number): string {
  return `${messageId}#${index}`;
}

/** Index of the part that is written now or next; -1: all are done. */
export function openPart({ parts }: Summary): number {
  return parts.findIndex(({ ms }) => ms === null);
}
