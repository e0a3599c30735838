import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { MemoryEstimate } from '../../../../electron/contract/engine';
import { placementText } from '../../../../electron/contract/fallbacks';
import type { Budget, ContextFit } from '../../../../electron/contract/fit';
import { allocatedBytes, draftBytes, projectorBytes } from '../../../../electron/contract/lib/memory';
import { cx } from '../../../ui/cx';
import { formatBytes, formatCount, formatRatio } from '../../../ui/format';
import { Bellows } from '../../../ui/pictures/Bellows';
import { isMixed, LayerBlocks } from '../../../ui/pictures/LayerBlocks';
import type { CurrentFit } from '../useFit';

/** What the cache would take, beside what f16 would: the same pleats, folded and pulled. And whether all of it fits. */
export function KvEstimate({ fit, problem, stale }: CurrentFit) {
  if (problem) {
    return (
      <p role="alert" className="text-xs text-bad">
        {problem.message} {problem.hint}
      </p>
    );
  }
  if (!fit)
    return (
      <p className="text-xs text-ink-3">
        <Trans>The memory is shown when a model is loaded.</Trans>
      </p>
    );
  const { kvK, kvV, kvF16 } = fit.estimate;
  const kv = kvK + kvV;
  const widest = Math.max(kv, kvF16, 1);
  return (
    <div
      data-testid="kv-estimate"
      data-bytes={kv}
      data-kv-k={kvK}
      data-kv-v={kvV}
      data-kv-f16={kvF16}
      data-stale={stale || undefined}
      className={cx(
        'rounded-lg border border-line bg-raised p-3.5 text-xs tabular-nums transition-opacity',
        stale && 'opacity-60',
      )}
    >
      <div className="flex items-baseline justify-between gap-2">
        <span>
          <span className="text-ink-2">
            <Trans>KV cache</Trans>{' '}
          </span>
          <b className="text-base font-semibold text-ink" title={t`${formatCount(kv)} bytes`}>
            {formatBytes(kv)}
          </b>
        </span>
        <span className="font-medium text-accent">
          {kv < kvF16 ? t`${formatRatio(kvF16 / kv)} smaller` : t`unfolded`}
        </span>
      </div>
      <div className="mt-2 transition-[width] duration-300" style={{ width: `${(kv / widest) * 100}%` }}>
        <Bellows pleats={18} className="h-5 w-full" />
      </div>
      <div className="mt-2 transition-[width] duration-300" style={{ width: `${(kvF16 / widest) * 100}%` }}>
        <Bellows pleats={18} className="bellows-muted h-3 w-full" />
      </div>
      <p className="mt-1.5 text-ink-3">
        <Trans>f16 would take {formatBytes(kvF16)}</Trans>
      </p>
      {isMixed(fit.estimate.cacheLayers) && (
        <div className="mt-3">
          <LayerBlocks layers={fit.estimate.cacheLayers} />
        </div>
      )}
      <MemoryNeed fit={fit} stale={stale} />
    </div>
  );
}

// What a load would take of each memory, beside what it may take.

const colors = {
  weights: 'bg-plate',
  kv: 'bg-accent',
  compute: 'bg-brass',
  draft: 'bg-good',
  projector: 'bg-ink-3',
} as const;

function MemoryNeed({ fit, stale }: { fit: ContextFit; stale: boolean }) {
  const parts = needParts(fit.estimate);
  const { promptCache } = fit.estimate;
  return (
    <div
      className={cx('mt-3 border-t border-line pt-3 transition-opacity', stale && 'opacity-60')}
      data-testid="memory-need"
      data-fits={fit.fits}
      data-needed={allocatedBytes(fit.estimate)}
      data-stale={stale || undefined}
    >
      <dl className="grid gap-1">
        {parts.map(({ id, label, bytes }) => (
          <div key={id} className="flex items-center gap-2">
            <span className={cx('size-2 rounded-xs', colors[id])} aria-hidden="true" />
            <dt className="flex-1 text-ink-2">{label}</dt>
            <dd className="text-ink" title={t`${formatCount(bytes)} bytes`}>
              {formatBytes(bytes)}
            </dd>
          </div>
        ))}
        {promptCache > 0 && (
          <div className="flex items-center gap-2" data-testid="prompt-cache">
            <span className="size-2" aria-hidden="true" />
            <dt className="flex-1 text-ink-2">
              <Trans>Prompts of the API, where there is room</Trans>
            </dt>
            <dd className="text-ink" title={t`${formatCount(promptCache)} bytes`}>
              <Trans>up to {formatBytes(promptCache)}</Trans>
            </dd>
          </div>
        )}
      </dl>
      {fit.placement && (
        <p className="mt-2.5 leading-relaxed text-warn" data-testid="memory-placement">
          {placementText(fit.placement)} {cacheText(fit)}
        </p>
      )}
      {fit.budgets.map((budget) => (
        <BudgetBar key={`${budget.kind} ${budget.name}`} budget={budget} alone={fit.budgets.length === 1} />
      ))}
    </div>
  );
}

function BudgetBar({ budget, alone }: { budget: Budget; alone: boolean }) {
  const over = budget.needed > budget.available;
  const share = budget.available > 0 ? Math.min(1, budget.needed / budget.available) : 1;
  return (
    <div className="mt-2.5" data-testid="memory-budget" data-needed={budget.needed} data-available={budget.available}>
      <div className="h-2 overflow-hidden rounded-xs bg-line-strong" aria-hidden="true">
        <div
          className={cx('h-full transition-[width] duration-300', over ? 'bg-bad' : 'bg-good')}
          style={{ width: `${share * 100}%` }}
        />
      </div>
      <p role="status" className={cx('mt-1.5', over ? 'font-medium text-bad' : 'text-ink-2')}>
        {needText(budget, alone)}
      </p>
    </div>
  );
}

/** "KV cache: 2.10 GiB in NVIDIA RTX 4090 (Vulkan0), 310 MiB in RAM." */
function cacheText({ devices = [] }: ContextFit): string {
  const holding = devices.filter(({ context }) => context > 0);
  const list = holding.map(({ name, context }) => t`${formatBytes(context)} in ${name}`).join(', ');
  return list && t`KV cache: ${list}.`;
}

// Memory that a load needs, in parts and in words.

interface NeedPart {
  id: 'weights' | 'kv' | 'compute' | 'draft' | 'projector';
  label: string;
  bytes: number;
}

export function needParts({
  weights,
  kvK,
  kvV,
  compute,
  draft,
  projector,
}: Pick<MemoryEstimate, 'weights' | 'kvK' | 'kvV' | 'compute' | 'draft' | 'projector'>): NeedPart[] {
  const drafting = draftBytes(draft);
  const media = projectorBytes(projector);
  return [
    { id: 'weights', label: t`Weights`, bytes: weights },
    { id: 'kv', label: t`KV cache`, bytes: kvK + kvV },
    { id: 'compute', label: t`Compute buffers`, bytes: compute },
    ...(drafting > 0 ? [{ id: 'draft' as const, label: t`Drafting`, bytes: drafting }] : []),
    ...(media > 0 ? [{ id: 'projector' as const, label: t`Images and sound`, bytes: media }] : []),
  ];
}

/** "Fits: 1.20 GiB needed, 14.1 GiB free." `alone`: there is no other memory that it could be confused with. */
export function needText(budget: Budget, alone: boolean): string {
  const needed = formatBytes(budget.needed);
  const free = formatBytes(budget.available);
  const where = budget.name;
  const figures =
    budget.available > 0
      ? { here: t`${needed} needed, ${free} free`, there: t`${needed} needed, ${free} free in ${where}` }
      : { here: t`${needed} needed, nothing free`, there: t`${needed} needed, nothing free in ${where}` };
  const shown = alone && budget.kind !== 'gpu' ? figures.here : figures.there;
  return budget.needed > budget.available ? t`Does not fit: ${shown}.` : t`Fits: ${shown}.`;
}
