import { selectLoadedContext, selectStatus } from '../../state/engine/selectors';
import { selectActiveStats } from '../../state/stream/selectors';
import { useApp } from '../../state/useApp';
import { Bellows } from '../../ui/Bellows';
import { cx } from '../../ui/cx';
import { formatContext, formatCount } from '../../ui/format';

/** Tokens in the cache of those that it holds. The bellows fill with them. */
export function ContextMeter() {
  const live = useApp(selectActiveStats);
  const stored = useApp(selectStatus)?.contextUsed ?? 0;
  const allocated = useApp(selectLoadedContext)?.nCtx ?? 0;
  const size = live?.contextSize || allocated;
  const used = live ? live.contextUsed : stored;
  const share = size > 0 ? used / size : 0;
  const tight = share > 0.9;

  return (
    <div
      data-testid="meter-context"
      data-used={used}
      data-size={size}
      title={`Context: ${formatCount(used)} of ${formatCount(size)} tokens are in the cache`}
      className="flex items-center gap-2 px-2 whitespace-nowrap"
    >
      <Bellows pleats={6} filled={share} className="h-2.5 w-12 max-md:hidden" />
      <span className={cx(tight && 'font-medium text-warn')}>
        <b className="font-medium text-ink">{formatCount(used)}</b>
        <span className="text-ink-3"> / {size > 0 ? formatContext(size) : '–'}</span>
      </span>
    </div>
  );
}
