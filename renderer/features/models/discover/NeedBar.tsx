/** What the chosen file takes with the asked settings, in parts, against the memory that decides. */
import type { HubFit } from '../../../../electron/contract/hub';
import { cx } from '../../../ui/cx';
import { formatBytes, formatCount } from '../../../ui/format';
import { GradeChip } from './GradeChip';
import { decidingBudget, exactVerdict } from './verdict';
import { verdictText } from './verdictText';

const colours = { weights: 'bg-plate', cache: 'bg-accent', buffers: 'bg-brass' } as const;

export function NeedBar({ fit, stale }: { fit: HubFit; stale: boolean }) {
  const verdict = exactVerdict(fit);
  const budget = decidingBudget(fit.fit.budgets);
  if (!verdict || !budget) return null;
  const { weights, kvK, kvV, compute } = fit.fit.estimate;
  const parts = [
    { id: 'weights', label: 'Weights', bytes: weights },
    { id: 'cache', label: 'KV cache', bytes: kvK + kvV },
    { id: 'buffers', label: 'Buffers', bytes: compute },
  ] as const;
  const needed = weights + kvK + kvV + compute;
  const whole = Math.max(needed, budget.available, 1);
  return (
    <div className={cx('mt-3.5 transition-opacity', stale && 'opacity-60')}>
      <div role="status" data-testid="hub-verdict">
        <GradeChip verdict={verdict} sentence={verdictText(verdict)} />
      </div>
      <div className="relative mt-2.5 flex h-2.5 overflow-hidden rounded-xs bg-line-strong" aria-hidden="true">
        {parts.map(({ id, bytes }) => (
          <span
            key={id}
            className={cx('h-full transition-[width] duration-300', colours[id])}
            style={{ width: `${(bytes / whole) * 100}%` }}
          />
        ))}
        {needed > budget.available && (
          <span
            className="absolute inset-y-0 w-0.5 bg-bad"
            style={{ left: `${(Math.max(0, budget.available) / whole) * 100}%` }}
          />
        )}
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-ink-2 tabular-nums">
        {parts.map(({ id, label, bytes }) => (
          <div key={id} className="flex items-center gap-1.5">
            <span className={cx('size-2 rounded-xs', colours[id])} aria-hidden="true" />
            <dt>{label}</dt>
            <dd className="text-ink" title={`${formatCount(bytes)} bytes`} data-testid={`hub-${id}`} data-bytes={bytes}>
              {formatBytes(bytes)}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
