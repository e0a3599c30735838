// `npm run dist`: the packages in release/, for this machine's system. With the real Electron in node_modules/electron/dist all
// targets of electron-builder.config.cjs; on Linux without it, the same around the test runtime, which proves the packaging and
// is not for anyone to use: named -test, and refused by electron/release.mjs. What was made is listed in release/built-*.json.
// CLI: node electron/dist.mjs [--dir] [--arch x64|arm64] [--appimage]
//   --dir: only the unpacked folder; --arch: of another machine, for which the addon was cross-built; --appimage: on Linux too

import crypto from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { packedBin, ROOT } from '../native/prepare/paths.mjs';
import { PrepareError } from '../native/prepare/process.mjs';
import { ensureTestRuntime, RUNTIME, RUNTIME_VERSION } from '../test/e2e/runtime.mjs';

const require = createRequire(import.meta.url);
const PACKAGE = require('../package.json');

/** What was packed around what, beside the packages; the files of several machines come together for a release. */
export const builtFile = (arch) => `built-${process.platform}-${arch}.json`;

/**
 * @typedef {{standIn: boolean, electron: string, arch: string}} Runtime
 * @typedef {{name: string, bytes: number, sha256: string}} BuiltFile
 * @typedef {{version: string, homepage: string, runtime: Runtime, vulkan: boolean, files: BuiltFile[]}} Built
 *   vulkan: the engine opens the system's Vulkan
 */

/**
 * @param {object} [options]
 * @param {boolean} [options.dirOnly] only the unpacked folder
 * @param {string} [options.output] folder instead of release/
 * @param {string} [options.version] instead of the one in package.json, for the test of an update
 * @param {string} [options.arch] x64 or arm64
 * @param {boolean} [options.appImage] one more target on Linux
 * @param {'xz' | 'gzip'} [options.compression] of deb and rpm; gzip is for tests in a hurry
 * @param {string[]} [options.targets] instead of those of the configuration
 * @returns {Promise<Built & {folder: string}>}
 */
export async function buildDist({
  dirOnly = false,
  output = path.join(ROOT, 'release'),
  version = PACKAGE.version,
  arch = process.arch,
  appImage = false,
  compression = 'xz',
  targets,
} = {}) {
  const runtime = runtimeFor(arch);
  const engine = packedBin(arch);
  if (runtime.standIn) await ensureTestRuntime();
  // read afresh: electron-builder changes the objects that it is given
  const file = require.resolve('../electron-builder.config.cjs');
  delete require.cache[file];
  const released = require(file);
  const config = {
    ...released,
    ...(runtime.standIn ? standIn(released) : {}),
    directories: { ...released.directories, output },
    extraMetadata: { ...released.extraMetadata, version },
    extraResources: resourcesFor(engine, released.extraResources),
  };
  config.deb = { ...config.deb, compression: compression === 'gzip' ? 'gz' : compression };
  config.rpm = { ...config.rpm, compression };
  config.linux = { ...config.linux, target: targets ?? [...config.linux.target, ...(appImage ? ['AppImage'] : [])] };
  // deb and rpm by our own script, so that nothing is downloaded and what is tested is what is released
  process.env.CUSTOM_FPM_PATH = fileURLToPath(new URL('./packaging/fpm.mjs', import.meta.url));

  const { Arch, build, Platform } = await import('electron-builder');
  const wanted = Platform.current().createTarget(dirOnly ? 'dir' : null, Arch[arch]);
  const made = await build({ projectDir: ROOT, config, targets: wanted, publish: 'never' });
  const files = made.filter((file) => fs.statSync(file).isFile()).map(describe);
  const { homepage } = config.extraMetadata;
  const built = { version, homepage, runtime, vulkan: hasVulkan(engine), files };
  fs.writeFileSync(path.join(output, builtFile(arch)), `${JSON.stringify(built, null, 2)}\n`);
  return { ...built, folder: output };
}

/** @returns {Runtime} */
function runtimeFor(arch) {
  const real = fs.existsSync(path.join(ROOT, 'node_modules', 'electron', 'dist', 'version'));
  if (real || process.platform !== 'linux') return { standIn: false, electron: PACKAGE.devDependencies.electron, arch };
  if (arch !== 'x64') {
    throw new PrepareError(
      `There is no Electron for Linux ${arch} here: its binary could not be downloaded, and the test runtime is for x64 alone. ` +
        'Run this where npm can fetch Electron (npm run dist:electron).',
    );
  }
  return { standIn: true, electron: RUNTIME_VERSION, arch };
}

/** The addon is the one file that differs between processors. */
function resourcesFor(engine, resources) {
  return resources.map((one) => (one.to === 'native' ? { ...one, from: path.relative(ROOT, engine) } : one));
}

/** By the loader that native/vulkan opens, whatever the options of the build were. */
function hasVulkan(engine) {
  const addon = fs.readFileSync(path.join(engine, 'concertina.node'));
  return addon.includes(process.platform === 'win32' ? 'vulkan-1.dll' : 'libvulkan.so.1');
}

/** What differs around the test runtime. */
function standIn(released) {
  const named = (part) => ({
    ...part,
    packageName: `${part.packageName}-test`,
    artifactName: part.artifactName.replace(/^concertina/, 'concertina-test'),
    fpm: part.fpm.map((pair) => pair.replace('/doc/concertina/', '/doc/concertina-test/')),
  });
  return {
    artifactName: released.artifactName.replace(/^concertina/, 'concertina-test'),
    deb: named(released.deb),
    rpm: named(released.rpm),
    electronDist: RUNTIME,
    electronVersion: RUNTIME_VERSION,
    // the shim that starts app folders: a packaged app loads its own archive
    afterExtract: async ({ appOutDir }) => {
      for (const name of ['resources/app', 'stamp.json']) {
        fs.rmSync(path.join(appOutDir, name), { recursive: true, force: true });
      }
    },
  };
}

/** @returns {BuiltFile} */
function describe(file) {
  const content = fs.readFileSync(file);
  return {
    name: path.basename(file),
    bytes: content.length,
    sha256: crypto.createHash('sha256').update(content).digest('hex'),
  };
}

function bytesIn(folder) {
  const entries = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map((one) => fs.statSync(path.join(one.parentPath, one.name)).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const options = { dir: { type: 'boolean' }, arch: { type: 'string' }, appimage: { type: 'boolean' } };
  const { values } = parseArgs({ options });
  try {
    const { folder, runtime, files } = await buildDist({
      dirOnly: values.dir,
      arch: values.arch,
      appImage: values.appimage,
    });
    const what = runtime.standIn ? 'test runtime, not for anyone to use' : 'of package.json';
    console.log(
      `\nin ${path.relative(process.cwd(), folder)}/, around Electron ${runtime.electron} (${what}), ${runtime.arch}:`,
    );
    for (const { name, bytes } of files) console.log(`  ${name}  ${megabytes(bytes)}`);
    const unpacked = fs.readdirSync(folder).filter((name) => name.endsWith('-unpacked'));
    for (const name of unpacked) console.log(`  ${name}/  ${megabytes(bytesIn(path.join(folder, name)))}`);
  } catch (error) {
    if (!(error instanceof PrepareError)) throw error;
    console.error(`error: ${error.message}`);
    process.exitCode = 1;
  }
}
