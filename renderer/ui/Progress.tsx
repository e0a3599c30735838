import { formatPercent } from './format';
import { Bellows } from './pictures/Bellows';

/** How far something has come; without a share it only shows that work goes on. */
export function Progress({ label, share }: { label: string; share: number | null }) {
  return (
    <div className="flex min-w-24 flex-1 items-center gap-2">
      <div
        role="progressbar"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share === null ? undefined : Math.round(share * 100)}
        className="flex-1"
      >
        <Bellows pleats={24} filled={share ?? 1} breathing={share === null} className="h-2.5 w-full" />
      </div>
      {share !== null && <span className="w-9 text-end text-xs text-ink-2 tabular-nums">{formatPercent(share)}</span>}
    </div>
  );
}
