// Documents whose prose is written by people and whose figures, between two marks, by the command that measured them. What was
// measured lies beside as JSON, in test/bench/results, for whoever compares with it. Also the words and tables of their figures.

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

/** A run's NAME.json, NAME.md and NAME.svg. */
export function writeRun(out, name, result, text, chart) {
  fs.mkdirSync(out, { recursive: true });
  fs.writeFileSync(path.join(out, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  fs.writeFileSync(path.join(out, `${name}.md`), `${text}\n`);
  fs.writeFileSync(path.join(out, `${name}.svg`), chart);
  console.error(`wrote ${name}.md, ${name}.json and ${name}.svg to ${path.relative(process.cwd(), out) || out}`);
}

/** @param {string | number} depth 4096 as people say it */
export const depthName = (depth) =>
  Number(depth) >= 1024 && Number(depth) % 1024 === 0 ? `${Number(depth) / 1024}K` : String(depth);

/** @param {string[]} head @param {(string | number)[][]} rows @returns {string} markdown; numbers from the second column on */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
