/** The workflows run what exists: commands of package.json, stages of the tests, options of the bench. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseOptions } from '../bench/speed/options.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const folder = join(root, '.github', 'workflows');
const scripts = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> })
  .scripts;
const stages = [
  ...readFileSync(join(root, 'test', 'run.mjs'), 'utf8').matchAll(/^ {2}(\w+): (?:async )?\(\) => /gm),
].map(([, name]) => name);

const commandsOf = (text: string) => [...text.matchAll(/^\s+run: (.*)$/gm)].map(([, command]) => command ?? '');

describe.each(readdirSync(folder))('%s', (file) => {
  const text = readFileSync(join(folder, file), 'utf8');
  const commands = commandsOf(text);

  it('runs commands that exist', () => {
    expect(commands.length).toBeGreaterThan(0);
    for (const command of commands) {
      const [, name = ''] = /^npm (?:run )?([\w:]+)( |$)/.exec(command) ?? [];
      // npm's own
      if (command !== 'npm ci') expect(Object.keys(scripts), command).toContain(name);
    }
  });

  it('asks for stages and options that exist', () => {
    for (const command of commands) {
      const [what = '', asked = ''] = command.split(' -- ');
      const words = asked.split(' ').filter(Boolean);
      if (what === 'npm test') expect(stages).toEqual(expect.arrayContaining(words));
      if (what === 'npm run bench') expect(parseOptions(words).depths.length).toBeGreaterThan(1);
    }
  });

  it('names no host', () => {
    expect(text).not.toMatch(/https?:|\w\.(com|org|net|io)\b/);
  });
});

it('CI fails where the Metal kernels cannot be tested', () => {
  expect(readFileSync(join(root, '.ci', 'run'), 'utf8')).toMatch(/^export CI=/m);
});
