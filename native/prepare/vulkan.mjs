// What Vulkan shaders are compiled with: glslc, the headers of Vulkan and of SPIR-V, of this system where they are new enough, otherwise
// of Debian 13, unpacked into build/vulkan-tools. Nothing of it is linked: the engine opens the system's Vulkan loader when it starts.
// CLI: node native/prepare/vulkan.mjs     unpacks them; `npm start` and `npm test` then build the engine with Vulkan

import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { BUILD } from './paths.mjs';
import { cli, must, PrepareError, run } from './process.mjs';

const TOOLS = path.join(BUILD, 'vulkan-tools');

/** glslc that knows cooperative matrices, headers with vk::LayerSettingEXT: older ones stop upstream's build. */
const MIN_GLSLC = [2023, 8];
const MIN_HEADERS = 272;

/** Debian 13 has glslc 2025.2 and the headers 1.4.309. */
const CODENAME = 'trixie';
const PACKAGES = ['glslc', 'libvulkan-dev', 'spirv-headers'];

const COMMAND = 'node native/prepare/vulkan.mjs';

/**
 * CMake's options for an engine with Vulkan, or without and the reason for that. A Mac has Metal: no reason is given.
 * @param {{required?: boolean}} [options] required: for an engine that others get. That one is without only where CONCERTINA_VULKAN=0
 *   says so
 * @returns {Promise<{options: string[], reason?: string}>}
 * @throws {PrepareError}
 */
export async function vulkanOptions({ required = false } = {}) {
  const without = ['-DGGML_VULKAN=OFF'];
  if (process.platform === 'darwin') return { options: without };
  if (process.env.CONCERTINA_VULKAN === '0') return { options: without, reason: 'CONCERTINA_VULKAN is 0' };
  const found = unpacked() ?? (await ofSystem());
  if (!found) {
    const reason = `no glslc 2023.8 and Vulkan headers 1.3.272 or later (${COMMAND} unpacks them on Debian)`;
    if (required)
      throw new PrepareError(
        `An engine for other machines has Vulkan, which cannot be built here: ${reason}. With the environment variable CONCERTINA_VULKAN=0 it is built without, and nobody's GPU is used.`,
      );
    return { options: without, reason };
  }
  return {
    options: [
      '-DGGML_VULKAN=ON',
      `-DVulkan_GLSLC_EXECUTABLE=${found.glslc}`,
      `-DVulkan_INCLUDE_DIR=${found.include}`,
      // asked for by FindVulkan; native/vulkan/CMakeLists.txt takes it off the list of libraries
      `-DVulkan_LIBRARY=${found.glslc}`,
      ...(found.spirv ? [`-DSPIRV-Headers_DIR=${found.spirv}`] : []),
    ],
  };
}

function unpacked() {
  const glslc = path.join(TOOLS, 'glslc');
  if (!fs.existsSync(glslc)) return null;
  return {
    glslc,
    include: path.join(TOOLS, 'include'),
    spirv: path.join(TOOLS, 'root', 'usr', 'share', 'cmake', 'SPIRV-Headers'),
  };
}

async function ofSystem() {
  const names = process.platform === 'win32' ? ['glslc.exe'] : ['glslc'];
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  const glslc = folders.flatMap((folder) => names.map((name) => path.join(folder, name))).find(fs.existsSync);
  if (!glslc) return null;
  const { code, stdout } = await run(glslc, ['--version']);
  const version = /shaderc v?(\d+)\.(\d+)/.exec(stdout);
  if (code !== 0 || !version) return null;
  const [year, number] = [Number(version[1]), Number(version[2])];
  if (year < MIN_GLSLC[0] || (year === MIN_GLSLC[0] && number < MIN_GLSLC[1])) return null;
  const sdk = process.env.VULKAN_SDK;
  const include = [...(sdk ? [path.join(sdk, 'include')] : []), '/usr/include'].find((folder) => {
    const header = path.join(folder, 'vulkan', 'vulkan_core.h');
    if (!fs.existsSync(header)) return false;
    return Number(/#define VK_HEADER_VERSION (\d+)/.exec(fs.readFileSync(header, 'utf8'))?.[1]) >= MIN_HEADERS;
  });
  return include ? { glslc, include } : null;
}

/** Unpacks them where an engine for other machines needs them and they can be had. What is missing then, the build says. */
export async function ensureVulkanTools() {
  if (process.platform !== 'linux' || process.env.CONCERTINA_VULKAN === '0') return;
  if (!unpacked() && !(await ofSystem()) && fs.existsSync('/etc/debian_version')) await unpack();
}

/** Unpacks the tools of Debian 13 from the mirror that this machine's apt uses. @throws {PrepareError} */
async function unpack() {
  if (!fs.existsSync('/etc/debian_version')) {
    throw new PrepareError(
      'Only Debian can unpack them here. Install glslc 2023.8 or later, Vulkan headers 1.3.272 or later and the headers of SPIR-V.',
    );
  }
  const root = path.join(TOOLS, 'root');
  fs.rmSync(TOOLS, { recursive: true, force: true });
  fs.mkdirSync(TOOLS, { recursive: true });
  await must('Unpacking the shader compiler', 'mmdebstrap', [
    '--variant=extract',
    `--include=${PACKAGES.join(',')}`,
    CODENAME,
    root,
    mirror(),
  ]);
  // the headers alone: beside them lie those of another C library
  const include = path.join(TOOLS, 'include');
  fs.mkdirSync(include);
  for (const name of ['vulkan', 'vk_video', 'spirv'])
    fs.symlinkSync(path.join(root, 'usr', 'include', name), path.join(include, name));
  // by its own loader and libraries: it wants a newer C library than this system's
  const [name, file] =
    process.arch === 'arm64' ? ['aarch64', 'ld-linux-aarch64.so.1'] : ['x86_64', 'ld-linux-x86-64.so.2'];
  const libraries = path.join(root, 'usr', 'lib', `${name}-linux-gnu`);
  const loader = path.join(libraries, file);
  const glslc = path.join(TOOLS, 'glslc');
  fs.writeFileSync(glslc, keepingGlslc(loader, libraries, path.join(root, 'usr', 'bin', 'glslc')), { mode: 0o755 });
  const { code, stdout } = await run(glslc, ['--version']);
  if (code !== 0) {
    fs.rmSync(TOOLS, { recursive: true, force: true });
    throw new PrepareError('The unpacked glslc does not run here, and was removed again.');
  }
  console.log(`Unpacked ${stdout.split('\n', 1)[0]}. The next build of the engine has Vulkan.`);
}

/**
 * Keeps each module in build/cache/shaders by the options and all sources beside the shader: an engine for another system needs
 * the same 1,500. What also lists its dependencies is compiled each time.
 */
const keepingGlslc = (loader, libraries, program) => `#!/bin/sh
glslc() { "${loader}" --library-path "${libraries}" "${program}" "$@"; }
out=
source=
options=
previous=
for argument; do
  case $argument in
    -M*) glslc "$@"; exit ;;
    *.comp) source=$argument ;;
  esac
  if [ "$previous" = -o ]; then out=$argument; elif [ "$argument" != -o ]; then options="$options $argument"; fi
  previous=$argument
done
[ -n "$source" ] && [ "\${out:--}" != - ] || { glslc "$@"; exit; }
key=$({ echo "${digestOf(program)}$options"; cat "\${source%/*}"/*.comp "\${source%/*}"/*.glsl; } | sha256sum | cut -c1-64)
kept="${path.join(BUILD, 'cache', 'shaders')}/$key"
if [ -f "$kept" ]; then cp "$kept" "$out"; exit; fi
glslc "$@" && mkdir -p "\${kept%/*}" && cp "$out" "$kept.$$" && mv "$kept.$$" "$kept"
`;

const digestOf = (file) => crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');

/** The mirror in /etc/apt that has Debian itself. */
function mirror() {
  const folder = '/etc/apt/sources.list.d';
  const files = [...fs.readdirSync(folder).map((name) => path.join(folder, name)), '/etc/apt/sources.list'];
  for (const file of files.filter((name) => fs.existsSync(name))) {
    const text = fs.readFileSync(file, 'utf8');
    const found = /^URIs: *(\S+\/debian)\/?\s*$/m.exec(text) ?? /^deb (?:\[[^\]]*\] )?(\S+\/debian)\/? /m.exec(text);
    if (found) return found[1];
  }
  throw new PrepareError('No mirror of Debian was found in /etc/apt.');
}

await cli(import.meta.url, unpack);
