// @vitest-environment happy-dom
/** The window in another language: its own texts, numbers, and what services say. */
import { msg } from '@lingui/core/runtime-macro';
import { afterEach, expect, test } from 'vitest';
import { ConcertinaError, toErrorPayload } from '@/electron/contract/errors';
import { commandById } from '@/electron/contract/lib/commands';
import { directionOf, languageOf, say } from '@/electron/contract/lib/language';
import { i18n, localized, showLanguage } from '@/renderer/language';
import { countText } from '@/renderer/state/lib/partText';
import { formatBytes, formatCount, formatDay, formatPercent, growText } from '@/renderer/ui/format';

afterEach(() => showLanguage('en'));

test('texts, plurals and numbers are those of the language, at once', async () => {
  const grow = { typeK: 'turbo4', typeV: 'turbo4', nCtx: 131_072, bytes: 1.2 * 2 ** 30, before: null } as const;
  const texts = () => [
    countText(1, 'passage'),
    countText(1200, 'passage'),
    growText({ ...grow, otherTypes: false, read: null }),
    commandById('new-chat').label,
    ...[formatBytes(1.25 * 2 ** 30), formatCount(8192), formatPercent(0.5), formatDay('2026-11-03T12:00:00')],
  ];
  expect(texts()).toEqual([
    ...['1 passage', '1,200 passages', 'Grow the context to 131,072: 1.20 GiB in all', 'New chat'],
    ...['1.25 GiB', '8,192', '50%', 'Nov 3, 2026'],
  ]);
  await showLanguage('de');
  expect([document.documentElement.lang, document.documentElement.dir]).toEqual(['de', 'ltr']);
  expect(texts()).toEqual([
    ...['1 Textstelle', '1.200 Textstellen', 'Kontext auf 131.072 verlängern: insgesamt 1,20 GiB', 'Neuer Chat'],
    ...['1,25 GiB', '8.192', '50\u00a0%', '03.11.2026'],
  ]);
});

test('an error of the services is English for programs, and said in the language of the window wherever it stands', async () => {
  const why = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  const payload = toErrorPayload(Object.assign(why, { path: '/data/notes.txt' }));
  expect(payload).toMatchObject({ message: 'notes.txt: the disk is full.', hint: 'Free some space and try again.' });
  // as it crosses a process boundary
  const event = JSON.parse(JSON.stringify({ jobs: [{ id: '1', error: payload }], count: 3 }));
  await showLanguage('de');
  const shown = localized(event);
  expect(shown.jobs[0].error).toMatchObject({
    message: 'notes.txt: der Datenträger ist voll.',
    hint: 'Platz schaffen und erneut versuchen.',
  });
  expect(event.jobs[0].error.message).toBe('notes.txt: the disk is full.');
  // and in English again, of what is in the store
  await showLanguage('en');
  expect(localized(shown)).toEqual(event);
  const plain = { list: [{ message: 'x', hint: 'y' }], when: new Date(0) };
  expect(localized(plain)).toBe(plain);
});

test('what has no translation is shown as it is', async () => {
  await showLanguage('de');
  const error = new ConcertinaError('internal', msg`Nobody translated ${{ count: 1234 }} of these.`, 'GGML_ASSERT(x)');
  expect([error.message, error.hint]).toEqual(['Nobody translated 1.234 of these.', 'GGML_ASSERT(x)']);
  expect(say('llama.cpp: x')).toBe('llama.cpp: x');
});

test('the one that was asked for last is shown, whichever is loaded first', async () => {
  await Promise.all([showLanguage('de'), showLanguage('en')]);
  expect(i18n.locale).toBe('en');
});

test('the first language of the system that the app speaks, else English', () => {
  expect(languageOf('system', ['fr-FR', 'de-AT', 'en'])).toBe('de');
  expect(languageOf('system', ['fr', 'ja'])).toBe('en');
  expect(languageOf('en', ['de'])).toBe('en');
  expect(['de', 'ar', 'he-IL', 'az-Arab', 'zh'].map(directionOf)).toEqual(['ltr', 'rtl', 'rtl', 'rtl', 'ltr']);
});
