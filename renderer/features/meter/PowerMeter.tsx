import { BatteryMedium, Thermometer } from 'lucide-react';
import { selectPower } from '../../state/meter/selectors';
import { useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { powerHint } from './powerText';

/** Heat, a limited processor, or running on battery: why answers may be slow. */
export function PowerMeter() {
  const hint = powerHint(useApp(selectPower));
  if (!hint) return null;
  const Icon = hint.slow ? Thermometer : BatteryMedium;
  return (
    <p
      role="status"
      data-testid="meter-power"
      title={hint.title}
      className={cx('flex items-center gap-1 px-2 whitespace-nowrap', hint.slow && 'bg-warn-soft text-warn')}
    >
      <Icon className="size-3.5" aria-hidden="true" />
      <span className={cx(!hint.slow && 'sr-only')}>{hint.text}</span>
    </p>
  );
}
