import { useEffect, useState } from 'react';
import type { LiveStats } from '../../../electron/contract/engine';
import { Bellows } from '../../ui/Bellows';
import { formatCount, formatTimeLeft } from '../../ui/format';
import { prefillOf, rateText } from './prefill';

const words: Partial<Record<LiveStats['phase'], string>> = { saving: 'Saving the other chat', restoring: 'Restoring' };

/** The bellows open as the prompt is read. A short prompt is over before this appears. */
export function PrefillProgress({ stats }: { stats: LiveStats | null }) {
  if (stats?.phase === 'queued') return <p className="text-sm text-ink-3">Queued behind another answer.</p>;
  const prefill = stats ? prefillOf(stats) : null;
  const counted = prefill !== null && prefill.total > 0;
  return (
    <div className="appear-late max-w-md" data-testid="prefill-progress">
      <div className="flex items-baseline justify-between gap-4 text-sm">
        <span className="font-medium text-ink">{words[stats?.phase ?? 'prefill'] ?? 'Reading'}</span>
        {counted && (
          <span className="text-ink-3 tabular-nums">
            {formatCount(prefill.done)} of {formatCount(prefill.total)} tokens
          </span>
        )}
      </div>
      <div
        role="progressbar"
        aria-label="Reading the prompt"
        aria-valuenow={counted ? prefill.done : undefined}
        aria-valuemin={0}
        aria-valuemax={counted ? prefill.total : undefined}
        className="my-2"
      >
        <Bellows pleats={32} filled={prefill?.share ?? 0} className="h-3.5 w-full" />
      </div>
      {stats && <PrefillRate stats={stats} msLeft={prefill?.msLeft ?? null} />}
    </div>
  );
}

function PrefillRate({ stats, msLeft }: { stats: LiveStats; msLeft: number | null }) {
  return (
    <p className="flex min-h-4.5 justify-between gap-4 text-xs text-ink-3 tabular-nums">
      <span>{rateText(stats)}</span>
      {msLeft !== null && (
        <span data-testid="prefill-left">
          <TimeLeft key={stats.prefillDone} ms={msLeft} />
        </span>
      )}
    </p>
  );
}

/** Counts on between two frames: a batch of a large model takes many seconds. A new batch is a new component. */
function TimeLeft({ ms }: { ms: number }) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const from = performance.now();
    const timer = setInterval(() => setPassed(performance.now() - from), 1000);
    return () => clearInterval(timer);
  }, []);
  return `${formatTimeLeft(Math.max(0, ms - passed))} left`;
}
