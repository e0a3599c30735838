/**
 * The motif: a pleated strip seen from the front. The number of pleats stays, its width is what is measured, so that
 * less memory looks like a folded instrument and more like a pulled one.
 */

import { cx } from '../cx';

interface BellowsProps {
  /** pleats, each of a lit and a shaded face */
  pleats?: number;
  /** 0..1: the share of the pleats that is in color */
  filled?: number;
  className?: string;
  /** lets the pleats breathe while something is being worked on */
  breathing?: boolean;
}

const height = 20;

export function Bellows({ pleats = 12, filled = 1, className, breathing = false }: BellowsProps) {
  const faces = Array.from({ length: pleats * 2 }, (_, i) => i);
  return (
    <svg
      className={cx('bellows', breathing && 'bellows-breathing', className)}
      viewBox={`0 0 ${pleats * 2} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {faces.map((i) => (
        <polygon
          key={i}
          points={facePoints(i)}
          className={cx(
            i % 2 === 0 ? 'bellows-lit' : 'bellows-shade',
            (i + 0.5) / faces.length > filled && 'bellows-empty',
          )}
        />
      ))}
    </svg>
  );
}

/** A face runs from a fold at the full height to the next one a little lower, or back. */
function facePoints(i: number): string {
  const dip = 2.6;
  const [left, right] = i % 2 === 0 ? [0, dip] : [dip, 0];
  // A hair of overlap hides the seam that anti-aliasing leaves between two faces.
  return `${i},${left} ${i + 1.04},${right} ${i + 1.04},${height - right} ${i},${height - left}`;
}

// The mark: two end plates and the folds between them. `working` pulls and presses the bellows.

export function Logo({ className, working = false }: { className?: string; working?: boolean }) {
  return (
    <svg className={cx('logo', working && 'logo-working', className)} viewBox="0 0 32 32" aria-hidden="true">
      <g className="logo-folds">
        <path className="bellows-lit" d="M8 7.5 10.7 9v14L8 24.5z" />
        <path className="bellows-shade" d="M10.7 9 13.3 7.5v17L10.7 23z" />
        <path className="bellows-lit" d="M13.3 7.5 16 9v14l-2.7 1.5z" />
        <path className="bellows-shade" d="M16 9l2.7-1.5v17L16 23z" />
        <path className="bellows-lit" d="M18.7 7.5 21.3 9v14l-2.6 1.5z" />
        <path className="bellows-shade" d="M21.3 9 24 7.5v17L21.3 23z" />
      </g>
      <rect className="logo-plate logo-plate-left" x="4" y="5" width="4" height="22" rx="1.6" />
      <rect className="logo-plate logo-plate-right" x="24" y="5" width="4" height="22" rx="1.6" />
    </svg>
  );
}
