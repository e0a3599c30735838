/**
 * The language of what the system shows of the app: menus, dialogs and notifications. The services of this process go on in English,
 * which logs, commands and other programs read.
 */
import type { Messages } from '@lingui/core';
import { app } from 'electron';
import { messages as german } from '../../assets/locales/de';
import type { ErrorPayload } from '../contract/errors';
import {
  createI18n,
  inWords,
  type Language,
  type LanguageSetting,
  languageOf,
  type Translatable,
} from '../contract/lib/language';

const catalogs: Record<Language, Messages> = { en: {}, de: german };

const i18n = createI18n();

/** @returns whether it is another one than before */
export function followLanguage(setting: LanguageSetting): boolean {
  const locale = languageOf(setting, app.getPreferredSystemLanguages());
  if (i18n.locale === locale) return false;
  i18n.loadAndActivate({ locale, messages: catalogs[locale] });
  return true;
}

export function shown(text: Translatable): string {
  return inWords(i18n, text);
}

export function shownError({ message, hint, said }: ErrorPayload): { message: string; hint: string } {
  return said ? { message: shown(said.message), hint: shown(said.hint) } : { message, hint };
}
