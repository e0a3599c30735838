/** Menus, dialogs and notifications in the language of the system, or of the settings, while the services stay English. */
import { msg } from '@lingui/core/runtime-macro';
import { afterEach, expect, test, vi } from 'vitest';
import { ConcertinaError } from '@/electron/contract/errors';
import { commandById } from '@/electron/contract/lib/commands';
import { followLanguage, shown, shownError } from '@/electron/desktop/language';
import { setUpMenu } from '@/electron/desktop/window';
import { desktop } from '@/test/fixtures/electron';

vi.mock('electron', () => import('@/test/fixtures/electron'));

afterEach(() => {
  desktop.languages = ['en-US'];
  followLanguage('system');
});

test('the system decides, and the settings over it; a menu is made anew only for another language', () => {
  expect([followLanguage('system'), shown(msg`Select all`)]).toEqual([false, 'Select all']);
  desktop.languages = ['fr-FR', 'de-CH', 'en'];
  expect([followLanguage('system'), shown(msg`Select all`)]).toEqual([true, 'Alles auswählen']);
  expect([followLanguage('de'), followLanguage('en')]).toEqual([false, true]);
  expect(shown(msg`Select all`)).toBe('Select all');
});

test('an error is said in it, and stays English for logs and programs', () => {
  followLanguage('de');
  const error = new ConcertinaError('busy', msg`The app is closing.`, 'ggml: x');
  expect(shownError(error.toPayload())).toEqual({ message: 'Die App wird geschlossen.', hint: 'ggml: x' });
  expect(error.message).toBe('The app is closing.');
});

test('every label of the menu is German', () => {
  const labels = () => {
    setUpMenu();
    return desktop.menu.flatMap(({ label, submenu = [] }) => [label, ...submenu.map((item) => item.label)]);
  };
  const english = labels();
  followLanguage('de');
  const german = labels();
  // the same word in both
  const same = new Set(['Chat', undefined]);
  expect(german).toHaveLength(english.length);
  expect(german.filter((label) => english.includes(label) && !same.has(label))).toEqual([]);
  expect(german).toContain('Einstellungen');
  expect(commandById('settings').label).toBe('Settings');
});
