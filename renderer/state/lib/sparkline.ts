/** The speed over one whole answer in a bounded number of values: when they are full, pairs become their mean. */

export interface Sparkline {
  values: readonly number[];
  /** samples in each value */
  stride: number;
  /** samples that do not fill a value yet */
  open: readonly number[];
}

export const emptySparkline: Sparkline = { values: [], stride: 1, open: [] };

/** Even. */
export const maxValues = 60;

export function addSample({ values, stride, open }: Sparkline, sample: number): Sparkline {
  const gathered = [...open, sample];
  if (gathered.length < stride) return { values, stride, open: gathered };
  const grown = [...values, mean(gathered)];
  if (grown.length < maxValues) return { values: grown, stride, open: [] };
  return { values: pairs(grown), stride: stride * 2, open: [] };
}

function pairs(values: readonly number[]): number[] {
  return Array.from({ length: values.length / 2 }, (_, i) => mean(values.slice(2 * i, 2 * i + 2)));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
