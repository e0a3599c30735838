// Makes one text of a .metal file and what it includes: compiled at run time from inside the library, Metal cannot resolve #include
// "...". The tests in test/kernels read the same text, with #line directives that keep diagnostics on the original files.
// CLI: node native/prepare/metal-source.mjs OUTPUT FILE [FOLDER...]

import fs from 'node:fs';
import path from 'node:path';
import { cli } from './process.mjs';

/**
 * @param {string} file
 * @param {{folders: string[], lines?: boolean}} options folders: searched after the including file's own
 * @returns {{text: string, files: string[]}} files: all that went in
 * @throws {Error} when an include is not found
 */
export function amalgamate(file, { folders, lines = false }) {
  const files = [];
  const text = inline(path.resolve(file), { folders, lines, files });
  const left = /^[ \t]*#[ \t]*include[ \t]*"[^"\n]*"/m.exec(text);
  if (left) throw new Error(`${file}: ${left[0].trim()} is left`);
  return { text, files };
}

/** Every file goes in once: all of ours and of upstream's headers say #pragma once. */
function inline(file, state) {
  state.files.push(file);
  const out = state.lines ? [`#line 1 "${file}"`] : [];
  fs.readFileSync(file, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      const name = /^[ \t]*#[ \t]*include[ \t]*"([^"]+)"/.exec(line)?.[1];
      if (!name) {
        out.push(/^[ \t]*#[ \t]*pragma[ \t]+once/.test(line) ? '' : line);
        return;
      }
      const found = find(name, file, state.folders);
      if (!state.files.includes(found)) out.push(inline(found, state));
      if (state.lines) out.push(`#line ${index + 2} "${file}"`);
    });
  return out.join('\n');
}

function find(name, from, folders) {
  const found = [path.dirname(from), ...folders]
    .map((folder) => path.join(folder, name))
    .find((candidate) => fs.existsSync(candidate));
  if (!found) throw new Error(`${from}: "${name}" is in none of ${folders.join(', ')}`);
  return found;
}

cli(import.meta.url, async ([output, file, ...folders]) => {
  fs.writeFileSync(output, amalgamate(file, { folders }).text);
});
