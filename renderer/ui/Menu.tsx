import { DropdownMenu as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from './cx';

export function Menu({
  trigger,
  children,
  align = 'end',
}: {
  trigger: ReactNode;
  children: ReactNode;
  align?: 'start' | 'end';
}) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="pop z-50 min-w-40 rounded-lg border border-line bg-raised p-1 text-sm text-ink shadow-pop"
          // The item that was chosen often moves the focus itself (rename); giving it back would undo that.
          onCloseAutoFocus={(event) => event.preventDefault()}
        >
          {children}
        </Radix.Content>
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
        'flex h-8 cursor-default items-center gap-2 rounded-md px-2 outline-none [&_svg]:size-4 [&_svg]:opacity-70',
        danger ? 'text-bad data-highlighted:bg-bad-soft' : 'data-highlighted:bg-hover',
      )}
    >
      {icon}
      {children}
    </Radix.Item>
  );
}
