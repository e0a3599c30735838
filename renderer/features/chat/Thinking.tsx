import { t } from '@lingui/core/macro';
import { ChevronRight } from 'lucide-react';
import { countText } from '../../state/lib/partText';
import { cx } from '../../ui/cx';
import { useRowState } from './rowState';

/** Text that the model's template marks as thinking: folded, with a glimpse of its end while it is written. */
export function Thinking({ id, text, live = false }: { id: string; text: string; live?: boolean }) {
  const [open, setOpen] = useRowState(`${id} thinking`, false);
  return (
    <div className="mb-3 text-sm text-ink-3" data-testid="thinking">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-ms-1 flex max-w-full items-center gap-1 rounded-md px-1 py-0.5 hover:text-ink"
      >
        <ChevronRight
          className={cx('size-3.5 shrink-0 transition-transform', open && 'rotate-90')}
          aria-hidden="true"
        />
        <span className="shrink-0 font-medium">{live ? t`Thinking` : t`Thought`}</span>
        <span className="truncate">{live ? text.slice(-90) : countText(text.length, 'character')}</span>
      </button>
      {open && (
        <p
          dir="auto"
          className="lines-auto mx-1.5 mt-1 border-s-2 border-line ps-4 leading-relaxed break-words whitespace-pre-wrap"
        >
          {text}
        </p>
      )}
    </div>
  );
}
