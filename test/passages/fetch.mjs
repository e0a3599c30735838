// Gets the manuals that the questions of this folder are about, from the Debian mirror that apt is set up for: into
// build/cache/passages/NAME.pdf, each checked against the SHA-256 in questions/NAME.json. Needs no root.
// CLI: node test/passages/fetch.mjs

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { CACHE, ROOT } from '../../native/prepare/paths.mjs';
import { cli, must, PrepareError, run } from '../../native/prepare/process.mjs';

const QUESTIONS = path.join(ROOT, 'test', 'passages', 'questions');

/**
 * @typedef {{question: string, pages: number[], quote: string}} Question
 * @typedef {{name: string, pdf: string, title: string, package: string, version: string, file: string, sha256: string,
 *   license: string, pages: number, open: Question[], sealed: Question[]}} Manual pdf is where `fetchManuals` puts it
 * @returns {Manual[]}
 */
export function manuals() {
  return fs
    .readdirSync(QUESTIONS)
    .sort()
    .map((file) => {
      const name = path.basename(file, '.json');
      const described = JSON.parse(fs.readFileSync(path.join(QUESTIONS, file), 'utf8'));
      return { name, pdf: path.join(CACHE, 'passages', `${name}.pdf`), ...described };
    });
}

/**
 * Gets what is missing or is another file. Tries all of them before it fails.
 * @throws {PrepareError} says what to do
 */
export async function fetchManuals() {
  const failures = [];
  for (const manual of manuals()) {
    if (fs.existsSync(manual.pdf) && sha256Of(manual.pdf) === manual.sha256) continue;
    console.log(`getting ${manual.title} (${manual.package} ${manual.version})`);
    await fetchOne(manual).catch((error) => {
      if (!(error instanceof PrepareError)) throw error;
      failures.push(error.message);
    });
  }
  if (failures.length > 0) throw new PrepareError(failures.join('\n'));
}

async function fetchOne({ name, pdf, package: debian, version, file, sha256 }) {
  const folder = path.dirname(pdf);
  fs.mkdirSync(folder, { recursive: true });
  const work = fs.mkdtempSync(path.join(folder, `${name}-`));
  try {
    const { code, stderr } = await run('apt-get', ['download', `${debian}=${version}`], { cwd: work });
    if (code === 127) throw new PrepareError(`${name}: apt-get was not found. ${byHand(pdf, debian, version)}`);
    if (code !== 0) {
      console.log(
        `${debian} ${version} cannot be had (${stderr.trim().split('\n').at(-1)}); trying what the mirror has`,
      );
      await must(`${name}: getting ${debian} (apt-get update may help)`, 'apt-get', ['download', debian], {
        cwd: work,
      });
    }
    const deb = fs.readdirSync(work).find((entry) => entry.endsWith('.deb')) ?? '';
    await must(`${name}: unpacking ${deb}`, 'dpkg-deb', ['-x', deb, 'unpacked'], { cwd: work });
    const unpacked = path.join(work, 'unpacked', file);
    if (!fs.existsSync(unpacked) || sha256Of(unpacked) !== sha256) {
      const found = decodeURIComponent(deb.split('_')[1] ?? '');
      throw new PrepareError(
        `${name}: ${debian} ${found} holds another ${path.basename(file)} than version ${version}, so that its pages ` +
          `may differ from those of the questions. ${byHand(pdf, debian, version)}`,
      );
    }
    fs.renameSync(unpacked, pdf);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

function byHand(pdf, debian, version) {
  const place = path.relative(ROOT, pdf);
  return `Run this on Debian 12, or take the PDF out of ${debian} ${version} of Debian's archive of old packages and put it at ${place}.`;
}

function sha256Of(file) {
  return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
}

await cli(import.meta.url, async () => {
  await fetchManuals();
  for (const { name, pdf } of manuals()) console.log(`${name}: ${path.relative(ROOT, pdf)}`);
});
