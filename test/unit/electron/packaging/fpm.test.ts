import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { controlFile, orderOf, specFile } from '@/electron/packaging/fpm.mjs';
import { temporaryFolder } from '@/test/fixtures/temporary';

/** As electron-builder calls fpm. */
function args(target: 'deb' | 'rpm', folder: string, more: string[] = []): string[] {
  return [
    ...['-s', 'dir', '--force', '-t', target, '-d', 'libc6 (>= 2.34)', '-d', 'libgtk-3-0 | libgtk-3-0t64'],
    ...(target === 'deb' ? ['--deb-recommends', 'fonts', '--deb-compression', 'gz', '--deb-priority', 'optional'] : []),
    ...(target === 'rpm' ? ['--rpm-os', 'linux', '--rpm-compression', 'gzip', '--rpm-summary', 'A chat'] : []),
    ...['--architecture', 'amd64', '--after-install', `${folder}/in`, '--after-remove', `${folder}/out`],
    ...[
      '--description',
      target === 'deb' ? 'A chat\n Runs models.\n Here.' : 'Runs models.',
      '--version',
      '1.2.3~beta.1',
    ],
    ...[
      '--package',
      `${folder}/made.${target}`,
      '--name',
      'concertina',
      '--maintainer',
      'M <m@x.invalid>',
      '--vendor',
      'V',
    ],
    ...['--url', 'https://x.invalid', '--category', 'utils', '--license', 'MIT', ...more],
  ];
}

async function folderWithScripts(): Promise<string> {
  const folder = await temporaryFolder();
  writeFileSync(path.join(folder, 'in'), '#!/bin/bash\necho "100% $1"\n');
  writeFileSync(path.join(folder, 'out'), '#!/bin/bash\nexit 0\n');
  return folder;
}

test("the control file has Debian's fields, a summary line and an indented description", () => {
  expect(controlFile(orderOf(args('deb', '/t')), 2049)).toBe(
    [
      ...['Package: concertina', 'Version: 1.2.3~beta.1', 'License: MIT', 'Vendor: V', 'Architecture: amd64'],
      ...['Maintainer: M <m@x.invalid>', 'Installed-Size: 3', 'Depends: libc6 (>= 2.34), libgtk-3-0 | libgtk-3-0t64'],
      ...['Recommends: fonts', 'Section: utils', 'Priority: optional', 'Homepage: https://x.invalid'],
      ...['Description: A chat', ' Runs models.', ' Here.', ''],
    ].join('\n'),
  );
});

test('an rpm names processors in its own words, and its scripts keep their percent signs', async () => {
  const folder = await folderWithScripts();
  const order = orderOf(args('rpm', folder));
  expect(order.architecture).toBe('x86_64');
  const spec = specFile(order, '/staging', ['/opt/App', '/usr/share/a b', '/usr/share/doc/concertina/changelog.gz']);
  for (const line of [
    'Version: 1.2.3~beta.1',
    'Release: 1',
    'Requires: libc6 (>= 2.34)',
    '%dir "/usr/share/doc/concertina"',
    '"/usr/share/a b"',
    'echo "100%% $1"',
  ]) {
    expect(spec.split('\n')).toContain(line);
  }
  expect(spec).not.toContain('#!');
});

test('what is not known is refused, not left out', () => {
  expect(() => orderOf(args('deb', '/t', ['--deb-systemd', 'unit']))).toThrow(/deb-systemd/);
  expect(() => orderOf(args('deb', '/t').filter((arg) => arg !== '--name' && arg !== 'concertina'))).toThrow('--name');
  expect(() => orderOf(['-s', 'dir', '-t', 'pacman'])).toThrow('pacman');
  expect(() => specFile({ ...orderOf(args('rpm', '/t')), compression: 'lzma' }, '/s', [])).toThrow('lzma');
});

test.skipIf(spawnSync('dpkg-deb', ['--version']).status !== 0)(
  'a deb holds the files, readable by all and owned by root',
  async () => {
    const folder = await folderWithScripts();
    mkdirSync(path.join(folder, 'app'), { mode: 0o700 });
    writeFileSync(path.join(folder, 'app', 'program'), 'x', { mode: 0o700 });
    writeFileSync(path.join(folder, 'app', 'data'), 'y', { mode: 0o600 });
    const program = path.resolve('electron/packaging/fpm.mjs');
    const made = spawnSync(process.execPath, [program, ...args('deb', folder), `${folder}/app/=/opt/App`], {
      encoding: 'utf8',
    });
    expect(made.stderr).toBe('');
    const { stdout } = spawnSync('dpkg-deb', ['-c', path.join(folder, 'made.deb')], { encoding: 'utf8' });
    const found = stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/\s+/));
    expect(found.map(([mode, owner, , , , name]) => `${mode} ${owner} ${name}`).sort()).toEqual([
      '-rw-r--r-- root/root ./opt/App/data',
      '-rwxr-xr-x root/root ./opt/App/program',
      'drwxr-xr-x root/root ./',
      'drwxr-xr-x root/root ./opt/',
      'drwxr-xr-x root/root ./opt/App/',
    ]);
  },
);

test('the script that removes does nothing when a package manager only updates', () => {
  const script = readFileSync('electron/packaging/linux/after-remove.tpl', 'utf8').replaceAll(/\$\{\w+\}/g, 'nothing');
  // what would be called is a function that says so
  const traced = `update-alternatives() { echo removed; }\nupdate-mime-database() { :; }\nupdate-desktop-database() { :; }\ngtk-update-icon-cache() { :; }\n${script}`;
  const said = (word: string) => spawnSync('bash', ['-c', traced, 'postrm', word], { encoding: 'utf8' }).stdout.trim();
  // dpkg, then rpm: how many of the package are left
  expect(['remove', 'purge', '0'].map(said)).toEqual(['removed', 'removed', 'removed']);
  expect(['upgrade', 'failed-upgrade', 'abort-upgrade', '1', '2'].map(said)).toEqual(['', '', '', '', '']);
});
