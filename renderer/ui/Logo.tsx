/** The mark: two end plates and the folds between them. `working` pulls and presses the bellows. */
import { cx } from './cx';

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
