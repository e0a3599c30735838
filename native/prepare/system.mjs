// What set-up needs from the operating system, per purpose, and how to get it on each platform.
// Looked for by what is used (a command, a shared library, a file), so a self-built CMake counts as much as a package.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { PrepareError, run } from './process.mjs';

const MINIMUM_CMAKE = [3, 22];

/**
 * One thing needed. `apt` lists names in order of preference (distributions rename libraries);
 * `brew` and `winget` are arguments of `install`; `optional` things are installed where that needs no question
 * and are never asked for.
 * @typedef {{what: string, why: string, found: () => boolean, apt: string[], brew?: string, winget?: string,
 *   fix?: Partial<Record<NodeJS.Platform, string>>, optional?: boolean}} Requirement
 */

/** @type {Requirement[]} */
const BUILD = [
  {
    what: 'git',
    why: 'unpacks the llama.cpp sources, which come as a git bundle',
    found: () => hasCommand('git'),
    apt: ['git'],
    winget: 'Git.Git',
    fix: { darwin: 'xcode-select --install' },
  },
  {
    what: 'a C++17 compiler',
    why: 'compiles the engine',
    found: hasCompiler,
    apt: ['g++'],
    fix: {
      darwin: 'xcode-select --install',
      win32:
        'winget install --exact --id Microsoft.VisualStudio.2022.BuildTools --override "--wait --passive --add Microsoft.VisualStudio.Workload.VCTools --includeRecommended"',
    },
  },
  {
    what: `CMake ${MINIMUM_CMAKE.join('.')} or newer`,
    why: 'configures the build of the engine',
    found: () => atLeast(commandVersion('cmake'), MINIMUM_CMAKE),
    apt: ['cmake'],
    brew: 'cmake',
    winget: 'Kitware.CMake',
  },
  // CMake's default generator on Linux and macOS when Ninja is missing
  {
    what: 'Ninja or make',
    why: 'runs the build of the engine',
    found: () => process.platform === 'win32' || hasCommand('ninja') || hasCommand('make'),
    apt: ['ninja-build'],
    brew: 'ninja',
  },
  { what: 'Ninja', why: 'builds faster', found: () => hasCommand('ninja'), apt: ['ninja-build'], optional: true },
  { what: 'ccache', why: 'rebuilds faster', found: () => hasCommand('ccache'), apt: ['ccache'], optional: true },
];

export const PYTHON_MODULES = ['pytest', 'requests', 'filelock', 'wget'];

const ELECTRON_LIBRARY = 'loaded by Electron';

/** @type {Requirement[]} Needed where the Electron window tests run: Linux. */
const TESTS = [
  { what: 'Xvfb', why: 'the display of the window tests', found: () => hasCommand('Xvfb'), apt: ['xvfb'] },
  library('libgtk-3.so.0', ['libgtk-3-0', 'libgtk-3-0t64']),
  library('libnss3.so', ['libnss3']),
  library('libasound.so.2', ['libasound2', 'libasound2t64']),
  library('libgbm.so.1', ['libgbm1']),
  library('libXss.so.1', ['libxss1']),
  library('libatk-bridge-2.0.so.0', ['libatk-bridge2.0-0', 'libatk-bridge2.0-0t64']),
  {
    what: 'Chromium',
    why: 'the browser that headless mode is tested in',
    found: () => hasCommand('chromium'),
    apt: ['chromium'],
  },
  {
    what: 'Liberation fonts',
    why: 'text in screenshots and accessibility checks',
    found: () => ['liberation', 'liberation2'].some((name) => fs.existsSync(`/usr/share/fonts/truetype/${name}`)),
    apt: ['fonts-liberation'],
  },
  ...PYTHON_MODULES.map((module) => ({
    what: `Python 3 with ${module}`,
    why: "runs llama.cpp's own tests of its server against ours",
    found: () => findPython() !== undefined,
    apt: [`python3-${module}`],
  })),
  // SIMD levels that this CPU has not: test/native/run.mjs skips what is missing
  {
    what: 'a C++ compiler for 64-bit Arm',
    why: 'the kernels for Arm',
    found: () => process.arch !== 'x64' || hasCommand('aarch64-linux-gnu-g++'),
    apt: ['g++-aarch64-linux-gnu'],
    optional: true,
  },
  {
    what: 'QEMU',
    why: 'runs the tests of the kernels for Arm',
    found: () => process.arch !== 'x64' || hasCommand('qemu-aarch64'),
    apt: ['qemu-user'],
    optional: true,
  },
  {
    what: 'SIMDe',
    why: 'emulates AVX-512 in the tests of its kernels',
    found: () => process.arch !== 'x64' || fs.existsSync('/usr/include/simde/x86/avx512.h'),
    apt: ['libsimde-dev'],
    optional: true,
  },
  // 19 and no other: C++ for OpenCL with templates, and the sanitizer's calls that test/kernels/exec answers
  {
    what: 'clang 19',
    why: 'type-checks the Metal kernels with address spaces and compiles them for execution on the CPU',
    found: () => process.arch !== 'x64' || hasCommand('clang++-19'),
    apt: ['clang-19'],
    optional: true,
  },
];

/** @type {Requirement} */
const MMDEBSTRAP = {
  what: 'mmdebstrap',
  why: 'unpacks a compiler for shaders of Vulkan, and makes the bare Debian that packages are tried in',
  found: () => hasCommand('mmdebstrap'),
  apt: ['mmdebstrap'],
  optional: true,
};

/** @type {Requirement[]} Makes the packages for Linux and, on Debian, tries them. */
const PACKING = [
  { what: 'dpkg-deb', why: 'makes the deb', found: () => hasCommand('dpkg-deb'), apt: ['dpkg'] },
  { what: 'rpmbuild', why: 'makes the rpm', found: () => hasCommand('rpmbuild'), apt: ['rpm'] },
  MMDEBSTRAP,
];

/** @type {Requirement[]} The engine for Windows, cross-built on Linux (native/windows/toolchain.cmake). */
const WINDOWS = [
  MMDEBSTRAP,
  { what: 'clang 19', why: 'compiles for Windows', found: () => hasCommand('clang++-19'), apt: ['clang-19'] },
  { what: 'lld 19', why: 'links for Windows', found: () => hasCommand('ld.lld-19'), apt: ['lld-19'] },
  {
    what: 'mingw-w64 with posix threads',
    why: 'headers and libraries of Windows and of C++',
    found: () => hasCommand('x86_64-w64-mingw32-g++-posix'),
    apt: ['g++-mingw-w64-x86-64-posix'],
  },
];

const WINE_FOLDERS = ['/usr/lib/wine', '/usr/lib/x86_64-linux-gnu/wine'];

/** Debian keeps the 64-bit loader out of PATH, and its `wine` complains of the 32-bit one that we need not. */
export function winePath(program = 'wine64') {
  return WINE_FOLDERS.map((folder) => path.join(folder, program)).find((file) => fs.existsSync(file)) ?? program;
}

/** @type {Requirement[]} Windows programs tested on Linux (test/windows). */
const WINDOWS_TESTS = [
  {
    what: 'Wine for 64-bit programs',
    why: 'runs programs of Windows',
    found: () => path.isAbsolute(winePath()) || hasCommand('wine64'),
    apt: ['wine64'],
  },
  { what: 'NSIS', why: 'makes the installer for Windows', found: () => hasCommand('makensis'), apt: ['nsis'] },
];

/** The first Python that has all of what the tests import: packages of apt are those of the system's own. */
export function findPython(candidates = ['python3', '/usr/bin/python3']) {
  return candidates.find((python) => {
    try {
      execFileSync(python, ['-c', `import ${PYTHON_MODULES.join(', ')}`], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

/** @returns {Requirement} */
function library(soname, apt) {
  return { what: soname, why: ELECTRON_LIBRARY, found: () => sharedLibraries().includes(soname), apt };
}

/**
 * Checks what the purpose needs; installs it on Debian as root, elsewhere stops with the command that does.
 * @param {{tests: boolean, packing?: boolean, windows?: boolean, onProgress: (progress: {detail: string}) => void, onLine: (line: string) => void}} options
 *   windows: for Windows on Linux
 */
export async function ensureSystem({ tests, packing = false, windows = false, onProgress, onLine }) {
  if (windows && (process.platform !== 'linux' || process.arch !== 'x64'))
    throw new PrepareError(
      'The engine for Windows is cross-built on Linux x64 only. On Windows itself: npm run build:engine.',
    );
  const ofTests = windows ? WINDOWS_TESTS : process.platform === 'linux' ? TESTS : [];
  const table = [...BUILD, ...(windows ? WINDOWS : []), ...(tests ? ofTests : []), ...(packing ? PACKING : [])];
  const missing = table.filter((requirement) => !requirement.found());
  if (canInstall() && missing.length > 0) {
    await installWithApt(missing, onProgress, onLine);
    libraryList = undefined;
  }
  const still = missing.filter((requirement) => !requirement.optional && !requirement.found());
  if (still.length > 0) throw new PrepareError(explain(still));
}

const canInstall = () => process.platform === 'linux' && process.getuid?.() === 0 && hasCommand('apt-get');

async function installWithApt(missing, onProgress, onLine) {
  const options = { env: { DEBIAN_FRONTEND: 'noninteractive' }, onLine };
  const lock = ['-o', 'DPkg::Lock::Timeout=300'];
  onProgress({ detail: 'apt-get update' });
  const update = await run('apt-get', [...lock, 'update'], options);
  if (update.code !== 0)
    throw new PrepareError(`apt-get update failed:\n${update.stderr.trim()}\n\n${explain(missing)}`);
  const wanted = missing.filter(({ apt, optional }) => !optional || apt.some(isInstallable));
  const names = [...new Set(wanted.map(({ apt }) => apt.find(isInstallable) ?? apt[0]))];
  onProgress({ detail: `apt-get install ${names.join(' ')}` });
  const install = await run('apt-get', [...lock, 'install', '--yes', '--no-install-recommends', ...names], options);
  if (install.code !== 0) {
    throw new PrepareError(`apt-get install ${names.join(' ')} failed:\n${install.stderr.trim()}`);
  }
}

function isInstallable(name) {
  return /Candidate: (?!\(none\))/.test(output('apt-cache', ['policy', name]));
}

/** The message for a person: what is missing, why it is needed, the command that fixes it. */
function explain(missing) {
  const lines = missing.map(({ what, why }) => `  ${what} (${why})`);
  const commands = [...new Set(fixes(missing))].map((command) => `  ${command}`);
  return [`Missing on this machine:`, ...lines, 'Install with:', ...commands, 'then run the same command again.'].join(
    '\n',
  );
}

function fixes(missing) {
  const { platform } = process;
  const own = missing.flatMap(({ fix }) => fix?.[platform] ?? []);
  const rest = missing.filter(({ fix }) => !fix?.[platform]);
  if (platform === 'darwin') {
    const names = rest.flatMap(({ brew }) => brew ?? []);
    return names.length > 0 ? [...own, `brew install ${names.join(' ')}`] : own;
  }
  if (platform === 'win32') {
    return [...own, ...rest.flatMap(({ winget }) => (winget ? [`winget install --exact --id ${winget}`] : []))];
  }
  const names = [...new Set(rest.map(({ apt }) => apt[0]))].join(' ');
  if (hasCommand('apt-get')) return [`sudo apt-get update && sudo apt-get install ${names}`];
  return [`(with this system's package manager; Debian calls the packages: ${names})`];
}

function hasCommand(name) {
  const extensions = process.platform === 'win32' ? ['.exe', '.cmd'] : [''];
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .some((folder) => extensions.some((extension) => fs.existsSync(path.join(folder, name + extension))));
}

function hasCompiler() {
  if (process.env.CXX) return true;
  if (process.platform !== 'win32') return ['c++', 'g++', 'clang++'].some(hasCommand) && hasCommandLineTools();
  const vswhere = path.join(process.env['ProgramFiles(x86)'] ?? '', 'Microsoft Visual Studio/Installer/vswhere.exe');
  const tools = 'Microsoft.VisualStudio.Component.VC.Tools.x86.x64';
  return output(vswhere, ['-products', '*', '-requires', tools, '-property', 'installationPath']).trim() !== '';
}

/** macOS has stubs named c++ and git that only offer to install the real ones. */
function hasCommandLineTools() {
  return process.platform !== 'darwin' || output('xcode-select', ['-p']).trim() !== '';
}

let libraryList;
function sharedLibraries() {
  libraryList ??= output(fs.existsSync('/sbin/ldconfig') ? '/sbin/ldconfig' : 'ldconfig', ['-p']);
  return libraryList;
}

function commandVersion(command) {
  return output(command, ['--version']).match(/\d+(\.\d+)+/)?.[0] ?? '0';
}

export function atLeast(version, minimum) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > minimum[0] || (major === minimum[0] && minor >= minimum[1]);
}

/** Standard output of a quick query; empty when the command is missing or fails. */
function output(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return '';
  }
}
