import { selectBudget, selectBudgetStale } from '../../state/budget/selectors';
import { partText, plural, sectionsName } from '../../state/lib/partText';
import type { PanelDocument } from '../../state/lib/usePanelDocument';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatCount } from '../../ui/format';
import { tokensOf } from './selection';

/** What of the document goes with the question, against what is free; or the way to take it along. */
export function PanelFoot({ document }: { document: PanelDocument }) {
  const { info, inDraft, sent } = document;
  const { documents } = useActions();

  return (
    <div className="flex min-h-12 shrink-0 items-center justify-between gap-3 border-t border-line bg-raised px-5 py-2 text-xs">
      {inDraft ? (
        <Running document={document} />
      ) : (
        <>
          <p className="text-ink-2" data-testid="document-sent">
            {sent.size > 0 ? `In this chat: ${sentText(document)}` : 'Not in the context of this chat.'}
          </p>
          <Button size="small" data-testid="document-attach" onClick={() => void documents.attachStored(info.id)}>
            Attach to the question
          </Button>
        </>
      )}
    </div>
  );
}

function sentText({ info, sections, sent }: PanelDocument): string {
  if (sent.size === sections.length) return 'all of it.';
  return `${formatCount(sent.size)} of ${plural(sections.length, sectionsName(info))}.`;
}

function Running({ document: { info, sections, tokens, inDraft, chosen } }: { document: PanelDocument }) {
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  if (!inDraft) return null;
  if (inDraft.part.kind === 'passages') {
    return <p className="text-ink-2">It is searched for each question.</p>;
  }
  const own = budget?.byDocument.findLast((one) => !one.inBranch && one.documentId === info.id)?.tokens ?? 0;
  const room = budget ? Math.max(0, budget.contextSize - budget.reserve - budget.total + own) : null;
  // until the block is counted as it will stand in the prompt, its sections are added up
  const about = chosen.size === sections.length ? (tokens?.tokens ?? null) : tokensOf(chosen, tokens?.sections ?? null);
  const sum = budget && !stale ? own : about;
  const over = sum !== null && room !== null && sum > room;
  return (
    <p
      role="status"
      data-testid="document-running"
      data-tokens={sum ?? undefined}
      className={cx('tabular-nums', over ? 'font-medium text-warn' : 'text-ink-2')}
    >
      {chosen.size === sections.length
        ? `Goes ${partText({ kind: 'whole' }, info)}`
        : `${formatCount(chosen.size)} of ${plural(sections.length, sectionsName(info))}`}
      {sum !== null && `: ${plural(sum, 'token')}`}
      {sum !== null && room !== null && ` of ${formatCount(room)} free`}
    </p>
  );
}
