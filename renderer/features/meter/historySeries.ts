/** The history as columns for the plots: seconds before the latest reading, and one column for each line. */
import type { HistoryPoint } from '../../state/appState';
import { type MemoryPartId, memoryParts } from './memoryParts';

/** x, then a column for each line; null is a gap */
export type Columns = [number[], ...(number | null)[][]];

/** Readings come once a second; a longer silence (no model, a sleeping machine) is a gap. */
const gapMs = 5000;

export type PlotId = 'answer' | 'prompt' | 'context' | 'memory';

/** Stacked from the bottom up. */
export const stackedParts: readonly MemoryPartId[] = [
  'weights',
  'kv',
  'compute',
  'draft',
  'prompts',
  'engine',
  'app',
  'other',
];

const valuesOf: Record<PlotId, (point: HistoryPoint) => number[]> = {
  answer: ({ answerRate }) => [answerRate],
  prompt: ({ promptRate }) => [promptRate],
  context: ({ contextUsed }) => [contextUsed],
  memory: ({ memory }) => {
    const parts = new Map(memoryParts(memory).map(({ id, bytes }) => [id, bytes]));
    return stackedParts.map((id) => parts.get(id) ?? 0);
  },
};

export function columnsOf(history: readonly HistoryPoint[], plot: PlotId, spanMs: number): Columns {
  const columns: Columns = [[], ...Array.from({ length: plot === 'memory' ? stackedParts.length : 1 }, () => [])];
  const now = history.at(-1)?.at ?? 0;
  let before: number | null = null;
  for (const point of history) {
    // one reading before the edge lets the line reach it
    if (point.at < now - spanMs - gapMs) continue;
    if (before !== null && point.at - before > gapMs) addRow(columns, (before + 1 - now) / 1000, null);
    addRow(columns, (point.at - now) / 1000, valuesOf[plot](point));
    before = point.at;
  }
  return columns;
}

function addRow([x, ...lines]: Columns, at: number, values: readonly number[] | null): void {
  x.push(at);
  for (const [i, line] of lines.entries()) line.push(values?.[i] ?? null);
}

/** Each line as the sum of itself and those below it. */
export function stacked([x, ...lines]: Columns): Columns {
  const sums: (number | null)[][] = [];
  for (const line of lines) {
    const below = sums.at(-1);
    sums.push(line.map((value, i) => (value === null ? null : value + (below?.[i] ?? 0))));
  }
  return [x, ...sums];
}

export function largestOf([, ...lines]: Columns): number {
  let largest = 0;
  for (const line of lines) for (const value of line) largest = Math.max(largest, value ?? 0);
  return largest;
}
