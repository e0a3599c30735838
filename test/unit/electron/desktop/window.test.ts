import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readWindowState, writeWindowState } from '@/electron/desktop/window';
import { temporaryFolder } from '@/test/fixtures/temporary';

vi.mock('electron', () => import('@/test/fixtures/electron'));

const screen = { x: 0, y: 0, width: 1920, height: 1080 };
const bounds = { x: 100, y: 50, width: 900, height: 600 };

async function pathOf(): Promise<string> {
  return join(await temporaryFolder(), 'window.json');
}

test('the window comes back where it was', async () => {
  const path = await pathOf();
  writeWindowState(path, { bounds, maximized: true });
  expect(readWindowState(path, [screen])).toEqual({ bounds, maximized: true });
});

test.each([
  ['to the right of every screen', { ...bounds, x: 2500 }],
  ['with its title above the screen', { ...bounds, y: -200 }],
  ['with its title below the screen', { ...bounds, y: 1070 }],
  ['with a sliver left', { ...bounds, x: 1900 }],
])('a window %s opens at the default place', async (_, odd) => {
  const path = await pathOf();
  writeWindowState(path, { bounds: odd, maximized: false });
  expect(readWindowState(path, [screen])).toBeNull();
  const second = { x: 1920, y: -1000, width: 1920, height: 2080 };
  expect(readWindowState(path, [screen, second]) === null).toBe(odd.x < 1800);
});

test('a damaged file opens at the default place', async () => {
  const path = await pathOf();
  await writeFile(path, '{"bounds":{"x":"left"}}');
  expect(readWindowState(path, [screen])).toBeNull();
});
