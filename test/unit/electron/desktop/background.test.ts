/** The file by which desktops of Linux start the app at login. */
import { expect, it, vi } from 'vitest';
import { desktopEntry } from '@/electron/desktop/background';

vi.mock('electron', () => import('@/test/fixtures/electron'));

it('quotes a command as the Desktop Entry Specification says, twice where the value has escapes of its own', () => {
  const exec = (...words: string[]) => desktopEntry(words).match(/^Exec=(.*)$/m)?.[1];
  expect(exec('/opt/Concertina/concertina', '--hidden')).toBe('"/opt/Concertina/concertina" "--hidden"');
  expect(exec('/home/a b/100%/x')).toBe('"/home/a b/100%%/x"');
  expect(exec('/a"b')).toBe('"/a\\\\"b"');
  expect(exec('/a$b`c')).toBe('"/a\\\\$b\\\\`c"');
  expect(exec('/a\\b')).toBe('"/a\\\\\\\\b"');
});
