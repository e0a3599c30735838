/** What a summary was made of: folded above it, open for as long as there is nothing else. */
import { ChevronRight } from 'lucide-react';
import type { Summary } from '../../../electron/contract/summaries';
import { cx } from '../../ui/cx';
import { AnswerText } from './markdown/AnswerText';
import { useRowState } from './rowState';
import { doneText } from './summaryText';

export function SummaryParts({ id, summary, open: openFirst }: { id: string; summary: Summary; open: boolean }) {
  const [open, setOpen] = useRowState(`${id} parts`, openFirst);
  const written = summary.parts.filter(({ text }) => text !== '');
  if (summary.parts.length < 2) return null;
  return (
    <div className="mb-3 text-sm" data-testid="summary-parts" data-parts={summary.parts.length}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-ml-1 flex max-w-full items-center gap-1 rounded-md px-1 py-0.5 font-medium text-ink-3 hover:text-ink"
      >
        <ChevronRight
          className={cx('size-3.5 shrink-0 transition-transform', open && 'rotate-90')}
          aria-hidden="true"
        />
        {doneText(summary)}
      </button>
      {open && (
        <div className="mt-2 ml-1.5 grid gap-3 border-l-2 border-line pl-4">
          {written.map(({ label, text, ms }) => (
            <section key={label} aria-label={label} data-testid="summary-part">
              <h4 className="text-xs font-semibold text-ink-3">
                {label}
                {ms === null && ', not done'}
              </h4>
              <AnswerText text={text} />
            </section>
          ))}
          {written.length === 0 && <p className="text-ink-3">Nothing is written yet.</p>}
        </div>
      )}
    </div>
  );
}
