import type { LiveStats } from '../../../electron/shared/engine';
import { Bellows } from '../../ui/Bellows';
import { formatCount, formatRate, formatTimeLeft } from '../../ui/format';
import { prefillOf } from './prefill';

/** The bellows open as the prompt is read. */
export function PrefillProgress({ stats }: { stats: LiveStats }) {
  const { done, total, share, msLeft } = prefillOf(stats);
  if (stats.phase === 'queued') return <p className="text-sm text-ink-3">Waits for the answer before this one.</p>;
  return (
    <div className="max-w-md" data-testid="prefill-progress">
      <div className="flex items-baseline justify-between gap-4 text-sm">
        <span className="font-medium text-ink">Reading</span>
        <span className="text-ink-3 tabular-nums">
          {formatCount(done)} of {formatCount(total)} tokens
        </span>
      </div>
      <div
        role="progressbar"
        aria-label="Reading the prompt"
        aria-valuenow={done}
        aria-valuemin={0}
        aria-valuemax={total}
        className="my-2"
      >
        <Bellows pleats={32} filled={share} className="h-3.5 w-full" />
      </div>
      <p className="flex justify-between gap-4 text-xs text-ink-3 tabular-nums">
        <span>
          {formatRate(stats.promptTokensPerSecond)} tok/s
          {stats.cachedTokens > 0 && `, ${formatCount(stats.cachedTokens)} more already in the cache`}
        </span>
        {msLeft !== null && <span>{formatTimeLeft(msLeft)} left</span>}
      </p>
    </div>
  );
}
