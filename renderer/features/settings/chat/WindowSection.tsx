/** How the window looks, and what it does beside the chats. All of it applies at once. */
import type { Settings } from '../../../../electron/contract/settings';
import { selectHeadless } from '../../../state/slices/engine';
import { useActions, useApp } from '../../../state/useApp';
import { onOff, Segmented } from '../../../ui/Segmented';
import { isMac } from '../../../ui/Tooltip';

type Own = Pick<Settings, 'theme' | 'notifications' | 'spellCheck'>;

export function WindowSection({ settings: { theme, notifications, spellCheck } }: { settings: Own }) {
  const headless = useApp(selectHeadless);
  const { settings } = useActions();
  // a browser has its own of what follows
  if (headless) return <ThemeField theme={theme} />;
  return (
    <>
      <ThemeField theme={theme} />
      <Switch
        name="notifications"
        label="Notifications"
        help="When an answer, the reading of a document or a comparison took longer than 20 seconds, and ends while you use another program."
        on={notifications}
        onValue={(on) => void settings.update({ notifications: on })}
      />
      <Switch
        name="spell-check"
        label="Check spelling"
        help={spellingHelp}
        on={spellCheck}
        onValue={(on) => void settings.update({ spellCheck: on })}
      />
    </>
  );
}

const themes = [
  { value: 'system', label: 'System' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

function ThemeField({ theme }: { theme: Settings['theme'] }) {
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

const spellingHelp = isMac
  ? 'By macOS, with its own dictionaries. A right click on a word shows suggestions.'
  : 'To check, Chromium downloads the dictionaries of your languages from a server of Google, once. What you write stays here. A right click on a word shows suggestions.';

interface SwitchProps {
  name: string;
  label: string;
  help: string;
  on: boolean;
  onValue: (on: boolean) => void;
}

function Switch({ name, label, help, on, onValue }: SwitchProps) {
  return (
    <div className="grid gap-1.5" data-testid={`settings-${name}`}>
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium text-ink">{label}</span>
        <Segmented
          name={name}
          label={label}
          value={on ? 'on' : 'off'}
          options={onOff}
          onValue={(value) => onValue(value === 'on')}
        />
      </div>
      <p className="text-xs leading-relaxed text-ink-3">{help}</p>
    </div>
  );
}
