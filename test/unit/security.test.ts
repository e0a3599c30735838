/** Each promise of docs/security.md names the test that holds it: by its file and its title, as they are. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const text = readFileSync('docs/security.md', 'utf8');

/** “title” behind the `file` that it is in, or behind another title of it. */
const named = [...text.matchAll(/`(test\/[\w/.-]+\.(?:test|spec)\.tsx?)`: ((?:“[^”]+”(?:, )?)+)/g)].flatMap(
  ([, file = '', titles = '']) => [...titles.matchAll(/“([^”]+)”/g)].map(([, title = '']) => [file, title] as const),
);

test('docs/security.md names tests for each of its promises', () => {
  const rows = text.split('\n').filter((line) => /^\| (?!promise|-)/.test(line));
  expect(rows.length).toBeGreaterThan(30);
  for (const row of rows) expect(row).toMatch(/`test\/[^`]+`: “/);
  // none is written in a way that is not looked up
  expect(named).toHaveLength(text.match(/“/g)?.length ?? 0);
});

test.each(named)('%s has the test “%s”', (file, title) => {
  expect(existsSync(file)).toBe(true);
  // as the first argument of a call: of test, it or describe, with `.skipIf(...)` and the like between; a figure may stand before it
  const words = title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  expect(readFileSync(file, 'utf8')).toMatch(new RegExp(`\\(\\s*(['"\`])(?:\\$\\{[^}]*\\} )?${words}\\1`));
});
