import { ChevronsUpDown } from 'lucide-react';
import type { ComponentProps } from 'react';
import { cx } from './cx';
import { controlClass } from './Field';

/** The system's own list: reachable by keyboard and screen readers on every platform. */
export function Select({ className, children, ...rest }: ComponentProps<'select'>) {
  return (
    <span className={cx('relative inline-flex', className)}>
      <select {...rest} className={cx(controlClass, 'w-full appearance-none truncate pe-7')}>
        {children}
      </select>
      <ChevronsUpDown className="pointer-events-none absolute top-2 end-2 size-4 text-ink-3" aria-hidden="true" />
    </span>
  );
}
