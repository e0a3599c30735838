// @vitest-environment happy-dom
/** The window in another language: its own texts, numbers, and what services say. */
import { readFileSync } from 'node:fs';
import { msg } from '@lingui/core/runtime-macro';
import { afterEach, expect, test } from 'vitest';
import { ConcertinaError, toErrorPayload } from '@/electron/contract/errors';
import { commandById } from '@/electron/contract/lib/commands';
import { directionOf, languageOf, say } from '@/electron/contract/lib/language';
import { settingsSchema } from '@/electron/contract/settings';
import { aboutText } from '@/renderer/features/models/catalogText';
import { i18n, localized, showLanguage } from '@/renderer/language';
import { countText } from '@/renderer/state/lib/partText';
import { sectionLabel } from '@/renderer/state/lib/sectionLabel';
import { formatBytes, formatCount, formatDay, formatPercent, growText } from '@/renderer/ui/format';
import { parseNumber } from '@/renderer/ui/NumberField';

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

test.each([
  ['0,7', 0.7],
  ['0.7', 0.7],
  ['8.192', 8192],
  ['8.192,5', 8192.5],
  ['-1,5', -1.5],
  ['1,2,3', undefined],
])('a number typed with a decimal comma: %s is %s', async (text, value) => {
  await showLanguage('de');
  expect(parseNumber(text, { min: -10, max: 10_000, integer: false })).toBe(value);
});

test.each([
  ['Page 3', 'Seite 3'],
  ['Page iv (sheet 4)', 'Seite iv (Blatt 4)'],
  ['Sheet 2', 'Blatt 2'],
  ['Sheet Sales, rows 201-400', 'Blatt Sales, Zeilen 201-400'],
  ['Lines 201-400', 'Zeilen 201-400'],
  ['Parts 1-3', 'Teile 1-3'],
  ['Page 3 (2 of 4)', 'Seite 3 (2 von 4)'],
  ['Page 3 to Beginning', 'Seite 3 bis Anfang'],
  ['notes.pdf: Pages 1-24', 'notes.pdf: Seiten 1-24'],
  // headings of a document
  ['Page layout', 'Page layout'],
  ['From Rome to Page', 'From Rome to Page'],
])('the name of a section: %s is %s', async (label, said) => {
  expect(sectionLabel(label)).toBe(label);
  await showLanguage('de');
  expect(sectionLabel(label)).toBe(said);
});

test('the desktop tells which languages the person prefers', async () => {
  history.replaceState(null, '', '?languages=fr-FR,de-AT');
  await showLanguage('system');
  history.replaceState(null, '', '?');
  expect(i18n.locale).toBe('de');
  expect(settingsSchema.parse({}).language).toBe('system');
});

test('what the list of models says of each is said in German', async () => {
  const abouts = JSON.parse(readFileSync('assets/catalog/models.json', 'utf8')).models.map(
    ({ about }: { about: string }) => about,
  );
  expect(abouts.length).toBeGreaterThan(10);
  await showLanguage('de');
  expect(abouts.filter((about: string) => aboutText(about) === about)).toEqual([]);
});
