/** The messages that docs/guide.md explains are those that the app says: word for word somewhere in its sources. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const sources = ['electron', 'renderer']
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`))
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => readFileSync(file, 'utf8'));

const messages = (() => {
  const table = readFileSync('docs/guide.md', 'utf8').split('<!-- messages:')[1]?.split('\n## ')[0] ?? '';
  return [...table.matchAll(/^\| (?!message )([^|]+?) \|/gm)].map(([, message = '']) => message);
})();

it('explains some', () => expect(messages.length).toBeGreaterThan(10));

it.each(messages)('%s', (message) => expect(sources.some((source) => source.includes(message))).toBe(true));
