import type { ComponentProps, ReactNode } from 'react';
import { cx } from './cx';
import { Tooltip } from './Tooltip';

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  label: string;
  icon: ReactNode;
  keys?: string;
  side?: 'top' | 'right' | 'bottom' | 'left';
  size?: 'small' | 'normal';
}

/** A button without words: its label is its tooltip and its accessible name. */
export function IconButton({ label, icon, keys, side, size = 'normal', className, ...rest }: IconButtonProps) {
  return (
    <Tooltip label={label} keys={keys} side={side}>
      <button
        type="button"
        aria-label={label}
        className={cx(
          'inline-flex shrink-0 items-center justify-center rounded-md text-ink-3 transition-colors hover:bg-hover hover:text-ink',
          'disabled:pointer-events-none disabled:opacity-40 aria-expanded:bg-hover aria-pressed:bg-hover aria-pressed:text-ink',
          size === 'small' ? 'size-7 [&_svg]:size-3.5' : 'size-8 [&_svg]:size-4',
          className,
        )}
        {...rest}
      >
        {icon}
      </button>
    </Tooltip>
  );
}
