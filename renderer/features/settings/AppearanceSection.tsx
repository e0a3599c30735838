import type { Settings } from '../../../electron/contract/settings';
import { useActions } from '../../state/useApp';
import { Segmented } from '../../ui/Segmented';

const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

export function AppearanceSection({ theme }: { theme: Settings['theme'] }) {
  const { settings } = useActions();
  return (
    <div className="flex items-center justify-between gap-3" data-testid="settings-theme">
      <span className="text-sm font-medium text-ink">Theme</span>
      <Segmented
        name="theme"
        label="Theme"
        value={theme}
        options={themes}
        onValue={(next) => void settings.update({ theme: next })}
      />
    </div>
  );
}
