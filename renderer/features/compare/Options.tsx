/** Folded: what is measured besides the answers, and how. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import type { ComparePlan } from '../../../electron/contract/compare/compare';
import type { CompareForm } from '../../state/appState';
import { selectHasOtherModels, selectPlan } from '../../state/slices/compare';
import { useActions, useApp } from '../../state/useApp';
import { formatBytes } from '../../ui/format';
import { NumberField } from '../../ui/NumberField';

export function Options({ form }: { form: CompareForm }) {
  const { compare } = useActions();
  const plan = useApp(selectPlan);
  const several = useApp(selectHasOtherModels);
  const together = plan?.outcome.ok ? plan.outcome.value.together : null;
  const number = (key: 'maxTokens' | 'rounds' | 'qualityTokens', label: string, min: number, max: number) => (
    <NumberField
      aria-label={label}
      data-testid={`compare-${key}`}
      value={form[key]}
      min={min}
      max={max}
      integer
      onCommit={(value) => value !== null && compare.edit({ [key]: value })}
    />
  );

  return (
    <details className="rounded-lg border border-line bg-raised text-sm" data-testid="compare-options">
      <summary className="px-4 py-2.5 font-medium text-ink">
        <Trans>Options</Trans>{' '}
        <span className="ms-1 text-xs font-normal text-ink-3">
          {summaryOf({ ...form, together: form.together && !several })}
        </span>
      </summary>
      <div className="grid gap-3 border-t border-line px-4 py-3">
        <Line label={t`Tokens of each answer, at the most`} help={t`Greedy, and the same seed in all columns.`}>
          {number('maxTokens', t`Tokens of each answer, at the most`, 1, 16_384)}
        </Line>
        <Line
          label={t`Rounds for the speed`}
          help={t`Columns alternate, so that a machine that gets warm affects all alike. 0: time the answers only.`}
        >
          {number('rounds', t`Rounds for the speed`, 0, 20)}
        </Line>
        <Switch
          label={t`All at the same time`}
          help={several ? t`Not with several models: they take turns in memory.` : togetherText(together)}
          checked={form.together && !several}
          disabled={several}
          onChange={(value) => compare.edit({ together: value })}
        />
        <Switch
          label={t`Quality`}
          help={t`Perplexity and KL divergence over the last tokens of the prompt; at most:`}
          checked={form.quality}
          onChange={(quality) => compare.edit({ quality })}
        >
          {number('qualityTokens', t`Tokens of the prompt that are scored`, 16, 65_536)}
        </Switch>
        <Switch
          label={t`Hidden facts`}
          help={t`Three facts are hidden in the text, near its beginning, its middle and its end, and asked for.`}
          checked={form.needle}
          onChange={(needle) => compare.edit({ needle })}
        />
        <Switch
          label={t`Speed and memory over depth`}
          help={t`At 0, 2K, 4K and on by doubling, up to the context. Takes as long as reading that much, for each column.`}
          checked={form.curve}
          onChange={(curve) => compare.edit({ curve })}
          testId="compare-curve"
        />
      </div>
    </details>
  );
}

/** null: not known yet */
function togetherText(together: ComparePlan['together'] | null): string {
  const memory = (together?.budgets ?? [])
    .filter(({ needed }) => needed > 0)
    .map(({ kind, name, needed, available }) => {
      const taken = formatBytes(needed);
      const free = formatBytes(available);
      return kind === 'gpu'
        ? t`${taken} of the ${free} that may be used on ${name}`
        : t`${taken} of the ${free} that may be used`;
    })
    .join(', ');
  if (together && !together.fits) {
    return memory === ''
      ? t`All contexts at once do not fit into the memory now.`
      : t`All contexts at once do not fit into the memory now (${memory}).`;
  }
  return memory === ''
    ? t`All contexts in memory, all answers written at once. Speeds are then no measure.`
    : t`All contexts in memory (${memory}), all answers written at once. Speeds are then no measure.`;
}

function summaryOf({ maxTokens, rounds, together, quality, needle, curve }: CompareForm): string {
  const parts = [
    t`${maxTokens} tokens`,
    rounds > 0 && plural(rounds, { one: '# round', other: '# rounds' }),
    together && t`all at once`,
    quality && t`quality`,
    needle && t`hidden facts`,
    curve && t`over depth`,
  ];
  return parts.filter(Boolean).join(', ');
}

interface LineProps {
  label: string;
  help: string;
  children?: ReactNode;
}

function Line({ label, help, children }: LineProps) {
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1.5">
      <div className="min-w-52 flex-1">
        <p className="text-ink" aria-hidden="true">
          {label}
        </p>
        <p className="text-xs text-ink-3">{help}</p>
      </div>
      {children}
    </div>
  );
}

interface SwitchProps extends LineProps {
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
  testId?: string;
}

function Switch({ label, help, checked, disabled = false, onChange, testId, children }: SwitchProps) {
  return (
    <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1.5">
      <label className="flex min-w-52 flex-1 items-start gap-2.5">
        <input
          type="checkbox"
          data-testid={testId}
          checked={checked}
          disabled={disabled}
          onChange={(event) => onChange(event.target.checked)}
          className="mt-0.5 size-4 shrink-0 accent-accent"
        />
        <span>
          <span className="block text-ink">{label}</span>
          <span className="block text-xs text-ink-3">{help}</span>
        </span>
      </label>
      {children}
    </div>
  );
}
