import { Popover as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from './cx';

interface PopoverProps {
  trigger: ReactNode;
  label: string;
  children: ReactNode;
  side?: 'top' | 'bottom';
  align?: 'start' | 'center' | 'end';
  className?: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}

export function Popover({
  trigger,
  label,
  children,
  side = 'top',
  align = 'center',
  className,
  ...state
}: PopoverProps) {
  return (
    <Radix.Root {...state}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          side={side}
          align={align}
          sideOffset={8}
          collisionPadding={10}
          className={cx(
            'pop z-40 max-h-[var(--radix-popover-content-available-height)] overflow-y-auto rounded-xl border border-line bg-raised text-sm text-ink shadow-pop',
            className,
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
