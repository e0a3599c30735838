import type { ReactNode } from 'react';
import { cx } from '../ui/cx';

interface SidePaneProps {
  side: 'left' | 'right';
  open: boolean;
  /** over the chat, in a small window */
  floats: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function SidePane({ side, open, floats, onClose, children }: SidePaneProps) {
  if (!open) return null;
  if (!floats) return <div className="h-full shrink-0">{children}</div>;
  return (
    <>
      {/* A click beside the pane closes it; the keyboard has the button in the pane. */}
      <button
        type="button"
        tabIndex={-1}
        aria-hidden="true"
        className="absolute inset-0 z-20 bg-black/25"
        onClick={onClose}
      />
      <div className={cx('absolute inset-y-0 z-30 max-w-full shadow-pop', side === 'left' ? 'left-0' : 'right-0')}>
        {children}
      </div>
    </>
  );
}
