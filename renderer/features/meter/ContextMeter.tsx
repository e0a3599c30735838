import { selectKvBytes } from '../../state/engine/selectors';
import { selectContextSize, selectContextUsed } from '../../state/meter/selectors';
import { useApp } from '../../state/useApp';
import { Bellows } from '../../ui/Bellows';
import { cx } from '../../ui/cx';
import { formatBytes, formatContext, formatCount } from '../../ui/format';

/** Tokens in the cache of those that it holds. The bellows fill with them. */
export function ContextMeter() {
  const used = useApp(selectContextUsed);
  const size = useApp(selectContextSize);
  const kvBytes = useApp(selectKvBytes);
  const share = size > 0 ? used / size : 0;
  const tight = share > 0.9;
  const bytes = kvBytes > 0 ? `, ${formatBytes(kvBytes * Math.min(1, share))} of ${formatBytes(kvBytes)}` : '';

  return (
    <div
      data-testid="meter-context"
      data-used={used}
      data-size={size}
      title={`Context: ${formatCount(used)} of ${formatCount(size)} tokens are in the cache${bytes}`}
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
