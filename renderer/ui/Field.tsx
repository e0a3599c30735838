import type { ReactNode } from 'react';
import { cx } from './cx';

interface FieldProps {
  label: string;
  /** what stands beside the label */
  tag?: ReactNode;
  htmlFor: string;
  /** one short sentence below */
  help?: ReactNode;
  /** what stands at the right end of the label's line */
  aside?: ReactNode;
  children: ReactNode;
  /** label and control on one line */
  inline?: boolean;
}

export function Field({ label, tag, htmlFor, help, aside, children, inline = false }: FieldProps) {
  return (
    <div className="grid gap-1.5">
      <div className={cx('flex items-center gap-3', inline ? 'justify-between' : 'flex-wrap justify-between')}>
        <span className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
          <label htmlFor={htmlFor} className="text-sm font-medium text-ink">
            {label}
          </label>
          {tag}
        </span>
        {inline ? children : aside}
      </div>
      {!inline && children}
      {help && (
        <p id={`${htmlFor}-help`} className="text-xs leading-relaxed text-ink-3">
          {help}
        </p>
      )}
    </div>
  );
}

export const controlClass =
  'h-8 rounded-md border border-line-strong bg-field px-2 text-sm text-ink tabular-nums transition-colors hover:border-ink-3/60 disabled:opacity-50 aria-invalid:border-bad';

/** Of a field of several lines. */
export const areaClass =
  'block w-full resize-y rounded-md border border-line-strong bg-field px-2.5 py-1.5 text-sm text-ink transition-colors hover:border-ink-3/60';
