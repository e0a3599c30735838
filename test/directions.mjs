// The window can be mirrored for languages that are written from right to left: finds classes and styles that name a side of the
// screen (left, right) in place of the beginning or end of a line. Part of `npm run check`.
// CLI: node test/directions.mjs

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from 'vite';
import { ROOT } from '../native/prepare/paths.mjs';
import { listFiles } from './layers.mjs';

/** Tailwind's names of sides, and the name to use. What is put in the middle by `left-1/2` is the same from both sides. */
const logical = [
  [/^-?(scroll-)?(p|m)(l|r)-/, 'ps-, pe-, ms-, me-'],
  [/^-?(left|right)-(?!1\/2$)/, 'start-, end-'],
  [/^text-(left|right)$/, 'text-start, text-end'],
  [/^(float|clear)-(left|right)$/, 'float-start, float-end'],
  [/^rounded-(l|r|tl|tr|bl|br)(-|$)/, 'rounded-s, -e, -ss, -se, -es, -ee'],
  [/^border-(l|r)(-|$)/, 'border-s, border-e'],
];

const physicalStyle =
  /^(?:left|right|(?:margin|padding|border)(?:Left|Right).*|border(?:Top|Bottom)(?:Left|Right)Radius)$/;
const physicalDeclaration =
  /^\s*(?:left|right|(?:margin|padding|border)-(?:left|right)(?:-\w+)?|text-align:\s*(?:left|right)|float:\s*(?:left|right))\b.*;/;

/** @type {{file: string, text: string, why: string}[]} */
const EXCEPTIONS = [
  { file: 'renderer/features/documents/PageView.tsx', text: 'left', why: 'a place on the picture of a page' },
];

/**
 * @param {string} file path from the root of the repository
 * @param {string} source of TypeScript, or a style sheet
 * @returns {{line: number, text: string, use: string}[]}
 */
export function physicalSides(file, source) {
  if (file.endsWith('.css')) {
    return source.split('\n').flatMap((line, index) => {
      return physicalDeclaration.test(line)
        ? [{ line: index + 1, text: line.trim(), use: 'inline-start or -end' }]
        : [];
    });
  }
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found = [];
  const report = (node, text, use) => found.push({ line: source.slice(0, node.start).split('\n').length, text, use });
  const classes = (node, text) => {
    for (const name of text.split(/\s+/)) {
      const plain = name.slice(name.lastIndexOf(':') + 1);
      const rule = logical.find(([pattern]) => pattern.test(plain));
      if (rule) report(node, name, rule[1]);
    }
  };
  /** @param {'class' | 'style' | null} inside the attribute that a node lies in */
  function visit(node, inside) {
    if (Array.isArray(node)) for (const one of node) visit(one, inside);
    if (!node || typeof node !== 'object' || typeof node.type !== 'string') return;
    if (node.type === 'Literal' && typeof node.value === 'string' && inside === 'class') classes(node, node.value);
    if (node.type === 'TemplateElement' && inside === 'class') classes(node, node.value.cooked ?? '');
    if (node.type === 'Property' && inside === 'style' && physicalStyle.test(node.key.name ?? ''))
      report(node, node.key.name, 'insetInlineStart, paddingInlineStart, ...');
    if (node.type === 'BinaryExpression') return;
    let here = inside;
    if (node.type === 'JSXAttribute') here = place(node.name.name ?? '');
    if (node.type === 'VariableDeclarator' && /class$/i.test(node.id.name ?? '')) here = 'class';
    if (node.type === 'CallExpression' && node.callee.name === 'cx') here = 'class';
    for (const key in node) if (key !== 'type') visit(node[key], here);
  }
  visit(program.body, null);
  return found;
}

function place(attribute) {
  if (/classname$/i.test(attribute)) return 'class';
  return attribute === 'style' ? 'style' : null;
}

/** Checks the whole tree. @returns {{files: number, wrong: string[]}} */
export function checkDirections() {
  const wrong = [];
  const unused = new Set(EXCEPTIONS);
  const files = listFiles(['renderer'], /\.(?:tsx?|css)$/);
  for (const file of files) {
    for (const { line, text, use } of physicalSides(file, fs.readFileSync(path.join(ROOT, file), 'utf8'))) {
      const exception = EXCEPTIONS.find((one) => one.file === file && one.text === text);
      if (exception) unused.delete(exception);
      else wrong.push(`${file}:${line}: "${text}" names a side of the screen: use ${use}.`);
    }
  }
  for (const { file, text } of unused)
    wrong.push(`${file}: the exception "${text}" is not used any more (test/directions.mjs).`);
  return { files: files.length, wrong };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, wrong } = checkDirections();
  for (const line of wrong) console.error(line);
  console.log(`directions: ${files} files, ${wrong.length} violations`);
  if (wrong.length > 0) process.exitCode = 1;
}
