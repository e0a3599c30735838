/**
 * The language of the window. Lingui's macros compile to the `i18n` and the `Trans` of this file (`#language` in
 * package.json), so that a component shows its texts without a provider above it, in tests too.
 */
import type { I18n, Messages } from '@lingui/core';
import type { TransProps } from '@lingui/react';
import { TransNoContext } from '@lingui/react/server';
import { useSyncExternalStore } from 'react';
import {
  createI18n,
  directionOf,
  type Language,
  type LanguageSetting,
  languageOf,
  say,
  speakWith,
  type Translatable,
} from '../electron/contract/lib/language';

/** English stands in the source. */
const catalogs: Record<Exclude<Language, 'en'>, () => Promise<{ messages: Messages }>> = {
  de: () => import('../assets/locales/de'),
};

export const i18n: I18n = createI18n();
speakWith(i18n);

export function Trans(props: TransProps) {
  return <TransNoContext {...props} lingui={{ i18n }} />;
}

/** The language that is shown. It is the key of what shows texts: with another one everything is drawn anew. */
export function useLanguage(): string {
  return useSyncExternalStore(
    (listener) => i18n.on('change', listener),
    () => i18n.locale,
  );
}

/**
 * What services say (`said` beside the English texts of an error) in the language of the window. Plain objects and lists are gone
 * through; what says nothing stays the same object.
 */
export function localized<T>(value: T): T {
  if (Array.isArray(value)) {
    const items = value.map(localized);
    return items.some((item, index) => item !== value[index]) ? (items as T) : value;
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  const { said, ...rest } = value as Record<string, unknown>;
  const texts = typeof said === 'object' && said !== null ? Object.entries(said) : [];
  const own = Object.fromEntries(texts.map(([name, text]) => [name, say(text as Translatable)]));
  const entries = Object.entries(rest).map(([name, item]) => [name, own[name] ?? localized(item)] as const);
  if (entries.every(([name, item]) => item === rest[name])) return value;
  return { ...Object.fromEntries(entries), ...(said !== undefined && { said }) } as T;
}

/** In the order in which the person wants them. The desktop names all of the system, of which Chromium tells only one. */
function preferred(): readonly string[] {
  const named = new URLSearchParams(location.search).get('languages');
  return named === null ? navigator.languages : named.split(',');
}

/** The last one asked for is shown, whichever catalog is loaded first. */
let asked: Language = 'en';

export async function showLanguage(setting: LanguageSetting): Promise<void> {
  const language = languageOf(setting, preferred());
  asked = language;
  const { messages } = language === 'en' ? { messages: {} } : await catalogs[language]();
  if (asked !== language) return;
  document.documentElement.lang = language;
  document.documentElement.dir = directionOf(language);
  if (i18n.locale !== language) i18n.loadAndActivate({ locale: language, messages });
}
