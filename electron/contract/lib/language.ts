/**
 * The languages of the app, and texts that are made in one process and shown in another. Services and the engine speak English,
 * because programs, commands and logs read them; a text of theirs keeps what it is made of (a message descriptor of Lingui), so
 * that the window can say it in its own language.
 */
import { type I18n, type MessageDescriptor, setupI18n } from '@lingui/core';
import { compileMessage } from '@lingui/message-utils/compileMessage';
import { z } from 'zod';

const languages = ['en', 'de'] as const;
export type Language = (typeof languages)[number];

/** `system`: the first language of the system that the app speaks, else English */
export const languageSettingSchema = z.enum(['system', ...languages]);
export type LanguageSetting = z.infer<typeof languageSettingSchema>;

/** @param preferred BCP 47 tags in the order in which the person wants them, as the system tells them */
export function languageOf(setting: LanguageSetting, preferred: readonly string[]): Language {
  if (setting !== 'system') return setting;
  const spoken = preferred.map((tag) => languages.find((language) => tag.toLowerCase().split('-')[0] === language));
  return spoken.find((language) => language !== undefined) ?? 'en';
}

const scriptsFromTheRight = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm', 'Rohg']);

/** For `dir`. */
export function directionOf(tag: string): 'ltr' | 'rtl' {
  return scriptsFromTheRight.has(new Intl.Locale(tag).maximize().script ?? '') ? 'rtl' : 'ltr';
}

/** What is shown as it is, or a message with values that may be such texts themselves. */
export type Translatable = string | MessageDescriptor;

const descriptorSchema: z.ZodType<MessageDescriptor> = z.object({
  id: z.string(),
  message: z.string().optional(),
  get values() {
    return z.record(z.string(), z.union([z.string(), z.number(), descriptorSchema])).optional();
  },
});

export const translatableSchema: z.ZodType<Translatable> = z.union([z.string(), descriptorSchema]);

/** English, until another language is activated. What has no translation is compiled when it is first said. */
export function createI18n(): I18n {
  const compiled = new Map<string, ReturnType<typeof compileMessage>>();
  const compile = (message: string) => {
    const known = compiled.get(message) ?? compileMessage(message);
    compiled.set(message, known);
    return known;
  };
  return setupI18n({ locale: 'en', messages: { en: {} } }).setMessagesCompiler(compile);
}

/** In the language of `i18n`. */
export function inWords(i18n: I18n, text: Translatable): string {
  if (typeof text === 'string') return text;
  const { id, message, values = {} } = text;
  const said = Object.entries(values).map(([name, value]) => [name, valueIn(i18n, value)]);
  return i18n._(id, Object.fromEntries(said), { message });
}

function valueIn(i18n: I18n, value: unknown): unknown {
  if (typeof value === 'number') return new Quantity(value, i18n.locale);
  return typeof value === 'object' && value !== null ? inWords(i18n, value as MessageDescriptor) : value;
}

/** A number that chooses a plural by its value, and stands in a text with the signs of its language: 8,192. */
class Quantity {
  readonly value: number;
  readonly locale: string;

  constructor(value: number, locale: string) {
    this.value = value;
    this.locale = locale;
  }

  [Symbol.toPrimitive](hint: string): string | number {
    return hint === 'number' ? this.value : new Intl.NumberFormat(this.locale).format(this.value);
  }
}

let ofThisProcess = createI18n();

/** The window speaks its own language, all other processes English. */
export function speakWith(i18n: I18n): void {
  ofThisProcess = i18n;
}

/** In the language of this process. */
export function say(text: Translatable): string {
  return inWords(ofThisProcess, text);
}
