/** How the columns are told apart: by a color that color-blind people can tell from the others, and by the dash of the line. */
export interface SeriesStyle {
  /** a color of compare.css, by its variable */
  color: string;
  dash: number[];
}

const dashes = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 5], [12, 4, 4, 4]];

export function seriesStyle(index: number): SeriesStyle {
  return { color: `--series-${(index % 6) + 1}`, dash: dashes[index % 6] ?? [] };
}
