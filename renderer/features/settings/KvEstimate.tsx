import type { Estimates } from '../../state/settings/state';
import { Bellows } from '../../ui/Bellows';
import { cx } from '../../ui/cx';
import { formatBytes, formatCount, formatRatio } from '../../ui/format';
import { MemoryNeed } from './MemoryNeed';
import type { CurrentFit } from './useFit';

interface KvEstimateProps {
  estimates: Estimates | null;
  stale: boolean;
  current: CurrentFit;
}

/** What the cache would take, beside what f16 would: the same pleats, folded and pulled. And whether all of it fits. */
export function KvEstimate({ estimates, stale, current }: KvEstimateProps) {
  if (!estimates) return <p className="text-xs text-ink-3">The memory is shown when a model is loaded.</p>;
  if (!estimates.pair.ok) {
    return (
      <p role="alert" className="text-xs text-bad">
        {estimates.pair.error.message} {estimates.pair.error.hint}
      </p>
    );
  }
  const { kvK, kvV, kvF16 } = estimates.pair.value;
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
          <span className="text-ink-2">KV cache </span>
          <b className="text-base font-semibold text-ink" title={`${formatCount(kv)} bytes`}>
            {formatBytes(kv)}
          </b>
        </span>
        <span className="font-medium text-accent">
          {kv < kvF16 ? `${formatRatio(kvF16 / kv)} smaller` : 'unfolded'}
        </span>
      </div>
      <div className="mt-2 transition-[width] duration-300" style={{ width: `${(kv / widest) * 100}%` }}>
        <Bellows pleats={18} className="h-5 w-full" />
      </div>
      <div className="mt-2 transition-[width] duration-300" style={{ width: `${(kvF16 / widest) * 100}%` }}>
        <Bellows pleats={18} className="bellows-muted h-3 w-full" />
      </div>
      <p className="mt-1.5 text-ink-3">f16 would take {formatBytes(kvF16)}</p>
      {current.fit && <MemoryNeed fit={current.fit} stale={current.stale} />}
    </div>
  );
}
