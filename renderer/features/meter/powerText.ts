import type { Power } from '../../../electron/contract/power';
import { formatPercent } from '../../ui/format';

export interface PowerHint {
  text: string;
  title: string;
  /** amber: answers are slower for it now */
  slow: boolean;
}

/** What the strip says of heat and power; null when there is nothing to say, or the platform tells nothing. */
export function powerHint({ thermal, speedLimit, onBattery }: Power): PowerHint | null {
  const limited = speedLimit !== null && speedLimit < 100;
  if (thermal === 'critical' || thermal === 'serious') {
    const limit = limited ? `, the processor to ${formatPercent(speedLimit / 100)} of its speed` : '';
    return { text: 'Hot', slow: true, title: `The computer is too hot (${thermal}): the system slows it down${limit}` };
  }
  if (limited) {
    const share = formatPercent(speedLimit / 100);
    return {
      text: `Slowed to ${share}`,
      slow: true,
      title: `The system limits the processor to ${share} of its speed`,
    };
  }
  if (onBattery)
    return { text: 'Battery', slow: false, title: 'On battery: the system may save power at the cost of speed' };
  return null;
}
