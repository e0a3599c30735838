import { t } from '@lingui/core/macro';
import { Check, Copy } from 'lucide-react';
import type { ComponentProps, ReactNode } from 'react';
import { cx } from './cx';
import { useCopy } from './hooks';
import { Tooltip } from './Tooltip';

type ButtonTone = 'primary' | 'quiet' | 'outline' | 'danger';

interface ButtonProps extends ComponentProps<'button'> {
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

export function CopyButton({ text, label = t`Copy` }: { text: string; label?: string }) {
  const { copied, copy } = useCopy();
  return (
    <IconButton
      label={copied ? t`Copied` : label}
      icon={copied ? <Check className="text-good" /> : <Copy />}
      size="small"
      onClick={() => copy(text)}
    />
  );
}
