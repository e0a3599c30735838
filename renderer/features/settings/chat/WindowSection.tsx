/** How the window looks, and what it does beside the chats. All of it applies at once. */
import type { Settings } from '../../../../electron/contract/settings';
import { selectHeadless } from '../../../state/slices/engine';
import { useActions, useApp } from '../../../state/useApp';
import { ChoiceField, SwitchField } from '../../../ui/Segmented';
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
      <SwitchField
        name="notifications"
        testId="settings-notifications"
        label="Notifications"
        help="When an answer, the reading of a document or a comparison took longer than 20 seconds, and ends while you use another program."
        on={notifications}
        onValue={(on) => void settings.update({ notifications: on })}
      />
      <SwitchField
        name="spell-check"
        testId="settings-spell-check"
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
    <ChoiceField
      name="theme"
      label="Theme"
      testId="settings-theme"
      value={theme}
      options={themes}
      onValue={(next) => void settings.update({ theme: next })}
    />
  );
}

const spellingHelp = isMac
  ? 'By macOS, with its own dictionaries. A right click on a word shows suggestions.'
  : 'To check, Chromium downloads the dictionaries of your languages from a server of Google, once. What you write stays here. A right click on a word shows suggestions.';
