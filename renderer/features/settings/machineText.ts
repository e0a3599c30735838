/** The measured machine in few words, and what its choice would change. */
import type { MachineChoice, MachineFacts } from '../../../electron/contract/machine';
import type { ContextSettings } from '../../../electron/contract/settings';

/** "12.3 GB/s with 1 thread, 18.0 with 4": one thread, and the fewest that read fastest. */
export function bandwidthText({ bandwidth }: Pick<MachineFacts, 'bandwidth'>): string {
  const one = bandwidth[0];
  if (!one) return 'not measured';
  const best = bandwidth.reduce((found, next) => (next.bytesPerSecond > found.bytesPerSecond ? next : found), one);
  const first = `${giga(one.bytesPerSecond)} GB/s with ${one.threads} thread${one.threads === 1 ? '' : 's'}`;
  return best === one ? first : `${first}, ${giga(best.bytesPerSecond)} with ${best.threads}`;
}

/** Only what differs from the settings. */
export function choiceChanges(
  context: ContextSettings,
  { threads, nCtx, cache }: MachineChoice,
): Partial<ContextSettings> {
  const chosen: Partial<ContextSettings> = { threads: threads.value, typeK: cache.value, typeV: cache.value };
  if (nCtx) chosen.nCtx = nCtx.value;
  const entries = Object.entries(chosen).filter(([key, value]) => context[key as keyof ContextSettings] !== value);
  return Object.fromEntries(entries) as Partial<ContextSettings>;
}

function giga(bytesPerSecond: number): string {
  return (bytesPerSecond / 1e9).toFixed(1);
}
