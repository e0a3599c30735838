/** The last step of memory saving: a number of bits or bytes, of which each layer gets the types that do least harm. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { MemoryEstimate } from '../../../../electron/contract/engine';
import { type CacheBudget, parseBudget } from '../../../../electron/contract/settings';
import { NumberField } from '../../../ui/NumberField';
import { Select } from '../../../ui/Select';

/** between turbo3 and turbo4 */
export const usualBudget: CacheBudget = 'auto:3.75';

type Unit = 'bits' | 'MiB' | 'GiB';
const bytesIn = { MiB: 1024 ** 2, GiB: 1024 ** 3 };
/** decimals that are kept */
const steps: Record<Unit, number> = { bits: 0.01, MiB: 1, GiB: 0.01 };

export function unitOf(budget: CacheBudget): { value: number; unit: Unit } {
  const unit: Unit = budget.endsWith('GiB') ? 'GiB' : budget.endsWith('MiB') ? 'MiB' : 'bits';
  return { value: Number.parseFloat(budget.slice('auto:'.length)), unit };
}

export function budgetFrom(value: number, unit: Unit): CacheBudget {
  const decimals = steps[unit] === 1 ? 0 : 2;
  return `auto:${Number(value.toFixed(decimals))}${unit === 'bits' ? '' : unit}`;
}

/** What the cache takes now, in another unit; without an estimate the usual bits, or a GiB. */
export function inUnit(unit: Unit, estimate: Pick<MemoryEstimate, 'kvK' | 'kvV' | 'kvF16'> | null): CacheBudget {
  if (!estimate || estimate.kvF16 === 0) return unit === 'bits' ? usualBudget : budgetFrom(1, unit);
  const bytes = estimate.kvK + estimate.kvV;
  const value = unit === 'bits' ? (16 * bytes) / estimate.kvF16 : bytes / bytesIn[unit];
  // rounded up, so that the same types fit
  const made = budgetFrom(Math.max(steps[unit], Math.ceil(value / steps[unit]) * steps[unit]), unit);
  return parseBudget(made) ? made : usualBudget;
}

interface BudgetFieldProps {
  budget: CacheBudget;
  estimate: MemoryEstimate | null;
  onBudget: (budget: CacheBudget) => void;
}

export function BudgetField({ budget, estimate, onBudget }: BudgetFieldProps) {
  const { value, unit } = unitOf(budget);
  return (
    <div className="flex items-center gap-2 text-xs text-ink-2" data-testid="memory-budget-field">
      <NumberField
        aria-label={t`Budget of the cache`}
        data-testid="memory-budget-value"
        value={value}
        min={unit === 'bits' ? 2 : steps[unit]}
        max={unit === 'bits' ? 16 : 999_999}
        integer={unit === 'MiB'}
        onCommit={(next) => next !== null && onBudget(budgetFrom(next, unit))}
      />
      <Select
        aria-label={t`Unit of the budget`}
        data-testid="memory-budget-unit"
        value={unit}
        onChange={(event) => onBudget(inUnit(event.target.value as Unit, estimate))}
        className="w-32"
      >
        <option value="bits">{t`bits a value`}</option>
        <option value="MiB">MiB</option>
        <option value="GiB">GiB</option>
      </Select>
      <span>
        <Trans>for K and V together</Trans>
      </span>
    </div>
  );
}
