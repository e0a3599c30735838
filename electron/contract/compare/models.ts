/** The models of a comparison: which columns each runs, in which order they are loaded, and how a column tells of its own. */
import { z } from 'zod';
import { ConcertinaError, type ErrorPayload, errorPayloadSchema } from '../errors';

/** What a column ran on, where the run has several models. */
export const columnModelSchema = z.object({
  /** as people know it, told from those of the other columns */
  name: z.string(),
  /** '': it is not on the list any more */
  fileName: z.string(),
  /** '' until it is loaded */
  fingerprint: z.string().default(''),
  /** of reading its weights; null: they were in memory already, or never were */
  loadMs: z.number().nullable().default(null),
});
export type ColumnModel = z.infer<typeof columnModelSchema>;

/** One model as the engine process is told of it. */
export const comparedModelSchema = z.object({
  path: z.string(),
  /** indices of the configurations that it runs */
  columns: z.array(z.number().int()).min(1),
  /** null: the run has no other */
  shown: columnModelSchema.nullable(),
  /** why it cannot be loaded; null: nothing is known against it */
  problem: errorPayloadSchema.nullable(),
});

/** Throws where none of them can be loaded; one that cannot be ends its own columns. */
export function requireOne(models: readonly { problem: ErrorPayload | null }[]): void {
  const [first] = models;
  if (first?.problem && models.every(({ problem }) => problem)) throw ConcertinaError.fromPayload(first.problem);
}

interface Asked {
  modelId: string;
  configurations: readonly { modelId?: string | undefined }[];
  options: { reference: number };
}

/** In the order in which they are loaded, that of the reference first, each with the indices of its configurations. */
export function modelsOf({ modelId: usual, configurations, options }: Asked): { modelId: string; columns: number[] }[] {
  const found = new Map<string, number[]>([[configurations[options.reference]?.modelId ?? usual, []]]);
  for (const [index, { modelId = usual }] of configurations.entries()) {
    found.set(modelId, [...(found.get(modelId) ?? []), index]);
  }
  return [...found].map(([modelId, columns]) => ({ modelId, columns }));
}

interface Shown {
  request: Asked;
  columns: readonly { model: ColumnModel | null; state: string }[];
}

/** The name of the model that a run loads, or will load next; '': it has one. */
export function nextModelOf({ columns, request }: Shown): string {
  const order = modelsOf(request).flatMap((one) => one.columns);
  const next = order.find((index) => columns[index]?.state === 'waiting') ?? 0;
  return columns[next]?.model?.name ?? '';
}

/** Whether the columns run on several models. */
export function hasSeveralModels(columns: readonly { model: ColumnModel | null }[]): boolean {
  return columns.some(({ model }) => model !== null);
}
