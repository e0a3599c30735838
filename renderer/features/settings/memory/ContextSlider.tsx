/** The length on a logarithmic scale, and under it what its places mean. The list of marks says the same to everyone. */

import { t } from '@lingui/core/macro';
import { cx } from '../../../ui/cx';
import { formatCount } from '../../../ui/format';
import { Slider } from '../../../ui/Slider';
import { type ContextMark, clusterText, isFit } from './contextMarks';
import { contextStops, nearestStop, shareOf } from './contextScale';

interface ContextSliderProps {
  value: number;
  max: number;
  marks: readonly ContextMark[];
  stale: boolean;
  onValue: (tokens: number) => void;
}

/** The panel is 22.5rem wide at the most; half a thumb at each end is no part of the scale. */
const scalePixels = 306;
const rowPixels = 15;
const tickPixels = 7;

export function ContextSlider({ value, max, marks, stale, onValue }: ContextSliderProps) {
  const stops = contextStops(max);
  const shown = marks.map((mark) => ({ mark, share: Math.min(1, shareOf(stops, mark.tokens)) }));
  const placed = placeMarks(shown, scalePixels, (cluster) => clusterText(cluster.map(({ mark }) => mark)));
  const rows = 1 + Math.max(-1, ...placed.map(({ row }) => row));

  return (
    <div>
      <Slider
        aria-label={t`Context length, as a slider`}
        aria-valuetext={t`${formatCount(value)} tokens`}
        data-testid="settings-context-slider"
        min={0}
        max={stops.length - 1}
        value={nearestStop(stops, value)}
        onValue={(i) => onValue(stops[i] ?? value)}
      />
      <div
        className={cx('relative mx-[7px] transition-opacity', stale && 'opacity-60')}
        style={{ height: rows > 0 ? tickPixels + rows * rowPixels : 0 }}
        aria-hidden="true"
      >
        {placed.map(({ marks: [first], share }) => (
          <span
            key={share}
            className={cx('absolute top-0 w-px -translate-x-1/2 rtl:translate-x-1/2', first && colorOf(first.mark))}
            style={{ insetInlineStart: `${share * 100}%`, height: tickPixels - 2 }}
          />
        ))}
        {placed.map(({ marks: cluster, share, text, row, start, width }) => {
          const names = cluster.map(({ mark }) => mark.id).join(' ');
          return (
            <button
              key={names}
              type="button"
              tabIndex={-1}
              data-testid="context-mark"
              data-marks={names}
              data-share={share.toFixed(4)}
              className={cx(
                'absolute bg-panel text-[0.6875rem] leading-none whitespace-nowrap text-ink-3 transition-colors hover:text-accent',
                start <= 0 ? 'text-start' : start + width >= scalePixels ? 'text-end' : 'text-center',
              )}
              style={{
                insetInlineStart: `${(start / scalePixels) * 100}%`,
                top: tickPixels + row * rowPixels,
                width: `${(width / scalePixels) * 100}%`,
              }}
              // the list below is what takes the focus
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => cluster[0] && onValue(cluster[0].mark.target)}
            >
              {text}
            </button>
          );
        })}
      </div>
    </div>
  );
}

export function colorOf(mark: Pick<ContextMark, 'id'>): string {
  if (mark.id === 'chat') return 'bg-brass';
  return isFit(mark) ? 'bg-accent' : 'bg-ink-3';
}

// Puts the words of marks under a scale: close marks share one label, and labels that would touch go to rows of their own.

interface Placed<T> {
  marks: T[];
  /** 0..1 of the scale; of the first mark */
  share: number;
  text: string;
  /** 0 is next to the scale */
  row: number;
  /** pixels from the beginning of the scale */
  start: number;
  width: number;
}

interface Place {
  share: number;
}

const gap = 8;
/** of one character at the size of the labels; a little too much, so that a wide font does not make them touch */
const characterPixels = 6;

/** `width`: of the scale in pixels; `name`: what marks at one place are called; marks nearer than `near` pixels are one. Rows of one label never overlap. */
export function placeMarks<T extends Place>(
  marks: readonly T[],
  width: number,
  name: (marks: T[]) => string,
  near = 10,
): Placed<T>[] {
  const rising = [...marks].sort((a, b) => a.share - b.share);
  const clusters: T[][] = [];
  for (const mark of rising) {
    const last = clusters.at(-1);
    if (last?.[0] && (mark.share - last[0].share) * width < near) last.push(mark);
    else clusters.push([mark]);
  }
  const ends: number[] = [];
  return clusters.map((cluster) => {
    const share = cluster[0]?.share ?? 0;
    const text = name(cluster);
    const wide = Math.min(width, text.length * characterPixels);
    const start = Math.min(width - wide, Math.max(0, share * width - wide / 2));
    const free = ends.findIndex((end) => end + gap <= start);
    const row = free === -1 ? ends.length : free;
    ends[row] = start + wide;
    return { marks: cluster, share, text, row, start, width: wide };
  });
}
