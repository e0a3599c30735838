// Documents whose prose is written by people and whose figures, between two marks, by the command that measured them. What was
// measured lies beside as JSON, in test/bench/results, for whoever compares with it.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../native/prepare/paths.mjs';

const DOCS = path.join(ROOT, 'docs');
const RESULTS = path.join(ROOT, 'test', 'bench', 'results');

/** @param {string} text @param {string} command that printed them @param {string} figures markdown @returns {string} */
export function replaceFigures(text, command, figures) {
  const marks = [`<!-- figures: npm run ${command} -- --write-docs -->`, '<!-- end of the figures -->'];
  const [start, end] = marks.map((mark) => text.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`The document has lost its marks ${marks.join(' and ')}.`);
  return `${text.slice(0, start + marks[0].length)}\n\n${figures}\n\n${text.slice(end)}`;
}

/** @param {string} name of the document, docs/NAME.md @param {string} command @param {string} figures @returns {string} its path */
export function writeFigures(name, command, figures) {
  const file = path.join(DOCS, `${name}.md`);
  fs.writeFileSync(file, replaceFigures(fs.readFileSync(file, 'utf8'), command, figures));
  return file;
}

/** @param {string} name @param {object} result @param {string} chart SVG @returns {string[]} the files written */
export function writeResult(name, result, chart) {
  const image = path.join(DOCS, `${name}.svg`);
  const data = path.join(RESULTS, `${name}.json`);
  fs.writeFileSync(image, chart);
  fs.writeFileSync(data, `${JSON.stringify(result, null, 2)}\n`);
  return [image, data];
}
