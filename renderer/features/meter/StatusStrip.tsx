/** The strip at the bottom: what the engine does, how fast, how full, in how much memory, on what. Nothing silent. */
import { ContextMeter } from './ContextMeter';
import { EngineMeter } from './EngineMeter';
import { MemoryMeter } from './MemoryMeter';
import { SpeedMeter } from './SpeedMeter';
import { StateMeter } from './StateMeter';

export function StatusStrip() {
  return (
    <footer
      data-testid="status-strip"
      className="strip flex h-8 shrink-0 items-stretch border-t border-line bg-panel px-1.5 text-xs text-ink-2 tabular-nums"
    >
      <StateMeter />
      <SpeedMeter />
      <span className="flex-1" />
      <ContextMeter />
      <MemoryMeter />
      <EngineMeter />
    </footer>
  );
}
