/** The theme as a class on <html>. The last choice is remembered here too, so that the first paint has it. */
import type { Settings } from '../../electron/contract/settings';

type Theme = Settings['theme'];

const storageKey = 'concertina.theme';

export function applyStoredTheme(): void {
  const stored = localStorage.getItem(storageKey);
  applyTheme(stored === 'light' || stored === 'dark' ? stored : 'system');
}

export function applyTheme(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark', dark);
  localStorage.setItem(storageKey, theme);
}
