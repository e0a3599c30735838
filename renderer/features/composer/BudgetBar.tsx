/** The context before the question is sent: which part takes how much, and what is left. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { PromptBudget } from '../../../electron/contract/chats';
import type { EngineState } from '../../../electron/contract/engine';
import type { DraftDocument } from '../../state/appState';
import { selectBudget, selectBudgetError, selectBudgetStale } from '../../state/slices/budget';
import { selectEngineState } from '../../state/slices/engine';
import { useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { formatCount, formatDecimal, formatTimeLeft, leftOutText, releasedText } from '../../ui/format';
import { Popover } from '../../ui/Popover';

/** In the composer's foot: the figure, which opens all of them. */
export function BudgetMeter() {
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  const error = useApp(selectBudgetError);
  const staleWords = staleText(useApp(selectEngineState));
  if (error && !stale) {
    return (
      <p className="shrink-0 text-warn" title={error.message} data-testid="budget-error">
        <Trans>Tokens could not be counted</Trans>
      </p>
    );
  }
  if (!budget) return null;

  return (
    <Popover
      label={t`What the context holds`}
      align="end"
      className="w-72 p-4"
      trigger={
        <button
          type="button"
          data-testid="draft-tokens"
          data-tokens={budget.total}
          data-stale={stale || undefined}
          className={cx(
            '-my-1 -me-1.5 flex shrink-0 items-center gap-2 rounded-md px-1.5 py-1 tabular-nums transition-colors hover:bg-hover aria-expanded:bg-hover',
            stale && 'italic',
            budget.fits ? 'text-ink-3' : 'font-medium text-warn',
          )}
        >
          <span className="max-sm:hidden">{budget.briefed ? t`Next prompt, with a brief` : t`Next prompt`}</span>{' '}
          <Trans>
            {formatCount(budget.total)} / {formatCount(budget.contextSize)} tokens
          </Trans>
          <span className="sr-only">{`. ${budgetText(budget)}${stale ? ` ${staleWords}` : ''} ${t`Show all parts`}`}</span>
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
          title={t`${label}: ${formatCount(tokens)} tokens`}
          className={cx('h-full rounded-xs', `budget-${id}`, id !== 'free' && 'min-w-0.5')}
          style={{ flexGrow: tokens, flexBasis: 0 }}
        />
      ))}
      {budget.over > 0 && (
        <span
          className="absolute -inset-y-1 w-0.5 rounded-xs bg-bad"
          style={{ insetInlineStart: `${(budget.contextSize / whole) * 100}%` }}
          title={t`Here the context of ${formatCount(budget.contextSize)} tokens ends`}
        />
      )}
    </div>
  );
}

/** `stale`: what becomes of the figures; null: they are of the present draft */
function BudgetDetails({ budget, stale }: { budget: PromptBudget; stale: string | null }) {
  return (
    <div data-testid="budget-details" data-stale={stale !== null || undefined}>
      <h2 className="font-serif text-base text-ink">
        <Trans>The context, {formatCount(budget.contextSize)} tokens</Trans>
      </h2>
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
            <dt className="flex-1">
              <Trans>Too many</Trans>
            </dt>
            <dd>{formatCount(budget.over)}</dd>
          </div>
        )}
      </dl>
      <p className="mt-2.5 text-xs text-ink-3">
        {stale ?? t`Counted by the model’s own tokenizer, as the engine would be given them. ${cutText(budget)}`}
      </p>
    </div>
  );
}

function cutText(budget: PromptBudget): string {
  const { briefed } = budget;
  const leaving = leavingText(budget, 0);
  if (briefed === undefined) return leaving ?? t`Nothing is cut.`;
  const brief = plural(briefed, {
    one: 'A brief stands in place of the first message.',
    other: 'A brief stands in place of the first # messages.',
  });
  return leaving === null ? brief : `${brief} ${leaving}`;
}

// The parts of a budget in the order in which the model reads them, with their colors and words.

interface BudgetPart {
  id: 'system' | 'tools' | 'template' | 'documents' | 'history' | 'message' | 'reserve' | 'free';
  label: string;
  tokens: number;
}

/** `free` last: what is left of the context; 0 where it does not fit. All parts sum to the context, or to what is needed. */
export function budgetParts(budget: PromptBudget): BudgetPart[] {
  const { system, tools, template, documents, history, message, total, reserve, contextSize } = budget;
  return [
    { id: 'system', label: t`System prompt`, tokens: system },
    { id: 'tools', label: t`Tools`, tokens: tools },
    { id: 'template', label: t`Chat template`, tokens: template },
    { id: 'documents', label: t`Documents`, tokens: documents },
    { id: 'history', label: t`Chat so far`, tokens: history },
    { id: 'message', label: t`This message`, tokens: message },
    { id: 'reserve', label: t`Kept for the answer`, tokens: reserve },
    { id: 'free', label: t`Free`, tokens: Math.max(0, contextSize - total - reserve) },
  ];
}

/** For screen readers: what is not there is not named. */
export function budgetText(budget: PromptBudget): string {
  const parts = budgetParts(budget).filter(({ tokens, id }) => tokens > 0 || id === 'free');
  const list = parts.map(({ label, tokens }) => `${label} ${formatCount(tokens)}`).join(', ');
  const all = t`Context of ${formatCount(budget.contextSize)} tokens: ${list}.`;
  return budget.over > 0 ? t`${all} ${formatCount(budget.over)} too many.` : all;
}

/** What becomes of figures that belong to an older draft: without a model nobody counts. */
export function staleText(engine: EngineState | null): string {
  switch (engine) {
    case 'ready':
    case 'generating':
      return t`Being counted again.`;
    case 'starting':
    case 'loading':
    case 'restarting':
    case null:
      return t`Counted again when the model is loaded.`;
    default:
      return t`Load a model to count again.`;
  }
}

/** What the question makes leave the prompt or take less of, and the price; null: nothing. `perSecond`: tokens read; 0: not known. */
export function leavingText(
  { leftOut = 0, released = 0, readAgain = 0, fewer }: PromptBudget,
  perSecond: number,
): string | null {
  const parts = [
    ...(released > 0 ? [releasedText(released, 'next')] : []),
    ...(leftOut > 0 ? [leftOutText(leftOut, 'next')] : []),
  ];
  if (fewer !== undefined) {
    parts.push(t`Fewer passages are used: there is room for about ${formatCount(fewer)} tokens of them.`);
  }
  if (parts.length === 0) return null;
  if (readAgain > 0) {
    const tokens = formatCount(readAgain);
    const time = formatTimeLeft((readAgain / perSecond) * 1000);
    parts.push(
      perSecond > 0 ? t`About ${tokens} tokens are read again, ${time}.` : t`About ${tokens} tokens are read again.`,
    );
  }
  return parts.join(' ');
}

/** Why the draft does not fit, and by how much. `documents`: of the draft. */
export function noFitText(budget: PromptBudget, documents: readonly Pick<DraftDocument, 'name' | 'info'>[]): string {
  const { total, reserve, contextSize, over, byDocument, unfilled, remedies } = budget;
  const size = formatCount(contextSize);
  const taken = formatCount(total);
  const kept = formatCount(reserve);
  if (unfilled !== undefined) {
    return remedies?.newChat
      ? t`This chat is full: no room is left for passages of ${unfilled}. ${taken} of ${size} tokens are taken, and ${kept} are kept for the answer.`
      : t`This question is too long: no room is left for passages of ${unfilled}. ${taken} of ${size} tokens are taken, and ${kept} are kept for the answer.`;
  }
  const own = byDocument.filter(({ inBranch }) => !inBranch);
  const longest = own.reduce((most, one) => (one.tokens > most.tokens ? one : most), { documentId: '', tokens: 0 });
  const name = documents.find(({ info }) => info?.id === longest.documentId)?.name;
  if (name !== undefined && longest.tokens > contextSize) {
    return t`${name} is about ${times(longest.tokens / contextSize)} times as long as the context of ${size} tokens. Nothing is cut: pick one.`;
  }
  return t`${taken} tokens are ${formatCount(over)} too many for the context of ${size}, of which ${kept} are kept for the answer. Nothing is cut: pick one.`;
}

function times(ratio: number): string {
  return ratio < 3 ? formatDecimal(ratio, 1) : formatCount(Math.round(ratio));
}
