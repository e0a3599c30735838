import type { ComponentProps } from 'react';
import { cx } from '../../ui/cx';

/** A figure of the strip that opens its details. */
export function StripButton({ className, ...rest }: ComponentProps<'button'>) {
  return (
    <button
      type="button"
      className={cx(
        'flex items-center gap-2 px-2 whitespace-nowrap transition-colors hover:bg-hover focus-visible:-outline-offset-2 aria-expanded:bg-hover [&_b]:font-medium [&_b]:text-ink',
        className,
      )}
      {...rest}
    />
  );
}
