/** The strip at the bottom: what the engine does, how fast, how full, in how much memory, on what. Nothing silent. */
import { selectMeterOff } from '../../state/meter/selectors';
import { useApp } from '../../state/useApp';
import { ContextMeter } from './ContextMeter';
import { DownloadMeter } from './DownloadMeter';
import { EngineMeter } from './EngineMeter';
import { HistoryMeter } from './HistoryMeter';
import { MemoryMeter } from './MemoryMeter';
import { PowerMeter } from './PowerMeter';
import { SpeedMeter } from './SpeedMeter';
import { StateMeter } from './StateMeter';

export function StatusStrip() {
  if (useApp(selectMeterOff)) return null;
  return (
    <footer
      data-testid="status-strip"
      className="strip flex h-8 shrink-0 items-stretch border-t border-line bg-panel px-1.5 text-xs text-ink-2 tabular-nums"
    >
      <StateMeter />
      <SpeedMeter />
      <HistoryMeter />
      <span className="flex-1" />
      <DownloadMeter />
      <PowerMeter />
      <ContextMeter />
      <MemoryMeter />
      <EngineMeter />
    </footer>
  );
}
