import { cx } from '../../ui/cx';
import { formatCount } from '../../ui/format';
import { colourOf } from './ContextSlider';
import { type ContextMark, legendOf } from './contextMarks';

interface MarkListProps {
  marks: readonly ContextMark[];
  value: number;
  /** tokens; a target beyond it cannot be set */
  max: number;
  stale: boolean;
  onValue: (tokens: number) => void;
}

/** What the marks of the slider are, with their figures. A click sets the length. */
export function MarkList({ marks, value, max, stale, onValue }: MarkListProps) {
  return (
    <ul className={cx('-mx-1.5 text-xs tabular-nums transition-opacity', stale && 'opacity-60')} aria-label="Marks">
      {legendOf(marks).map(({ ids, label, mark }) => (
        <li key={ids.join(' ')}>
          <button
            type="button"
            data-testid={`context-set-${ids[0]}`}
            data-marks={ids.join(' ')}
            data-tokens={mark.tokens}
            disabled={mark.target > max}
            aria-pressed={mark.target === value}
            onClick={() => onValue(mark.target)}
            className={cx(
              'flex w-full items-baseline gap-2 rounded-md px-1.5 py-0.5 text-left transition-colors enabled:hover:bg-hover',
              mark.target === value ? 'text-ink' : 'text-ink-2',
            )}
          >
            <span className={cx('h-2 w-0.5 shrink-0 self-center rounded-full', colourOf(mark))} aria-hidden="true" />
            <span className="min-w-0 flex-1">{label}</span>
            <span className={cx(mark.target === value && 'font-medium')}>{formatCount(mark.tokens)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
