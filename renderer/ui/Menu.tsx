import { t } from '@lingui/core/macro';
import { DropdownMenu as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { cx } from './cx';

interface MenuProps {
  trigger: ReactNode;
  children: ReactNode;
  align?: 'start' | 'end';
  /** both or none: something else opens it too */
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
}

export function Menu({ trigger, children, align = 'end', open, onOpenChange }: MenuProps) {
  const escaped = useRef(false);
  return (
    <Radix.Root modal={false} open={open} onOpenChange={onOpenChange}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        {/* the library puts it behind all landmarks, where somebody who goes by them finds nothing */}
        <section aria-label={t`Menu`}>
          <Radix.Content
            align={align}
            sideOffset={4}
            collisionPadding={8}
            className="pop z-50 min-w-40 rounded-lg border border-line bg-raised p-1 text-sm text-ink shadow-pop"
            onEscapeKeyDown={() => {
              escaped.current = true;
            }}
            // The item that was chosen often moves the focus itself (rename); giving it back would undo that.
            onCloseAutoFocus={(event) => {
              if (!escaped.current) event.preventDefault();
              escaped.current = false;
            }}
          >
            {children}
          </Radix.Content>
        </section>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface MenuItemProps {
  icon?: ReactNode;
  danger?: boolean;
  onSelect: () => void;
  children: ReactNode;
}

export function MenuItem({ icon, danger = false, onSelect, children }: MenuItemProps) {
  return (
    <Radix.Item
      onSelect={onSelect}
      className={cx(
        'flex min-h-8 cursor-default items-center gap-2 rounded-md px-2 outline-none [&_svg]:size-4 [&_svg]:opacity-70',
        danger ? 'text-bad data-highlighted:bg-bad-soft' : 'data-highlighted:bg-hover',
      )}
    >
      {icon}
      {children}
    </Radix.Item>
  );
}
