// docs/quality.md, by `npm run quality -- --write-docs`.

import { writeFigures, writeResult } from '../document.mjs';
import { charts, markdown } from './report.mjs';

/** @param {import('./report.mjs').Result} result @returns {string[]} the files written */
export function writeDocument(result) {
  const printed = `Printed by \`${result.command}\` in ${Math.ceil(result.seconds / 60)} minutes.`;
  const figures = `${printed}\n\n![Bits per value against mean KLD, at each depth](quality.svg)\n\n${markdown(result)}`;
  return [writeFigures('quality', 'quality', figures), ...writeResult('quality', result, charts(result))];
}
