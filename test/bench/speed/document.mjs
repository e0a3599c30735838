// docs/performance.md: its prose is written by people, the figures between two marks by `npm run bench -- --write-docs`.

import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../../../native/prepare/paths.mjs';
import { charts, markdown } from './report.mjs';

const DOCUMENT = path.join(ROOT, 'docs', 'performance.md');
const MARKS = ['<!-- figures: npm run bench -- --write-docs -->', '<!-- end of the figures -->'];

/** GQA 2, 4 and 8. Prefill for the first only: it takes longest and differs least. */
const SHAPES = ['qwen3-0.6b', 'qwen3-0.6b-gqa4', 'qwen3-0.6b-gqa8'];

/** @param {import('./options.mjs').Settings} settings @returns {import('./options.mjs').Settings[]} one per shape */
export function documentShapes(settings) {
  const decode = { prompts: [], parts: settings.parts.filter((part) => part.endsWith('decode')) };
  return SHAPES.map((shape, i) => ({ ...settings, shape, ...(i === 0 ? {} : decode) }));
}

/**
 * @param {import('./report.mjs').Result[]} results one per shape
 * @returns {string[]} the files written
 */
export function writeDocument(results) {
  const files = [DOCUMENT];
  const sections = results.map((result) => {
    const image = `performance-${result.model.name}.svg`;
    const data = `performance-${result.model.name}.json`;
    files.push(path.join(ROOT, 'docs', image), path.join(ROOT, 'docs', data));
    fs.writeFileSync(path.join(ROOT, 'docs', image), charts(result));
    fs.writeFileSync(path.join(ROOT, 'docs', data), `${JSON.stringify(result, null, 2)}\n`);
    return `## ${result.model.what}\n\n![Decode speed over depth](${image})\n\n${markdown(result)}`;
  });
  const text = fs.readFileSync(DOCUMENT, 'utf8');
  fs.writeFileSync(
    DOCUMENT,
    replaceFigures(text, `Printed by \`${results[0]?.command}\`.\n\n${sections.join('\n\n')}`),
  );
  return files;
}

/** @returns {string} text with what stands between the marks replaced */
export function replaceFigures(text, figures) {
  const [start, end] = MARKS.map((mark) => text.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`The document has lost its marks ${MARKS.join(' and ')}.`);
  return `${text.slice(0, start + MARKS[0].length)}\n\n${figures}\n\n${text.slice(end)}`;
}
