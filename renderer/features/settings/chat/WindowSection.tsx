/** How the window looks, and what it does beside the chats. All of it applies at once. */
import { t } from '@lingui/core/macro';
import type { Settings } from '../../../../electron/contract/settings';
import { selectHeadless } from '../../../state/slices/engine';
import { useActions, useApp } from '../../../state/useApp';
import { ChoiceField, SwitchField } from '../../../ui/Segmented';
import { isMac } from '../../../ui/Tooltip';

type Own = Pick<Settings, 'theme' | 'language' | 'notifications' | 'spellCheck' | 'tray' | 'startAtLogin'>;

export function WindowSection({ settings: own }: { settings: Own }) {
  const { theme, language, notifications, spellCheck, tray, startAtLogin } = own;
  const headless = useApp(selectHeadless);
  const { settings } = useActions();
  const look = (
    <>
      <ThemeField theme={theme} />
      <LanguageField language={language} />
    </>
  );
  // a browser has its own of what follows
  if (headless) return look;
  return (
    <>
      {look}
      <SwitchField
        name="notifications"
        testId="settings-notifications"
        label={t`Notifications`}
        help={t`When an answer, the reading of a document or a comparison took longer than 20 seconds, and ends while you use another program.`}
        on={notifications}
        onValue={(on) => void settings.update({ notifications: on })}
      />
      <SwitchField
        name="spell-check"
        testId="settings-spell-check"
        label={t`Check spelling`}
        help={spellingHelp()}
        on={spellCheck}
        onValue={(on) => void settings.update({ spellCheck: on })}
      />
      <SwitchField
        name="tray"
        testId="settings-tray"
        label={isMac ? t`Icon in the menu bar` : t`Icon in the tray`}
        help={trayHelp()}
        on={tray}
        onValue={(on) => void settings.update({ tray: on })}
      />
      <SwitchField
        name="start-at-login"
        testId="settings-start-at-login"
        label={t`Start at login`}
        help={t`With the icon it starts without a window. The model is loaded then, as at every start.`}
        on={startAtLogin}
        onValue={(on) => void settings.update({ startAtLogin: on })}
      />
    </>
  );
}

function ThemeField({ theme }: { theme: Settings['theme'] }) {
  const { settings } = useActions();
  return (
    <ChoiceField
      name="theme"
      label={t`Theme`}
      testId="settings-theme"
      value={theme}
      options={[
        { value: 'system', label: t`System` },
        { value: 'light', label: t`Light` },
        { value: 'dark', label: t`Dark` },
      ]}
      onValue={(next) => void settings.update({ theme: next })}
    />
  );
}

function LanguageField({ language }: { language: Settings['language'] }) {
  const { settings } = useActions();
  return (
    <ChoiceField
      name="language"
      label={t`Language`}
      testId="settings-language"
      value={language}
      options={[
        { value: 'system', label: t`System` },
        // each in its own language
        { value: 'en', label: 'English' },
        { value: 'de', label: 'Deutsch' },
      ]}
      onValue={(next) => void settings.update({ language: next })}
    />
  );
}

function trayHelp(): string {
  if (isMac) return t`The icon opens the window and quits Concertina.`;
  return t`Concertina then goes on when its window is closed: answers, downloads and the API. The icon brings the window back, and quits. Where your desktop shows no such icons, start Concertina again to have its window back.`;
}

function spellingHelp(): string {
  return isMac
    ? t`By macOS, with its own dictionaries. A right click on a word shows suggestions.`
    : t`To check, Chromium downloads the dictionaries of your languages from a server of Google, once. What you write stays here. A right click on a word shows suggestions.`;
}
