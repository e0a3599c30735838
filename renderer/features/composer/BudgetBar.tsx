/** The context before the question is sent: which part takes how much, and what is left. */
import type { PromptBudget } from '../../../electron/contract/promptBudget';
import { selectBudget, selectBudgetError, selectBudgetStale } from '../../state/budget/selectors';
import { selectEngineState } from '../../state/engine/selectors';
import { useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { formatCount } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { budgetParts, budgetText, leavingText, staleText } from './budgetParts';

/** In the composer's foot: the figure, which opens all of them. */
export function BudgetMeter() {
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  const error = useApp(selectBudgetError);
  const staleWords = staleText(useApp(selectEngineState));
  if (error && !stale) {
    return (
      <p className="shrink-0 text-warn" title={error.message} data-testid="budget-error">
        Tokens could not be counted
      </p>
    );
  }
  if (!budget) return null;

  return (
    <Popover
      label="What the context holds"
      align="end"
      className="w-72 p-4"
      trigger={
        <button
          type="button"
          data-testid="draft-tokens"
          data-tokens={budget.total}
          data-stale={stale || undefined}
          aria-label={`${budgetText(budget)}${stale ? ` ${staleWords}` : ''} Show all parts`}
          className={cx(
            '-my-1 -mr-1.5 flex shrink-0 items-center gap-2 rounded-md px-1.5 py-1 tabular-nums transition-colors hover:bg-hover aria-expanded:bg-hover',
            stale && 'italic',
            budget.fits ? 'text-ink-3' : 'font-medium text-warn',
          )}
        >
          {formatCount(budget.total)}
          {` / ${formatCount(budget.contextSize)} tokens`}
        </button>
      }
    >
      <BudgetDetails budget={budget} stale={stale ? staleWords : null} />
    </Popover>
  );
}

/** Across the composer. Beyond its end nothing fits: the whole width is then what is needed. */
export function BudgetBar() {
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  if (!budget) return null;
  return <PartsBar budget={budget} stale={stale} className="mx-4 mb-1.5 h-1.5" />;
}

function PartsBar({ budget, stale, className }: { budget: PromptBudget; stale: boolean; className: string }) {
  const parts = budgetParts(budget).filter(({ tokens }) => tokens > 0);
  const whole = Math.max(budget.contextSize, budget.total + budget.reserve);
  return (
    <div
      data-testid="budget-bar"
      data-stale={stale || undefined}
      aria-hidden="true"
      className={cx('relative flex gap-px transition-opacity', stale && 'opacity-50', className)}
    >
      {parts.map(({ id, tokens, label }) => (
        <span
          key={id}
          data-part={id}
          data-tokens={tokens}
          title={`${label}: ${formatCount(tokens)} tokens`}
          className={cx('h-full rounded-xs', `budget-${id}`, id !== 'free' && 'min-w-0.5')}
          style={{ flexGrow: tokens, flexBasis: 0 }}
        />
      ))}
      {budget.over > 0 && (
        <span
          className="absolute -inset-y-1 w-0.5 rounded-xs bg-bad"
          style={{ left: `${(budget.contextSize / whole) * 100}%` }}
          title={`Here the context of ${formatCount(budget.contextSize)} tokens ends`}
        />
      )}
    </div>
  );
}

/** `stale`: what becomes of the figures; null: they are of the present draft */
function BudgetDetails({ budget, stale }: { budget: PromptBudget; stale: string | null }) {
  return (
    <div data-testid="budget-details" data-stale={stale !== null || undefined}>
      <h2 className="font-serif text-base text-ink">The context, {formatCount(budget.contextSize)} tokens</h2>
      <PartsBar budget={budget} stale={stale !== null} className="mt-2.5 h-2.5" />
      <dl className="mt-3 grid gap-1 text-xs tabular-nums">
        {budgetParts(budget).map(({ id, label, tokens }) => (
          <div key={id} className="flex items-center gap-2" data-testid={`budget-${id}`} data-tokens={tokens}>
            <span className={cx('size-2.5 rounded-xs', `budget-${id}`)} aria-hidden="true" />
            <dt className="flex-1 text-ink-2">{label}</dt>
            <dd className="text-ink">{formatCount(tokens)}</dd>
          </div>
        ))}
        {budget.over > 0 && (
          <div className="mt-1 flex gap-2 border-t border-line pt-2 font-medium text-bad">
            <dt className="flex-1">Too many</dt>
            <dd>{formatCount(budget.over)}</dd>
          </div>
        )}
      </dl>
      <p className="mt-2.5 text-xs text-ink-3">
        {stale ?? `Counted by the model’s own tokenizer, as the engine would be given them. ${cutText(budget)}`}
      </p>
    </div>
  );
}

function cutText(budget: PromptBudget): string {
  return leavingText(budget, 0) ?? 'Nothing is cut.';
}
