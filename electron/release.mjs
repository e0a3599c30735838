// Makes a folder of packages ready to be published: refuses what must not be (above all anything around the test runtime), then
// writes SHA256SUMS and a bill of materials (CycloneDX) beside them. The hosted workflow runs it before it drafts a release.
// CLI: npm run release -- FOLDER [--tag vX.Y.Z] [--check]     --check: refuses, and writes nothing

import crypto from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../native/prepare/paths.mjs';
import { cli, must, PrepareError } from '../native/prepare/process.mjs';
import { readPin } from '../native/prepare/upstream.mjs';
import { NATIVE } from './notices.mjs';

const require = createRequire(import.meta.url);
const PACKAGE = require('../package.json');

const SUMS = 'SHA256SUMS';
const SBOM = 'concertina.cdx.json';
const MANIFEST = /^built-.*\.json$/;
/** What stands beside packages and is none: electron-builder's metadata for updates, and ours. */
const BESIDE = /^(?:built-.*\.json|latest.*\.yml|.*\.blockmap|builder-.*\.ya?ml|SHA256SUMS|concertina\.cdx\.json)$/;

/**
 * @param {string} folder of packages with the lists that electron/dist.mjs wrote of them
 * @param {{tag?: string, wanted?: {version: string, electron: string}}} [options] tag: of the commit, which must fit the version
 * @returns {string[]} why it must not be published, one sentence each; empty: it may
 */
export function releaseProblems(folder, { tag, wanted } = {}) {
  const { version, electron } = wanted ?? { version: PACKAGE.version, electron: PACKAGE.devDependencies.electron };
  const names = fs.readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isFile() ? one.name : []));
  const manifests = names.filter((name) => MANIFEST.test(name));
  if (manifests.length === 0)
    return [`There is no list of what was built (built-*.json) in ${folder}: run npm run dist.`];
  const problems = [];
  if (tag !== undefined && tag !== `v${version}`) {
    problems.push(`The tag ${tag} does not fit the version of package.json, ${version}: it must be v${version}.`);
  }
  const listed = new Map();
  for (const name of manifests) {
    const built = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
    problems.push(...problemsOfBuild(name, built, { version, electron }));
    for (const file of built.files) listed.set(file.name, file.sha256);
  }
  if (listed.size === 0) problems.push('No package was built, only an unpacked folder.');
  for (const [name, sha256] of listed) {
    const file = path.join(folder, name);
    if (!fs.existsSync(file)) problems.push(`${name} was built and is not there any more.`);
    else if (sha256Of(file) !== sha256)
      problems.push(`${name} is not the file that was built: it was changed or replaced.`);
  }
  for (const name of names.filter((one) => !BESIDE.test(one))) {
    if (!listed.has(name)) problems.push(`${name} is in no list of what was built: nobody knows what is in it.`);
    if (name.includes('-test')) problems.push(`${name} is named for tests.`);
  }
  return problems;
}

function problemsOfBuild(name, { version, homepage, runtime, vulkan }, wanted) {
  const problems = [];
  if (!vulkan && !name.includes('darwin'))
    problems.push(
      `${name}: its engine has no Vulkan, so no GPU would be used (docs/gpu.md says what its build needs).`,
    );
  if (runtime.standIn) {
    problems.push(
      `${name}: packed around the test runtime (Electron ${runtime.electron}), which gets no security updates. ` +
        'Build where the real Electron can be had.',
    );
  } else if (runtime.electron !== wanted.electron) {
    problems.push(`${name}: packed around Electron ${runtime.electron}, and package.json says ${wanted.electron}.`);
  }
  if (version !== wanted.version)
    problems.push(`${name}: version ${version}, and package.json says ${wanted.version}.`);
  if (/\.invalid$/.test(homepage)) problems.push(`${name}: its packages name no page of the project (${homepage}).`);
  return problems;
}

const sha256Of = (file) => crypto.createHash('sha256').update(fs.readFileSync(file)).digest('hex');

/** As sha256sum writes and checks it. */
export function checksums(folder) {
  const names = fs.readdirSync(folder, { withFileTypes: true }).flatMap((one) => (one.isFile() ? one.name : []));
  const wanted = names.filter((name) => !MANIFEST.test(name) && name !== SUMS).sort();
  return wanted.map((name) => `${sha256Of(path.join(folder, name))}  ${name}\n`).join('');
}

/**
 * npm's own list: what package.json depends on is required, what only builds and tests is optional. What is not from npm is added.
 */
export async function billOfMaterials() {
  const options = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const bom = JSON.parse(await must('Listing the packages', 'npm', options, { cwd: ROOT }));
  // npm takes the name of the folder
  bom.metadata.component.name = PACKAGE.name;
  bom.components.push(...componentsOutsideNpm());
  return bom;
}

/** llama.cpp with what is compiled in beside it, the models, the calibration text. */
export function componentsOutsideNpm() {
  const { llama, commit } = readPin();
  const engine = {
    type: 'library',
    name: 'llama.cpp',
    version: llama,
    'bom-ref': `llama.cpp@${commit}`,
    purl: `pkg:github/ggml-org/llama.cpp@${commit}`,
    licenses: [{ license: { id: 'MIT' } }],
    description: 'Patched by native/patches, linked into concertina.node',
  };
  const compiledIn = NATIVE.slice(1).map(({ name, license }) => ({
    type: 'library',
    name,
    'bom-ref': `native:${name}`,
    licenses: license.includes(' ') ? [{ license: { name: license } }] : [{ license: { id: license } }],
  }));
  const data = [
    ['machine-learning-model', 'assets/models', /\.gguf$/],
    ['data', 'assets/calibration', /\.txt$/],
  ].flatMap(([type, folder, pattern]) =>
    fs
      .readdirSync(path.join(ROOT, folder))
      .filter((name) => pattern.test(name))
      .map((name) => ({
        type,
        name,
        'bom-ref': `${folder}/${name}`,
        hashes: [{ alg: 'SHA-256', content: sha256Of(path.join(ROOT, folder, name)) }],
      })),
  );
  return [engine, ...compiledIn, ...data];
}

cli(import.meta.url, async (args) => {
  const options = { tag: { type: 'string' }, check: { type: 'boolean' } };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [folder] = positionals;
  if (!folder) throw new PrepareError('usage: npm run release -- FOLDER [--tag vX.Y.Z] [--check]');
  const problems = releaseProblems(folder, { tag: values.tag });
  if (problems.length > 0) {
    throw new PrepareError(`${folder} must not be published:\n${problems.map((one) => `  ${one}`).join('\n')}`);
  }
  if (values.check) return;
  fs.writeFileSync(path.join(folder, SBOM), `${JSON.stringify(await billOfMaterials(), null, 2)}\n`);
  fs.writeFileSync(path.join(folder, SUMS), checksums(folder));
  console.log(`${folder} can be published; wrote ${SBOM} and ${SUMS}`);
});
