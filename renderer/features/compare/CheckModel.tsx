/** Which types keep what a model can do: what a check would run and how long it would take; and what one found. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useEffect, useState } from 'react';
import type { CheckPlan, CompareRun, CompareSummary } from '../../../electron/contract/compare/compare';
import { verdictOf } from '../../../electron/contract/lib/judgement';
import { say } from '../../../electron/contract/lib/language';
import { limits } from '../../../electron/contract/limits';
import {
  selectCheckPlan,
  selectCompareModelId,
  selectComparing,
  selectLastCheck,
  selectStarting,
} from '../../state/slices/compare';
import { selectCanAsk } from '../../state/slices/engine';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatContext, formatCount, formatMoment, formatTimeLeft, typesText } from '../../ui/format';
import { NumberField } from '../../ui/NumberField';
import { columnName } from './columnText';

/** What it takes, and the last one. */
export function CheckModel() {
  const modelId = useApp(selectCompareModelId);
  const comparing = useApp(selectComparing);
  const starting = useApp(selectStarting);
  const last = useApp(selectLastCheck(modelId));
  const [asked, setAsked] = useState<number | null>(null);
  const plan = useCheckPlan(modelId, asked);
  const { compare } = useActions();
  const problem = plan ? say(plan.problem) : '';
  const able = modelId !== null && plan !== null && problem === '' && comparing === null && !starting;

  return (
    <div className="grid gap-2.5 rounded-lg border border-line bg-raised px-4 py-3 text-sm" data-testid="check-model">
      <p className="text-ink-2">
        <Trans>
          The model makes 14 tool calls, looks for 12 hidden facts and reads a text: with f16 first, then with smaller
          cache types. The result names what each type loses, and the smallest one that loses nothing.
        </Trans>
      </p>
      <div className="flex flex-wrap items-center gap-3">
        <label htmlFor="check-depth" className="text-ink-2">
          <Trans>Tokens in the context</Trans>
        </label>
        <NumberField
          id="check-depth"
          data-testid="check-depth"
          value={asked ?? plan?.depth ?? null}
          min={limits.minContext}
          max={limits.maxContext}
          integer
          nullable
          onCommit={setAsked}
        />
        <Button
          data-testid="check-start"
          disabled={!able}
          onClick={() => modelId !== null && void compare.check(modelId, asked)}
        >
          <Trans>Check this model</Trans>
        </Button>
      </div>
      {plan && (
        <p
          role="status"
          className={cx('text-xs', problem === '' ? 'text-ink-2' : 'text-warn')}
          data-testid="check-plan"
          data-seconds={plan.seconds}
        >
          {problem || planText(plan)}
        </p>
      )}
      {last && <LastCheck summary={last} />}
    </div>
  );
}

function planText({ configurations, depth, seconds, measured }: CheckPlan): string {
  const pairs = configurations.map(({ typeK, typeV }) => typesText(typeK, typeV)).join(', ');
  const what = t`${pairs}, with ${formatCount(depth)} tokens each.`;
  const time = formatTimeLeft(seconds * 1000);
  if (measured) return `${what} ${t`About ${time}, from the speed of its last answer. You can cancel it.`}`;
  return `${what} ${t`Roughly ${time}, a guess: this model has not been timed here yet. You can cancel it.`}`;
}

/** Current for the model and the depth; null: not known yet. What is refused, the start will say. */
function useCheckPlan(modelId: string | null, asked: number | null): CheckPlan | null {
  const able = useApp(selectCanAsk);
  const plan = useApp(selectCheckPlan);
  const { compare } = useActions();
  useEffect(() => {
    if (able && modelId !== null) void compare.planCheck(modelId, asked);
  }, [able, modelId, asked, compare]);
  return plan?.outcome.ok && plan.modelId === modelId && plan.asked === asked ? plan.outcome.value : null;
}

function LastCheck({ summary }: { summary: CompareSummary }) {
  const { compare } = useActions();
  const { check, configurations, createdAt } = summary;
  const picked = check?.pick == null ? null : configurations[check.pick];
  const types = picked ? typesText(picked.typeK, picked.typeV) : '';
  const depth = formatContext(check?.depth ?? 0);
  return (
    <p className="flex flex-wrap items-center gap-2 text-xs text-ink-2" data-testid="check-last">
      {picked
        ? t`Checked on ${formatMoment(createdAt)} with ${depth} tokens: ${types}.`
        : t`Checked on ${formatMoment(createdAt)} with ${depth} tokens: it cannot be judged.`}
      <Button size="small" onClick={() => void compare.openRun(summary.id)}>
        <Trans>Show it</Trans>
      </Button>
    </p>
  );
}

/** Of a run that is a check: the advice, which one click takes over, and what each pair loses. */
export function CheckVerdict({ run }: { run: CompareRun }) {
  const { compare } = useActions();
  const verdict = verdictOf(run);
  if (!verdict) return null;
  const { kind, pick, advice, sentence, losses } = verdict;
  const picked = pick === null ? undefined : run.columns[pick];
  return (
    <section
      className="grid gap-2 rounded-lg border border-line bg-raised px-4 py-3"
      aria-label={t`What the check has found`}
      data-testid="check-verdict"
      data-kind={kind}
    >
      <div className="flex flex-wrap items-start justify-between gap-3">
        <p className="min-w-0 flex-1 basis-80 font-serif text-[1.06rem] leading-snug text-ink">
          <strong className="font-semibold">{advice}</strong> {sentence}
        </p>
        {picked && pick !== null && (
          <Button tone="primary" data-testid="check-apply" onClick={() => void compare.use(run, pick, true)}>
            {t`Use ${columnName(picked, run.columns)} for this model`}
          </Button>
        )}
      </div>
      <ul className="grid gap-0.5 text-xs text-ink-2" aria-label={t`What each pair loses`}>
        {losses.map(({ index, lost }) => (
          <li key={index}>
            {run.columns[index] && columnName(run.columns[index], run.columns)}: {lossText(lost)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function lossText(lost: readonly string[]): string {
  if (lost.length === 0) return t`loses nothing`;
  return lost.join('; ');
}
