/** Completion scripts: bash runs its own; the others are read. */
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { askCommands } from '@/electron/server/askCommands';
import { modelCommands } from '@/electron/server/commands';
import { completionScript } from '@/electron/server/completion';

const commands = [...askCommands, ...modelCommands];
const script = completionScript('bash', commands);

/** What bash offers for the last word of a line. */
function offered(line: string): string[] {
  const words = line.split(' ');
  const call = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _concertina; printf "%s\\n" "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync('bash', ['-c', `${script}\n${call}`, 'bash', ...words], {
    cwd: 'docs',
    encoding: 'utf8',
  });
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout.split('\n').filter(Boolean);
}

test.skipIf(process.platform === 'win32')('bash completes commands, options, their values and files', () => {
  expect(offered('concertina ')).toEqual(['chat', 'run', 'estimate', 'inspect', 'models', 'help']);
  expect(offered('concertina models ')).toEqual(['search', 'pull', 'list', 'rm']);
  expect(offered('concertina models p')).toEqual(['pull']);
  expect(offered('concertina run --type')).toEqual(['--type-k', '--type-v']);
  expect(offered('concertina run --type-k turbo')).toEqual(['turbo4', 'turbo4_tcq', 'turbo3', 'turbo3_tcq']);
  expect(offered('concertina models pull --re')).toEqual(['--revision']);
  expect(offered('concertina models pull --so')).toEqual([]);
  for (const line of ['concertina run --doc comm', 'concertina inspect comm', 'concertina run --json comm']) {
    expect(offered(line), line).toEqual(['commands.md']);
  }
});

test.each(['zsh', 'fish'] as const)('%s knows every command and option', (shell) => {
  const text = completionScript(shell, commands);
  for (const { name, options } of commands) {
    for (const word of [...name.split(' '), ...Object.keys(options)]) expect(text).toContain(word);
  }
});
