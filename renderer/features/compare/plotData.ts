/** What the plots of a run show. A plot without figures is left out. */
import { t } from '@lingui/core/macro';
import type { CompareColumn, CompareRun } from '../../../electron/contract/compare/compare';
import type { CurvePoint } from '../../../electron/contract/compare/figures';
import { hasSeveralModels } from '../../../electron/contract/compare/models';
import { i18n } from '../../language';
import { formatBytes, formatContext, formatRate } from '../../ui/format';
import { columnName } from './columnText';
import { bytesPerToken, formatKld } from './figures';

export interface PlotSeries {
  name: string;
  /** of the column, which has its color and its dash */
  index: number;
  /** at each x; null: not measured there */
  values: (number | null)[];
}

export interface ComparePlotSpec {
  id: 'speed' | 'memory' | 'quality' | 'longest';
  title: string;
  kind: 'lines' | 'points' | 'bars';
  x: number[];
  formatX: (value: number) => string;
  formatY: (value: number) => string;
  /** of the lines of the grid, which are round numbers; left out: as formatY */
  formatAxisY?: (value: number) => string;
  /** distances of the lines of the grid on y */
  steps: number[];
  /** distances of the lines of the grid on x */
  stepsX: number[];
  series: PlotSeries[];
}

const binary = Array.from({ length: 50 }, (_, power) => 2 ** power);
const decimal = Array.from({ length: 14 }, (_, power) => 10 ** (power - 6)).flatMap((ten) => [ten, 2 * ten, 5 * ten]);

export function plotsOf({ columns, model }: CompareRun): ComparePlotSpec[] {
  const plots = [
    curve(columns, 'speed', t`Writing speed (tok/s) against tokens in the cache`, (point) => point.tokensPerSecond),
    curve(columns, 'memory', t`Cache memory against tokens in the cache`, (point) => point.kvBytes),
    quality(columns),
    // of several models each has an end of its own
    longest(columns, hasSeveralModels(columns) ? 0 : (model?.info.nCtxTrain ?? 0)),
  ];
  return plots.filter(({ series }) => series.length > 0);
}

function curve(
  columns: CompareColumn[],
  id: 'speed' | 'memory',
  title: string,
  of: (point: CurvePoint) => number,
): ComparePlotSpec {
  const x = ascending(columns.flatMap((column) => column.curve.map(({ depth }) => depth)));
  const series = columns.flatMap((column, index) => {
    if (column.curve.length === 0) return [];
    const values = x.map((depth) => {
      const point = column.curve.find((one) => one.depth === depth);
      return point ? of(point) : null;
    });
    return { name: columnName(column, columns), index, values };
  });
  const speed = id === 'speed';
  const formatY = speed ? formatRate : formatBytes;
  const axis = speed ? { ...grid(decimal), formatAxisY: plain } : grid(binary);
  return { id, title, kind: 'lines', x, formatX: formatContext, formatY, ...axis, series };
}

function quality(columns: CompareColumn[]): ComparePlotSpec {
  const points = columns.flatMap((column, index) => {
    const bytes = bytesPerToken(column);
    const kld = column.quality?.meanKld ?? null;
    return bytes === null || kld === null ? [] : { name: columnName(column, columns), index, bytes, kld };
  });
  const x = ascending(points.map(({ bytes }) => bytes));
  const shown = points.length > 1 ? points : [];
  const series = shown.map(({ name, index, bytes, kld }) => ({
    name,
    index,
    values: x.map((value) => (value === bytes ? kld : null)),
  }));
  const title = t`Mean KL divergence against cache bytes per token`;
  return {
    id: 'quality',
    title,
    kind: 'points',
    x,
    formatX: formatBytes,
    formatY: formatKld,
    formatAxisY: plain,
    ...grid(decimal),
    series,
  };
}

/** `trained`: the length of the model's own contexts, beyond which none is looked for */
function longest(columns: CompareColumn[], trained: number): ComparePlotSpec {
  const found = columns.flatMap((column, index) =>
    column.longest ? { name: columnName(column, columns), index, nCtx: column.longest.nCtx } : [],
  );
  const x = found.map((_, place) => place);
  const series = found.map(({ name, index, nCtx }, place) => ({
    name,
    index,
    values: x.map((at) => (at === place ? nCtx : null)),
  }));
  const formatX = (place: number) => found[place]?.name ?? '';
  const ends = found.some(({ nCtx }) => nCtx === trained);
  const title = ends
    ? t`Longest context that fits this machine (tokens; the model ends at ${formatContext(trained)})`
    : t`Longest context that fits this machine (tokens)`;
  return { id: 'longest', title, kind: 'bars', x, formatX, formatY: formatContext, steps: binary, stepsX: [1], series };
}

function grid(steps: number[]): Pick<ComparePlotSpec, 'steps' | 'stepsX'> {
  return { steps, stepsX: binary };
}

function plain(value: number): string {
  return new Intl.NumberFormat(i18n.locale, { maximumSignificantDigits: 3, useGrouping: false }).format(value);
}

function ascending(values: number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b);
}
