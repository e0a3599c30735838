// Configures and builds the engine with CMake.
// CLI: node native/prepare/build.mjs [--portable] [--arm64 | --windows | --cuda] [target ...]     targets: engine, tools, tests, or
// CMake's own names; --arm64: for Linux on 64-bit Arm, --windows: for Windows x64, both on Linux x64; --cuda: for this machine, with
// kernels for NVIDIA's GPUs, of the architectures in CUDAARCHS or of all that llama.cpp names

import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { forgetMovedBuild } from './cmake-cache.mjs';
import { BUILD, METAL, NATIVE, OUT, ROOT, WINDOWS_OUT } from './paths.mjs';
import { cli, PrepareError, run, withLock } from './process.mjs';
import { seriesSize } from './series.mjs';
import { prepareUpstream, readPin, seriesHash } from './upstream.mjs';
import { vulkanOptions } from './vulkan.mjs';

/** Groups of CMake targets. The first is what the app needs; the others are for measurements and tests. */
export const TARGETS = {
  engine: ['concertina'],
  tools: ['llama-bench', 'llama-perplexity', 'llama-completion'],
  tests: ['turbo-tests', 'test-backend-ops', 'test-quantize-fns'],
  bench: ['kvbench'],
  weights: ['llama-quantize'],
};

/** For this machine, and for two others from Linux x64. `compiler` is asked for its version: another one builds anew. */
const HERE = { out: OUT, executable: process.platform === 'win32' ? '.exe' : '', options: [] };
const ARM64 = {
  out: path.join(BUILD, 'native-addon-arm64'),
  executable: '',
  compiler: 'aarch64-linux-gnu-g++',
  options: [
    ...['-DCMAKE_SYSTEM_NAME=Linux', '-DCMAKE_SYSTEM_PROCESSOR=aarch64', '-DGGML_NATIVE=OFF'],
    ...['-DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc', '-DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++'],
  ],
};
const WINDOWS = {
  out: WINDOWS_OUT,
  executable: '.exe',
  compiler: 'clang++-19',
  options: [`-DCMAKE_TOOLCHAIN_FILE=${path.join(NATIVE, 'windows', 'toolchain.cmake')}`],
};

/** For this machine, on GPUs of NVIDIA through CUDA. */
const CUDA = {
  out: path.join(BUILD, 'native-cuda'),
  executable: HERE.executable,
  options: ['-DGGML_CUDA=ON', '-DGGML_VULKAN=OFF'],
};

const SANITIZE = '-fsanitize=address -fno-omit-frame-pointer -g1';
/** For this machine, with AddressSanitizer: what loads it needs the sanitizer's library before all others (test/fuzz/run.mjs). */
const SANITIZED = {
  out: path.join(BUILD, 'native-addon-sanitized'),
  executable: '',
  options: ['C', 'CXX'].map((language) => `-DCMAKE_${language}_FLAGS=${SANITIZE}`),
};

const LOG_LINES_SHOWN = 40;

/** Folders whose content decides the build, besides the patched tree. */
const SOURCES = [NATIVE, METAL, path.join(ROOT, 'test', 'native'), path.join(ROOT, 'test', 'bench', 'kvbench')];
const SOURCE_FILE = /\.(c|cc|cpp|cu|cuh|h|hpp|inl|m|mm|metal|comp|glsl|cmake|txt)$/;

/**
 * Builds the engine; does nothing when sources, compiler and options are those of the last build.
 * @param {object} [options]
 * @param {(progress: {stage: 'fetch'|'unpack'|'patch'|'configure'|'compile', fraction: number}) => void} [options.onProgress]
 *   fraction is of the stage, 0 to 1
 * @param {string[]} [options.targets] group names of TARGETS or CMake target names; default: engine
 * @param {boolean} [options.portable] for any x86-64 with AVX2 instead of this machine's CPU
 * @param {boolean} [options.arm64] for Linux on any 64-bit Arm, in a folder of its own
 * @param {boolean} [options.windows] for Windows x64 with AVX2, in a folder of its own
 * @param {boolean} [options.cuda] with CUDA in place of Vulkan, in a folder of its own
 * @param {boolean} [options.sanitized] with AddressSanitizer, in a folder of its own
 * @param {(message: string) => void} [options.onNote] hears why it takes longer than expected: another process, a moved folder
 * @returns {Promise<{bin: string, built: boolean}>} bin: the folder of the products
 * @throws {PrepareError} with the end of the log and its path
 */
export async function buildEngine({
  onProgress = () => {},
  targets = ['engine'],
  portable = false,
  arm64 = false,
  windows = false,
  cuda = false,
  sanitized = false,
  onNote = console.error,
} = {}) {
  const names = [...new Set(targets.flatMap((target) => TARGETS[target] ?? [target]))];
  const system = windows ? WINDOWS : arm64 ? ARM64 : cuda ? CUDA : sanitized ? SANITIZED : HERE;
  const lock = `${system.out}.lock`;
  return withLock(lock, () => build({ onProgress, names, portable: portable || windows, system, onNote }), onNote);
}

async function build({ onProgress, names, portable, system, onNote }) {
  const { out } = system;
  const bin = path.join(out, 'bin');
  const log = `${out}-build.log`;
  await prepareUpstream({ onProgress });
  await requireTools();
  if (system === CUDA && (await run('nvcc', ['--version'])).code !== 0) {
    throw new PrepareError('An engine with CUDA needs the CUDA toolkit of NVIDIA, 12 or later, with nvcc in the PATH.');
  }
  forgetMovedBuild({ source: NATIVE, build: out }, onNote);
  const napi = napiIncludeDirs();
  if (names.includes('concertina') && !napi) {
    throw new PrepareError('The addon needs the packages node-addon-api and node-api-headers: run npm ci.');
  }

  const withVulkan = [HERE, ARM64, WINDOWS].includes(system);
  const forOthers = portable || system === ARM64;
  const vulkan = withVulkan
    ? await vulkanOptions({ required: forOthers && names.includes('concertina') })
    : { options: [] };
  const options = [
    '-DCMAKE_BUILD_TYPE=Release',
    `-DCONCERTINA_COMMIT=${readPin().commit.slice(0, 12)}`,
    `-DCONCERTINA_PORTABLE=${portable ? 'ON' : 'OFF'}`,
    `-DCONCERTINA_NAPI_INCLUDE_DIRS=${napi ? napi.join(';') : ''}`,
    ...system.options,
    ...vulkan.options,
  ];
  const hash = await inputHash(options, system.compiler);
  const stampFile = path.join(out, 'concertina-stamp.json');
  const stamp = readStamp(stampFile);
  const done = stamp?.hash === hash ? stamp.targets : [];
  const missing = names.filter(
    (name) => !done.includes(name) || !fs.existsSync(path.join(bin, productOf(name, system))),
  );
  if (missing.length === 0) return { bin, built: false };
  if (vulkan.reason && names.includes('concertina')) onNote(`The engine has no Vulkan: ${vulkan.reason}.`);

  fs.mkdirSync(out, { recursive: true });
  fs.writeFileSync(log, '');
  onProgress({ stage: 'configure', fraction: 0 });
  const generator = fs.existsSync(path.join(out, 'CMakeCache.txt')) ? [] : await generatorArgs();
  await logged(log, 'Configuring the engine', [...generator, '-S', NATIVE, '-B', out, ...options]);
  onProgress({ stage: 'configure', fraction: 1 });

  onProgress({ stage: 'compile', fraction: 0 });
  const jobs = String(os.availableParallelism());
  await logged(log, 'Building the engine', ['--build', out, '--parallel', jobs, '--target', ...missing], (line) => {
    const fraction = progressOf(line);
    if (fraction !== null) onProgress({ stage: 'compile', fraction });
  });
  onProgress({ stage: 'compile', fraction: 1 });
  fs.writeFileSync(stampFile, JSON.stringify({ hash, targets: [...new Set([...done, ...missing])] }));
  return { bin, built: true };
}

/** Ninja prints [n/m], Make [ n%]. */
function progressOf(line) {
  const ninja = /^\[(\d+)\/(\d+)\]/.exec(line);
  if (ninja) return Number(ninja[1]) / Number(ninja[2]);
  const make = /^\[ *(\d+)%\]/.exec(line);
  return make ? Number(make[1]) / 100 : null;
}

const productOf = (name, system) => (name === 'concertina' ? 'concertina.node' : name + system.executable);

async function generatorArgs() {
  return (await run('ninja', ['--version'])).code === 0 ? ['-G', 'Ninja'] : [];
}

async function requireTools() {
  const hint = {
    linux: 'apt-get install cmake g++ ninja-build',
    darwin: 'xcode-select --install; brew install cmake ninja',
  };
  if ((await run('cmake', ['--version'])).code !== 0) {
    throw new PrepareError(
      `CMake was not found. Install it: ${hint[process.platform] ?? 'see the download page of CMake'}`,
    );
  }
}

/** Include folders of Node-API, or null when the packages are not installed. */
function napiIncludeDirs() {
  const folders = ['node-addon-api', path.join('node-api-headers', 'include')].map((name) =>
    path.join(ROOT, 'node_modules', name),
  );
  return folders.every((folder) => fs.existsSync(folder)) ? folders : null;
}

async function inputHash(options, compilerName = process.env.CXX ?? 'c++') {
  const hash = crypto.createHash('sha256').update(seriesHash()).update(options.join('\0'));
  const compiler = await run(compilerName, ['--version']);
  hash
    .update(compiler.stdout)
    .update(process.env.CXXFLAGS ?? '')
    .update(os.cpus()[0]?.model ?? '');
  for (const folder of SOURCES) {
    if (!fs.existsSync(folder)) continue;
    const files = fs
      .readdirSync(folder, { recursive: true })
      .map(String)
      .filter((name) => SOURCE_FILE.test(name))
      .sort();
    for (const file of files) hash.update(`\0${file}\0`).update(fs.readFileSync(path.join(folder, file)));
  }
  return hash.digest('hex');
}

function readStamp(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : null;
}

/** CMake, with its output in a log file. */
async function logged(file, what, args, onLine) {
  const log = fs.createWriteStream(file, { flags: 'a' });
  try {
    const lines = [];
    const { code } = await run('cmake', args, {
      onLine: (line) => {
        log.write(`${line}\n`);
        lines.push(line);
        onLine?.(line);
      },
    });
    if (code !== 0) {
      throw new PrepareError(
        `${what} failed. The end of the log, all of it in ${file}:\n${lines.slice(-LOG_LINES_SHOWN).join('\n')}`,
      );
    }
  } finally {
    log.end();
  }
}

/** One line for people: how much of upstream we change. */
export function describePatches() {
  const text = ({ files, hunks, added, removed }) => `${files} files, ${hunks} hunks, +${added} -${removed}`;
  const { engine, tests, metal, vulkan, cuda, template } = seriesSize();
  return `patches to llama.cpp: ${text(engine)} (apart: Metal ${text(metal)}; Vulkan ${text(vulkan)}; CUDA ${text(cuda)}; templates ${text(template)}; tests ${text(tests)})`;
}

cli(import.meta.url, async (args) => {
  const targets = args.filter((arg) => !arg.startsWith('--'));
  let shown = '';
  const { bin, built } = await buildEngine({
    targets: targets.length ? targets : undefined,
    portable: args.includes('--portable'),
    arm64: args.includes('--arm64'),
    windows: args.includes('--windows'),
    cuda: args.includes('--cuda'),
    onProgress: ({ stage, fraction }) => {
      const line = `${stage} ${Math.floor(fraction * 100)}%`;
      if (line !== shown) console.log(line);
      shown = line;
    },
  });
  console.log(describePatches());
  console.log(`${built ? 'built' : 'up to date:'} ${bin}`);
});
