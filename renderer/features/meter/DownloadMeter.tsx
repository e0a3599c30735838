import { ArrowDownToLine } from 'lucide-react';
import { goingOf, selectDownloads } from '../../state/downloads/selectors';
import { useActions, useApp } from '../../state/useApp';
import { formatPercent } from '../../ui/format';
import { StripButton } from './StripButton';

/** How far the downloads are, while there are any. */
export function DownloadMeter() {
  const going = goingOf(useApp(selectDownloads) ?? []);
  const { ui } = useActions();
  if (going.length === 0) return null;
  const bytes = going.reduce((sum, one) => sum + one.bytes, 0);
  const share = bytes > 0 ? going.reduce((sum, one) => sum + one.done, 0) / bytes : 0;
  const waits = going.every(({ state }) => state === 'waiting');
  const what = going.length === 1 ? (going[0]?.title ?? '') : `${going.length} downloads`;
  return (
    <StripButton
      data-testid="meter-downloads"
      data-share={share.toFixed(3)}
      aria-label={`${what}: ${formatPercent(share)}${waits ? ', waiting to try again' : ''}. Show the downloads`}
      title={`${what}${waits ? ' (waiting to try again)' : ''}`}
      className={waits ? 'text-warn' : undefined}
      onClick={() => ui.showModels('downloads')}
    >
      <ArrowDownToLine className="size-3.5" aria-hidden="true" />
      <b>{formatPercent(share)}</b>
    </StripButton>
  );
}
