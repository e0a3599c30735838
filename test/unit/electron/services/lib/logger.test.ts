import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createFileLogger } from '@/electron/services/lib/logger';
import { temporaryFolder } from '@/test/fixtures/temporary';

test('lines have a time and a level; the file is turned over when it is full', async () => {
  const folder = join(await temporaryFolder(), 'logs');
  const path = join(folder, 'concertina.log');
  const log = createFileLogger(path, () => new Date('2026-11-21T12:00:00Z'));
  log.warn('first\n');
  expect(await readFile(path, 'utf8')).toBe('2026-11-21T12:00:00.000Z warn first\n');
  await writeFile(path, 'x'.repeat(1_000_001));
  log.error('second');
  expect(await readFile(path, 'utf8')).toBe('2026-11-21T12:00:00.000Z error second\n');
  expect((await readdir(folder)).sort()).toEqual(['concertina.1.log', 'concertina.log']);
});

test('a line of any length is cut, and says so; the lines beside it are whole', async () => {
  const path = join(await temporaryFolder(), 'concertina.log');
  createFileLogger(path, () => new Date('2026-11-21T12:00:00Z')).warn(`first\n${'x'.repeat(400_000)}\nlast`);
  const cut = `${'x'.repeat(2000)} … (cut: 400000 characters)`;
  expect(await readFile(path, 'utf8')).toBe(`2026-11-21T12:00:00.000Z warn first\n${cut}\nlast\n`);
});
