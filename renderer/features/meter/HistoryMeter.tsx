import { ChartLine } from 'lucide-react';
import { Popover } from '../../ui/Popover';
import { HistoryPanel } from './HistoryPanel';
import { SparklineBar } from './SparklineBar';
import { StripButton } from './StripButton';

/** The speed over the answer in little; opens the plots over time. */
export function HistoryMeter() {
  return (
    <Popover
      label="History"
      align="start"
      className="w-[min(46rem,calc(100vw-1.25rem))] p-4"
      trigger={
        <StripButton data-testid="meter-history-open" title="Speed over this answer" aria-label="Show plots over time">
          <SparklineBar />
          <ChartLine className="size-3.5 text-ink-3" aria-hidden="true" />
        </StripButton>
      }
    >
      <HistoryPanel />
    </Popover>
  );
}
