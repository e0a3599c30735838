// How many characters OCR gets wrong, beside the tesseract of Debian (package tesseract-ocr): ten pages of the manuals of
// test/passages, drawn, turned by up to a degree and covered with noise as a scanner does, at 200 and 300 dots to the inch.
// What is right is the text that the app takes out of the PDF. Needs the npm packages, apt and tesseract, no engine.
// CLI: node test/bench/ocr.mjs     (npm run bench:ocr)

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundleForNode } from '../../electron/build.mjs';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { cli, must, PrepareError, run } from '../../native/prepare/process.mjs';
import { FOLDER as PASSAGES, readManuals } from '../passages/read.mjs';

const FOLDER = path.join(BUILD, 'bench-ocr');
/** chosen by their numbers alone; page 120 of freedombox is for page 100, a screenshot whose words are not in the PDF's text */
const PAGES = { bash: [30, 60, 90, 120], freedombox: [40, 120, 160], mrbayes: [20, 60, 110] };
/** dots to the inch of the picture that is drawn */
const DRAWN = 300;
/** standard deviation of the noise, of 255 */
const NOISE = 24;

/** Numbers between 0 and 1 that are the same in each run (mulberry32). */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {Buffer} pgm @returns {Buffer} a PGM with `dpi`, turned around its center, gray and noisy */
function asScanned(pgm, dpi, degrees, seed) {
  const [, size] = pgm.toString('latin1', 0, 40).split('\n', 3);
  const [width, height] = size.split(' ').map(Number);
  const dots = pgm.subarray(pgm.length - width * height);
  const scale = DRAWN / dpi;
  const [across, down] = [Math.floor(width / scale), Math.floor(height / scale)];
  const [sin, cos] = [Math.sin, Math.cos].map((f) => f((degrees * Math.PI) / 180));
  const next = random(seed);
  const at = (x, y) => (x < 0 || y < 0 || x >= width || y >= height ? 255 : dots[y * width + x]);
  const scanned = Buffer.alloc(across * down);
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const [fromLeft, fromTop] = [(x - across / 2) * scale, (y - down / 2) * scale];
      const [u, v] = [width / 2 + fromLeft * cos - fromTop * sin, height / 2 + fromLeft * sin + fromTop * cos];
      const [left, top] = [Math.floor(u), Math.floor(v)];
      const [right, below] = [u - left, v - top];
      const upper = at(left, top) * (1 - right) + at(left + 1, top) * right;
      const lower = at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right;
      const ink = upper * (1 - below) + lower * below;
      // the sum of four is close enough to a bell
      const noise = (next() + next() + next() + next() - 2) * Math.sqrt(3) * NOISE;
      scanned[y * across + x] = Math.max(0, Math.min(255, 30 + ink * 0.8 + noise));
    }
  }
  return Buffer.concat([Buffer.from(`P5\n${across} ${down}\n255\n`), scanned]);
}

/** One form of what looks the same on paper: white space, quotes, dashes, ligatures, bullets. */
function comparable(text) {
  const plain = text
    .normalize('NFKC')
    .replace(/[‘’`´′]/g, "'")
    .replace(/[“”″]/g, '"');
  return plain
    .replace(/[‐-―−]/g, '-')
    .replace(/[•●◦▪]/g, '*')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Letters to change, add or take away (Levenshtein). */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length];
}

async function debianVersion() {
  const { code, stdout } = await run('tesseract', ['--version'], {});
  if (code === 0) return stdout.split('\n', 1)[0];
  throw new PrepareError(
    'This compares with Debian’s tesseract: run "apt-get install tesseract-ocr", then this again.',
  );
}

async function pageTexts() {
  const manuals = await readManuals();
  return manuals.flatMap(({ name, pdf, text, sections }) =>
    (PAGES[name] ?? []).map((page) => {
      const { start, end } = sections[page - 1];
      return { name, page, pdf, truth: comparable(text.slice(start, end)) };
    }),
  );
}

const percent = (errors, characters) => `${((100 * errors) / characters).toFixed(2)}%`.padStart(9);

await cli(import.meta.url, async () => {
  const version = await debianVersion();
  const pages = await pageTexts();
  await bundleForNode('ocr', 'electron/workers/documents/ocr.ts', FOLDER);
  await bundleForNode('pageDrawing', 'electron/workers/documents/pageDrawing.ts', FOLDER);
  const load = createRequire(import.meta.url);
  const { TextRecognition } = load(path.join(FOLDER, 'ocr.cjs'));
  const { PageDrawing } = load(path.join(FOLDER, 'pageDrawing.cjs'));
  const ocr = path.join(PASSAGES, 'ocr');
  const folders = { cMaps: '', ocr, languages: ocr };
  const recognition = await TextRecognition.open(folders);
  const sums = { characters: 0, ours: 0, theirs: 0 };
  console.log(
    `Errors of characters, ours beside ${version}:\n\npage                dpi  turned  characters     ours   Debian`,
  );
  for (const [index, { name, page, pdf, truth }] of pages.entries()) {
    const drawing = await PageDrawing.open({ path: pdf, name, pdfiumPath: path.join(ocr, 'pdfium.wasm') });
    const [dpi, degrees] = [index % 2 === 0 ? 200 : DRAWN, [0, 0.3, -0.5, 0.8, -1][index % 5]];
    const picture = asScanned(Buffer.from(drawing.scan(page).file), dpi, degrees, index + 1);
    const file = path.join(FOLDER, `${name}-${page}.pgm`);
    fs.writeFileSync(file, picture);
    const ours = distance(truth, comparable(recognition.read(picture, dpi, () => {}).text));
    const args = [file, 'stdout', '-l', 'eng', '--dpi', String(dpi)];
    const stdout = await must(`reading ${path.relative(ROOT, file)}`, 'tesseract', args, {});
    const theirs = distance(truth, comparable(stdout));
    sums.characters += truth.length;
    sums.ours += ours;
    sums.theirs += theirs;
    const row = [`${name} ${page}`.padEnd(18), String(dpi).padStart(5), `${degrees}°`.padStart(8)];
    console.log(
      row.join('') + String(truth.length).padStart(12) + percent(ours, truth.length) + percent(theirs, truth.length),
    );
  }
  const { characters, ours, theirs } = sums;
  console.log(
    `${'all'.padEnd(31)}${String(characters).padStart(12)}${percent(ours, characters)}${percent(theirs, characters)}`,
  );
});
