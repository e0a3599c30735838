import { Ellipsis } from 'lucide-react';
import type { ReactNode } from 'react';
import { Menu } from '../../ui/Menu';

/** The menu at the right end of a row of the list. */
export function RowMenu({ label, children }: { label: string; children: ReactNode }) {
  return (
    <span className="reveal absolute right-1 has-aria-expanded:opacity-100">
      <Menu
        trigger={
          <button
            type="button"
            aria-label={label}
            className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Ellipsis className="size-4" aria-hidden="true" />
          </button>
        }
      >
        {children}
      </Menu>
    </span>
  );
}
