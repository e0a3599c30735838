import { t } from '@lingui/core/macro';
import { Direction, Tooltip as Radix } from 'radix-ui';
import { type ComponentProps, type ReactNode, useState } from 'react';

interface TooltipProps {
  label: ReactNode;
  /** keys as in 'Mod+N' */
  keys?: string;
  side?: 'top' | 'right' | 'bottom' | 'left';
  children: ReactNode;
}

export function Tooltip({ label, keys, side = 'top', children }: TooltipProps) {
  const [open, setOpen] = useState(false);

  /** Escape is for what is behind the tooltip too: the library would have it close the tooltip alone. */
  function onEscape(event: KeyboardEvent): void {
    event.preventDefault();
    event.stopImmediatePropagation();
    setOpen(false);
    const again = new KeyboardEvent('keydown', { key: 'Escape', code: 'Escape', bubbles: true, cancelable: true });
    // once it is gone
    setTimeout(() => event.target?.dispatchEvent(again));
  }

  return (
    <Radix.Root open={open} onOpenChange={setOpen}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        {/* as in Menu.tsx: the library puts it behind all landmarks */}
        <section aria-label={t`Hint`}>
          <Radix.Content
            side={side}
            sideOffset={6}
            collisionPadding={8}
            onEscapeKeyDown={onEscape}
            className="pop z-50 flex max-w-72 items-center gap-2 rounded-md bg-tip px-2 py-1 text-xs text-on-tip shadow-pop"
          >
            {label}
            {keys && <Kbd keys={keys} />}
          </Radix.Content>
        </section>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Around the window. Menus and lists of the library begin where lines of the language begin, with the arrow keys to match. */
export function TooltipProvider(props: ComponentProps<typeof Radix.Provider>) {
  return (
    <Direction.Provider dir={document.documentElement.dir === 'rtl' ? 'rtl' : 'ltr'}>
      <Radix.Provider {...props} />
    </Direction.Provider>
  );
}

const macNames: Record<string, string> = { Mod: '⌘', Shift: '⇧', Enter: '↩', Esc: 'esc', Delete: '⌦' };
/** As they stand on the keys. */
const otherNames = (): Record<string, string> => ({
  Mod: t({ message: 'Ctrl', context: 'key' }),
  Shift: t({ message: 'Shift', context: 'key' }),
  Enter: t({ message: 'Enter', context: 'key' }),
  Delete: t({ message: 'Delete', context: 'key' }),
});

export function keyLabel(keys: string): string {
  const names = isMac ? macNames : otherNames();
  return keys
    .split('+')
    .map((key) => names[key] ?? key)
    .join(isMac ? '' : '+');
}

export function Kbd({ keys }: { keys: string }) {
  return (
    <kbd className="rounded-sm border border-current/25 px-1 font-sans text-[0.6875rem] leading-4 opacity-80">
      {keyLabel(keys)}
    </kbd>
  );
}

/** Keyboard names differ on a Mac; everything else in the window is the same. */
export const isMac = typeof navigator !== 'undefined' && /Mac/i.test(navigator.platform);
