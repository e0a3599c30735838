import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from './Button';
import { cx } from './cx';

interface SidePanelProps {
  /** begins the ids and test ids of its parts */
  name: string;
  title: string;
  closeLabel: string;
  onClose(): void;
  /** its width */
  className: string;
  children: ReactNode;
}

/** A panel beside the chat. Its title takes the focus when it opens, so that the keyboard is where the eye is. */
export function SidePanel({ name, title, closeLabel, onClose, className, children }: SidePanelProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);

  return (
    <aside
      aria-labelledby={`${name}-title`}
      data-testid={`${name}-panel`}
      className={cx('slide-in flex h-full max-w-[100vw] flex-col border-s border-line bg-panel', className)}
    >
      <div className="flex h-12 shrink-0 items-center gap-2 border-b border-line pe-2 ps-5">
        <h2
          id={`${name}-title`}
          ref={heading}
          tabIndex={-1}
          title={title}
          className="min-w-0 flex-1 truncate pt-0.5 font-serif text-[1.06rem] text-ink outline-none"
        >
          {title}
        </h2>
        <IconButton
          label={closeLabel}
          keys="Esc"
          side="left"
          icon={<X />}
          onClick={onClose}
          data-testid={`${name}-close`}
        />
      </div>
      {children}
    </aside>
  );
}
