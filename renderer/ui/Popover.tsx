import { Popover as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
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
  /** where the focus was when it opened */
  const before = useRef<HTMLElement>(null);
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
          onOpenAutoFocus={() => {
            before.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
          }}
          // Tab leads from its last stop to the end of the page, which closes it: nothing has the focus then
          onCloseAutoFocus={() => {
            if (document.activeElement === document.body) before.current?.focus();
          }}
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
