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
  const button = useRef<HTMLButtonElement>(null);
  return (
    <Radix.Root {...state}>
      <Radix.Trigger ref={button} asChild>
        {trigger}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          side={side}
          align={align}
          sideOffset={8}
          collisionPadding={10}
          // Its button gets the focus back unless something else has it by then: Tab leads from the last stop to the end of
          // the page, where nothing has. The library would also scroll to the button, away from what was chosen here.
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            if (document.activeElement === document.body) button.current?.focus({ preventScroll: true });
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
