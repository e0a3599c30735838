import type { ComponentProps } from 'react';
import { cx } from './cx';

export type ButtonTone = 'primary' | 'quiet' | 'outline' | 'danger';

export interface ButtonProps extends ComponentProps<'button'> {
  tone?: ButtonTone;
  size?: 'small' | 'normal';
}

const tones: Record<ButtonTone, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong shadow-xs',
  quiet: 'text-ink-2 hover:bg-hover hover:text-ink',
  outline: 'border border-line-strong bg-raised text-ink hover:bg-hover',
  danger: 'text-bad hover:bg-bad-soft',
};

export function Button({ tone = 'outline', size = 'normal', className, type = 'button', ...rest }: ButtonProps) {
  return (
    <button
      type={type}
      className={cx(
        'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium transition-colors',
        'disabled:pointer-events-none disabled:opacity-50',
        size === 'small' ? 'h-7 px-2.5 text-xs' : 'h-8 px-3 text-sm',
        tones[tone],
        className,
      )}
      {...rest}
    />
  );
}
