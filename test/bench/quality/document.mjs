// docs/quality.md: its prose is written by people, the figures between two marks by `npm run quality -- --write-docs`.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../native/prepare/paths.mjs';
import { charts, markdown } from './report.mjs';

const DOCS = path.join(ROOT, 'docs');
const MARKS = ['<!-- figures: npm run quality -- --write-docs -->', '<!-- end of the figures -->'];

/** @param {import('./report.mjs').Result} result @returns {string[]} the files written */
export function writeDocument(result) {
  const [document, image, data] = ['quality.md', 'quality.svg', 'quality.json'].map((name) => path.join(DOCS, name));
  const printed = `Printed by \`${result.command}\` in ${Math.ceil(result.seconds / 60)} minutes.`;
  const figures = `${printed}\n\n![Bits per value against mean KLD, at each depth](quality.svg)\n\n${markdown(result)}`;
  fs.writeFileSync(document, replaceFigures(fs.readFileSync(document, 'utf8'), figures));
  fs.writeFileSync(image, charts(result));
  fs.writeFileSync(data, `${JSON.stringify(result, null, 2)}\n`);
  return [document, image, data];
}

/** @returns {string} text with what stands between the marks replaced */
export function replaceFigures(text, figures) {
  const [start, end] = MARKS.map((mark) => text.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`The document has lost its marks ${MARKS.join(' and ')}.`);
  return `${text.slice(0, start + MARKS[0].length)}\n\n${figures}\n\n${text.slice(end)}`;
}
