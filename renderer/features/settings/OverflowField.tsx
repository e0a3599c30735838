/** What happens when the context is full. Applies at once: it changes no cache. */
import type { Settings } from '../../../electron/contract/settings';
import { useActions } from '../../state/useApp';
import { Segmented } from '../../ui/Segmented';

const options = [
  { value: 'stop', label: 'Stop' },
  { value: 'roll', label: 'Drop oldest' },
] as const;

const help: Record<Settings['overflow'], string> = {
  stop: 'Passages that were looked up for earlier questions make room. Nothing else is left out: the answer ends at the limit, and a question that does not fit is not sent.',
  roll: 'Passages that were looked up for earlier questions make room; then the oldest messages are left out of what the model reads, and each answer says how many. The system prompt and messages with documents stay in.',
};

export function OverflowField({ overflow }: { overflow: Settings['overflow'] }) {
  const { settings } = useActions();
  return (
    <div className="grid gap-1.5" data-testid="settings-overflow">
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium text-ink">When it is full</span>
        <Segmented
          name="overflow"
          label="When the context is full"
          value={overflow}
          options={options}
          onValue={(next) => void settings.update({ overflow: next })}
        />
      </div>
      <p className="text-xs leading-relaxed text-ink-3">{help[overflow]}</p>
    </div>
  );
}
