/** The commands of package.json under a Node that is too old for them, played by this one. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '@/test/fixtures/temporary';

const launcher = 'native/prepare/node.mjs';
const [, version = ''] = /VERSION = '([\d.]+)'/.exec(readFileSync(launcher, 'utf8')) ?? [];
const old = "data:text/javascript,Object.defineProperty(process.versions, 'node', { value: '20.20.2' })";

/** A repository of which only this is there, with a script that prints how it was run, and `npm` as the test says. */
async function repository({ npm }: { npm: string }) {
  const root = await temporaryFolder();
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), 0o755);
  };
  cpSync(resolve('native/prepare'), join(root, 'native/prepare'), { recursive: true });
  cpSync(resolve('package.json'), join(root, 'package.json'));
  write('script.mjs', 'console.log(JSON.stringify([process.argv.slice(1), process.env.PATH])); process.exitCode = 7;');
  write('tools/npm', `#!/bin/sh\n${npm}\n`);
  const run = (...options: string[]) => {
    const args = [...options, launcher, 'script.mjs', '--json', 'two words'];
    const env = { ...process.env, PATH: `${join(root, 'tools')}:${process.env.PATH}` };
    return spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' });
  };
  const cached = () => (existsSync(join(root, 'build/cache')) ? readdirSync(join(root, 'build/cache')) : []);
  return { root, write, run, cached };
}

describe.skipIf(process.platform === 'win32')('a script of a command', () => {
  const pinned = `build/cache/node-${version}/package/bin/node`;

  it('runs on this Node where it is new enough, and nothing is fetched', async () => {
    const { root, run, cached } = await repository({ npm: 'exit 1' });
    const { stdout, stderr, status } = run();
    expect([stderr, status]).toEqual(['', 7]);
    expect(JSON.parse(stdout)[0]).toEqual([join(root, 'script.mjs'), '--json', 'two words']);
    expect(cached()).toEqual([]);
  });

  it('runs, too, where it imports the launcher itself', async () => {
    const { run, write } = await repository({ npm: 'exit 1' });
    write('script.mjs', "import { isNewEnough } from './native/prepare/node.mjs'; console.log(isNewEnough());");
    const { stdout, stderr, status } = run();
    expect([stdout, stderr, status]).toEqual(['true\n', '', 0]);
  });

  it('runs on the pinned one else, which comes first in its path', async () => {
    const { root, run, write } = await repository({ npm: 'exit 1' });
    write(pinned, `#!/bin/sh\nexec '${process.execPath}' "$@"\n`);
    const { stdout, stderr, status } = run('--import', old);
    expect([stderr, status]).toEqual(['', 7]);
    const [args, path] = JSON.parse(stdout);
    expect(args).toEqual([join(root, 'script.mjs'), '--json', 'two words']);
    expect(path.split(':')[0]).toBe(dirname(join(root, pinned)));
  });

  it('does not run where that cannot be fetched: says what is missing and why', async () => {
    const { run, cached } = await repository({ npm: 'echo offline >&2; exit 1' });
    const { stdout, stderr, status } = run('--import', old);
    expect([stdout, status]).toEqual(['', 1]);
    expect(stderr).toMatch(
      /Node >=22\.\d+ is needed; this is 20\.20\.2 \(.*Fetching node-.*check the network.*offline/s,
    );
    expect(stderr).not.toContain('at ');
    expect(cached()).toEqual([]);
  });

  it('does not run on what is not the pinned one', async () => {
    const { run, cached } = await repository({ npm: 'echo other > "$5/$(echo "$2" | tr @ -).tgz"' });
    const { stderr, status } = run('--import', old);
    expect(status).toBe(1);
    expect(stderr).toContain('does not match its pinned integrity hash and was deleted');
    expect(cached()).toEqual([]);
  });
});
