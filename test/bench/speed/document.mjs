// docs/performance.md, by `npm run bench -- --write-docs`.

import { writeFigures, writeResult } from '../document.mjs';
import { charts, markdown } from './report.mjs';

/** GQA 2, 4 and 8. Prefill for the first only: it takes longest and differs least. */
const SHAPES = ['qwen3-0.6b', 'qwen3-0.6b-gqa4', 'qwen3-0.6b-gqa8'];

/** @param {import('./options.mjs').Settings} settings @returns {import('./options.mjs').Settings[]} one per shape */
export function documentShapes(settings) {
  const decode = { prompts: [], parts: settings.parts.filter((part) => part.endsWith('decode')) };
  return SHAPES.map((shape, i) => ({ ...settings, shape, ...(i === 0 ? {} : decode) }));
}

/** @param {import('./report.mjs').Result[]} results one per shape @returns {string[]} the files written */
export function writeDocument(results) {
  const files = results.flatMap((result) => writeResult(`performance-${result.model.name}`, result, charts(result)));
  const sections = results.map(({ model }, i) => {
    const chart = `![Decode speed over depth](performance-${model.name}.svg)`;
    return `## ${model.what}\n\n${chart}\n\n${markdown(results[i])}`;
  });
  const figures = `Printed by \`${results[0]?.command}\`.\n\n${sections.join('\n\n')}`;
  return [writeFigures('performance', 'bench', figures), ...files];
}
