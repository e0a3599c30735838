// A bare Debian in a folder, from the mirror that this machine's apt uses: commands run in it by chroot, a person to start the app
// as, and the list of what is on it, to see what a package leaves behind.

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { must, PrepareError } from '../../native/prepare/process.mjs';

/** Who starts the app: Chromium's sandbox is off for root. */
const PERSON = { name: 'tester', id: '1000', home: '/home/tester' };

/** Written by dpkg, apt, rpm and the app as they run, and by nobody else; rpm keeps its list of packages beside dpkg's. */
const NOT_COMPARED =
  /^(?:var\/(?:lib\/(?:dpkg|apt|rpm)|log|cache)|run|tmp|proc|sys|dev|home\/tester|root)(?:\/|$)|^etc\/ld\.so\.cache$|^usr\/share\/icons\/hicolor\/icon-theme\.cache$/;

export class BareRoot {
  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
  }

  /** @param {{reuse?: boolean}} options reuse: the one that is there */
  async make({ reuse = false }) {
    if (process.getuid?.() !== 0)
      throw new PrepareError('This needs root: it installs packages in a chroot of its own.');
    if (reuse && fs.existsSync(path.join(this.folder, PERSON.home))) await this.unmount();
    else await this.install();
    // nothing of this machine is mounted in it: what is removed with it is its own
    await must('Mounting', 'mount', ['-t', 'proc', 'proc', path.join(this.folder, 'proc')]);
    await must('Mounting', 'mount', ['-t', 'tmpfs', 'tmpfs', path.join(this.folder, 'dev', 'shm')]);
  }

  async install() {
    await this.remove();
    fs.mkdirSync(path.dirname(this.folder), { recursive: true });
    const { codename, sources } = ownDebian();
    const options = ['--variant=minbase', '--include=ca-certificates,desktop-file-utils'];
    await must('Making a bare Debian', 'mmdebstrap', [...options, codename, this.folder, ...sources]);
    await this.run('useradd', ['--create-home', '--uid', PERSON.id, PERSON.name]);
    // dpkg removes an empty /opt with the last package that had files in it
    fs.mkdirSync(path.join(this.folder, 'opt', 'another'), { recursive: true });
  }

  async unmount() {
    for (const inner of ['proc', 'dev/shm']) {
      const target = path.join(this.folder, inner);
      if (fs.readFileSync('/proc/mounts', 'utf8').includes(` ${target} `)) await must('Unmounting', 'umount', [target]);
    }
  }

  async remove() {
    await this.unmount();
    if (fs.existsSync(this.folder)) await must('Removing', 'rm', ['-rf', '--one-file-system', this.folder]);
  }

  /** As root in it. @returns {Promise<string>} standard output */
  run(command, args) {
    const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C.UTF-8' };
    return must(`In the bare Debian`, 'chroot', [this.folder, command, ...args], { env });
  }

  /** What starts a program in it as a person; its arguments follow. @param {string} program @returns {string[]} */
  asPerson(program) {
    const home = [`HOME=${PERSON.home}`, `USER=${PERSON.name}`];
    const unset = ['-u', 'XDG_CONFIG_HOME', '-u', 'XDG_RUNTIME_DIR', '-u', 'DBUS_SESSION_BUS_ADDRESS'];
    return [
      'chroot',
      `--userspec=${PERSON.id}:${PERSON.id}`,
      '--groups=',
      this.folder,
      '/usr/bin/env',
      ...unset,
      ...home,
      program,
    ];
  }

  /** Puts a file where the person can read it. @returns {string} its path inside */
  give(file) {
    const inside = path.posix.join(PERSON.home, path.basename(file));
    fs.copyFileSync(file, path.join(this.folder, inside));
    fs.chmodSync(path.join(this.folder, inside), 0o644);
    return inside;
  }

  /** All that is on it but logs, caches and the person's own: path → kind, mode and hash of the content. @returns {Map<string, string>} */
  list() {
    const found = new Map();
    for (const inner of this.walk('')) {
      const full = path.join(this.folder, inner);
      const stat = fs.lstatSync(full);
      const content = stat.isFile() ? hashOf(full) : stat.isSymbolicLink() ? fs.readlinkSync(full) : '';
      found.set(inner, `${(stat.mode & 0o177777).toString(8)} ${content}`);
    }
    return found;
  }

  *walk(inner) {
    for (const entry of fs.readdirSync(path.join(this.folder, inner), { withFileTypes: true })) {
      const next = path.join(inner, entry.name);
      if (NOT_COMPARED.test(next)) continue;
      yield next;
      if (entry.isDirectory()) yield* this.walk(next);
    }
  }
}

const hashOf = (file) => crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex').slice(0, 16);

/** @param {Map<string, string>} before @param {Map<string, string>} after @returns {string[]} one line for each difference */
export function differences(before, after) {
  const gone = [...before.keys()].filter((name) => !after.has(name)).map((name) => `gone: ${name}`);
  const other = [...after].flatMap(([name, value]) => {
    if (!before.has(name)) return [`new: ${name}`];
    return before.get(name) === value ? [] : [`changed: ${name}`];
  });
  return [...gone, ...other];
}

/** The release of this machine, and the files that say where its packages come from. */
function ownDebian() {
  const codename = /^VERSION_CODENAME=(\w+)/m.exec(fs.readFileSync('/etc/os-release', 'utf8'))?.[1];
  const folder = '/etc/apt/sources.list.d';
  const own = fs
    .readdirSync(folder)
    .filter(
      (name) =>
        name.endsWith('.sources') &&
        fs.readFileSync(path.join(folder, name), 'utf8').includes('debian-archive-keyring'),
    );
  const sources = own.map((name) => path.join(folder, name));
  if (fs.existsSync('/etc/apt/sources.list')) sources.push('/etc/apt/sources.list');
  if (!codename || sources.length === 0) throw new PrepareError('This needs Debian, with its packages in /etc/apt.');
  return { codename, sources };
}
