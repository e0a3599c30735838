// Every text that a person sees can be translated: finds texts that stand in the source outside of Lingui's macros, and
// translations that lost a placeholder or say the same text in two ways. That each text has a translation, and each translation a
// text, is checked by Lingui itself (`lingui check`). Part of `npm run check`.
// CLI: node test/texts.mjs [FOLDER], which prints all that is found in a folder

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatter } from '@lingui/format-po';
import { compileMessageOrThrow } from '@lingui/message-utils/compileMessage';
import { parseSync } from 'vite';
import { ROOT } from '../native/prepare/paths.mjs';
import { listFiles } from './layers.mjs';

/** What is called the same in every language, by itself or beside signs: names, formats, units. */
const NAMES = new Set(
  [
    ...[
      'Concertina',
      'English',
      'Deutsch',
      'Hugging',
      'Face',
      'GGUF',
      'GPU',
      'CPU',
      'KV',
      'API',
      'OCR',
      'PNG',
      'JSON',
      'URL',
    ],
    ...[
      'PDF',
      'Word',
      'RTF',
      'PowerPoint',
      'Excel',
      'HTML',
      'Markdown',
      'CSV',
      'llama.cpp',
      'SHA-256',
      'K',
      'V',
      'B',
      'M',
    ],
    ...['KiB', 'MiB', 'GiB', 'TiB', 'tok', 's', 'ms', 'min', 'h', 'px', 'em', 'rem'],
    // keys, whose labels renderer/ui/Tooltip.tsx makes
    ...['Enter', 'Shift', 'Esc', 'Escape', 'Tab', 'Mod', 'Alt', 'Ctrl', 'Home', 'End', 'Delete', 'Backspace', 'Space'],
    ...['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'PageUp', 'PageDown', 'ContextMenu'],
  ].map((name) => name.toLowerCase()),
);

/**
 * Texts that are right as they stand, with the reason. One that is not there any more fails. Without `text`: all of the file.
 * @type {{file: string, text?: string, why: string}[]}
 */
const EXCEPTIONS = [
  { file: 'electron/engine/embedder.ts', text: 'The vectors could not be computed: {}.', why: 'words of llama.cpp' },
  {
    file: 'electron/engine/native/chatRequest.ts',
    text: 'Write {"name": value} in the settings of the model.',
    why: 'braces are signs of messages',
  },
  ...[
    ['electron/engine/native/guards.ts', 'The {} was closed'],
    ['electron/engine/native/mediaChecks.ts', 'An image or sound {}.'],
    ['electron/engine/native/requestChecks.ts', 'The field {} {}.'],
    [
      'electron/services/models/modelNames.ts',
      '`concertina models list` shows what there is, `concertina models pull` downloads a model.',
    ],
  ].map(([file = '', text = '']) => ({ file, text, why: 'programs and commands read it' })),
  ...[
    ['electron/services/documents/source.ts', '{} is {}, which cannot be attached.'],
    ['electron/services/lib/dataFolder.ts', 'Concertina cannot write to {}: {}.'],
    ['electron/services/lib/folderLock.ts', 'Concertina already runs with the folder {}{}.'],
  ].map(([file = '', text = '']) => ({ file, text, why: 'put together of English parts: still to be parted' })),
  {
    file: 'renderer/features/chat/welcome/exampleTexts.ts',
    why: 'the built-in model reads English',
  },
  ...[
    'Why could they not come to the wedding?',
    'When is the next meeting?',
    'What is the total due?',
    'What is the special magic number for harbour?',
  ].map((text) => ({
    file: 'renderer/features/chat/welcome/Welcome.tsx',
    text,
    why: 'the built-in model is asked in English',
  })),
  {
    file: 'renderer/features/chat/AssistantMessage.tsx',
    text: 'The text does not say.',
    why: 'words of the built-in model, which are looked for',
  },
  { file: 'renderer/state/lib/fit.ts', text: 'details {}', why: 'names who asks' },
  {
    file: 'renderer/features/sidebar/ExportDialog.tsx',
    text: 'Concertina chats {}',
    why: 'the name of a file, the same on every computer',
  },
];

/** Lingui's macros: what stands in them is gathered. */
const TAGS = new Set(['t', 'msg', 'defineMessage']);
const CALLS = new Set([...TAGS, 'plural', 'select', 'selectOrdinal']);
const ELEMENTS = new Set(['Trans', 'Plural', 'Select', 'SelectOrdinal']);

/** Attributes that are shown or read out, whatever stands in them. */
const SHOWN =
  /^(?:title|label|placeholder|alt|aria-(?:label|description|valuetext|roledescription|placeholder)|(?:\w+L|l)abel|help|hint|note|heading|submit|description|empty)$/;
/** Attributes that never are. */
const HIDDEN =
  /^(?:(?:\w+C|c)lassName|data-[\w-]+|aria-(?:live|current|haspopup|controls|describedby|labelledby|orientation)|id|key|type|role|name|htmlFor|href|src|rel|target|style|dir|lang|testId|keys|d|viewBox|points|transform|autoComplete|inputMode)$/;

/** Functions whose words are no texts: class names, tests, places to store, and messages for developers. */
const HIDDEN_CALLS =
  /^(?:cx|Error|TypeError|RangeError|require|fetch|querySelector(?:All)?|closest|matches|matchMedia|getItem|setItem|addEventListener|removeEventListener|getAttribute|setAttribute|startsWith|endsWith|includes|split|indexOf|replace|replaceAll|test|match|log|warn|error|debug|get|set|has|add|toggle|remove|createElement|getContext|getData|DateTimeFormat|NumberFormat|lazy|describe|useRowState)$/;

/**
 * @param {string} file path from the root of the repository
 * @param {string} source
 * @returns {{line: number, text: string}[]} texts outside of the macros
 */
export function untranslated(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found = [];
  const report = (node, text) => {
    const line = source.slice(0, node.start).split('\n').length;
    if (saysSomething(text)) found.push({ line, text: text.replace(/\s+/g, ' ').trim() });
  };

  /** @param {'shown' | 'maybe'} place whether any word counts, or only what looks like a text */
  function visit(node, place) {
    if (Array.isArray(node)) for (const one of node) visit(one, place);
    if (!node || typeof node !== 'object' || typeof node.type !== 'string') return;
    switch (node.type) {
      case 'JSXText':
        return report(node, node.value);
      case 'Literal':
        if (typeof node.value === 'string' && (place === 'shown' || looksLikeText(node.value)))
          report(node, node.value);
        return;
      case 'TemplateLiteral': {
        const text = node.quasis.map(({ value }) => value.cooked ?? '').join('{}');
        if (place === 'shown' || looksLikeText(text)) report(node, text);
        return visit(node.expressions, 'maybe');
      }
      case 'TaggedTemplateExpression':
        // what is put into a macro is no text by itself, except a whole one
        return visit(node.quasi.expressions, 'maybe');
      case 'CallExpression':
      case 'NewExpression': {
        const name = node.callee.property?.name ?? node.callee.name ?? '';
        if (CALLS.has(name) && node.callee.type === 'Identifier') return insideMacro(node.arguments);
        visit(node.callee, 'maybe');
        if (!HIDDEN_CALLS.test(name)) visit(node.arguments, 'maybe');
        else
          visit(
            node.arguments.filter(({ type }) => !/Literal$|^Conditional|^Logical|^Binary/.test(type)),
            'maybe',
          );
        return;
      }
      case 'JSXElement': {
        const name = node.openingElement.name.name ?? '';
        visit(node.openingElement.attributes, 'maybe');
        if (ELEMENTS.has(name)) return insideMacro(node.children);
        return visit(node.children, 'shown');
      }
      case 'JSXFragment':
        return visit(node.children, 'shown');
      case 'JSXAttribute': {
        const name = node.name.name ?? '';
        if (HIDDEN.test(name)) return;
        return visit(node.value, SHOWN.test(name) ? 'shown' : 'maybe');
      }
      case 'JSXExpressionContainer':
        return visit(node.expression, place);
      case 'ConditionalExpression':
        visit(node.test, 'maybe');
        visit(node.consequent, place);
        return visit(node.alternate, place);
      case 'LogicalExpression':
        visit(node.left, node.operator === '&&' ? 'maybe' : place);
        return visit(node.right, place);
      case 'BinaryExpression':
        if (/^(?:[!=]==?|in|instanceof)$/.test(node.operator)) return;
        break;
      case 'SwitchCase':
        return visit(node.consequent, 'maybe');
      case 'Property':
        return visit(node.value, SHOWN.test(node.key.name ?? '') ? 'shown' : 'maybe');
      case 'MemberExpression':
        return visit(node.object, 'maybe');
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'ImportExpression':
        return;
      default:
        if (node.type.startsWith('TS') && !/^TS(?:As|Satisfies|NonNull)/.test(node.type)) return;
    }
    for (const key in node) if (key !== 'type') visit(node[key], 'maybe');
  }

  /** Of a macro only what it is given: elements in a sentence have attributes, values are calls. */
  function insideMacro(node) {
    if (Array.isArray(node)) for (const one of node) insideMacro(one);
    if (!node || typeof node !== 'object' || typeof node.type !== 'string') return;
    if (node.type === 'JSXText' || node.type === 'Literal') return;
    if (node.type === 'TemplateLiteral') return visit(node.expressions, 'maybe');
    if (node.type === 'JSXElement') {
      visit(node.openingElement.attributes, 'maybe');
      return insideMacro(node.children);
    }
    if (node.type === 'CallExpression' || node.type === 'TaggedTemplateExpression') return visit(node, 'maybe');
    for (const key in node) if (key !== 'type') insideMacro(node[key]);
  }

  visit(program.body, 'maybe');
  return found;
}

/**
 * What services say when something fails reaches the window, which says it in its language where it is a descriptor.
 * @param {string} file path from the root of the repository
 * @param {string} source
 * @returns {{line: number, text: string}[]} words of a `ConcertinaError` outside of the macros
 */
export function untranslatedErrors(file, source) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const found = [];
  function look(node) {
    if (node?.type === 'ConditionalExpression') for (const one of [node.consequent, node.alternate]) look(one);
    else if (node?.type === 'BinaryExpression') for (const one of [node.left, node.right]) look(one);
    const words =
      node?.type === 'TemplateLiteral' ? node.quasis.map(({ value }) => value.cooked ?? '').join('{}') : node?.value;
    if (typeof words !== 'string' || !saysSomething(words)) return;
    found.push({ line: source.slice(0, node.start).split('\n').length, text: words });
  }
  function visit(node) {
    if (Array.isArray(node)) for (const one of node) visit(one);
    if (!node || typeof node !== 'object' || typeof node.type !== 'string') return;
    if (node.type === 'NewExpression' && node.callee.name === 'ConcertinaError')
      node.arguments.slice(1, 3).forEach(look);
    for (const key in node) if (key !== 'type') visit(node[key]);
  }
  visit(program.body);
  return found;
}

/** Words that are not the same in every language. */
function saysSomething(text) {
  const words = text.match(/[\p{L}][\p{L}\p{M}\d.-]*/gu) ?? [];
  return words.some((word) => /\p{L}{2}/u.test(word) && !NAMES.has(word.toLowerCase().replace(/[.-]+$/, '')));
}

/** A sentence, a label, or a part of one: names of things in the program have no spaces and begin small. */
function looksLikeText(text) {
  const trimmed = text.trim();
  if (/^[A-Z][a-z]+(?:…|\.|:)?$/.test(trimmed)) return true;
  const words = trimmed.split(/\s+/);
  const plain = (word) => /^[(“"]?\p{L}[\p{L}’'-]*[)”"]?[,.;:!?…]*$/u.test(word);
  if (words.length < 2) return false;
  if (/^[(“"]?[A-Z]/.test(trimmed) && plain(words[0]) && words.filter(plain).length >= 2) return true;
  const small = (word) => /^(?:[\p{Ll}’']{2,}|a)[,.;:!?…]*$/u.test(word);
  return words.every((word) => small(word) || /^\{\}[,.;:!?…]*$/.test(word)) && words.some(small);
}

/**
 * @param {{name: string, messages: Record<string, {message?: string, context?: string, translation?: string}>}[]} catalogs by their
 *   ids; the window joins them, so that a text has one translation wherever it stands
 * @returns {string[]} one sentence for each translation that is wrong
 */
export function wrongTranslations(catalogs) {
  const wrong = [];
  const known = new Map();
  for (const { name, messages } of catalogs) {
    for (const [id, { message = id, translation = '' }] of Object.entries(messages)) {
      if (translation === '') continue;
      const expected = placeholdersOf(message);
      const found = placeholdersOf(translation);
      if (found === null) wrong.push(`${name}: "${translation}" cannot be read as a message.`);
      else if (expected !== found) wrong.push(`${name}: "${translation}" has ${found}, and "${message}" ${expected}.`);
      const other = known.get(id) ?? { name, translation };
      known.set(id, other);
      if (other.translation !== translation) {
        wrong.push(
          `"${message}" is "${other.translation}" in ${other.name} and "${translation}" in ${name}: ` +
            'make them one, or give one of them a context.',
        );
      }
    }
  }
  return wrong;
}

/** Names and kinds of what a message is given, once each; null: it is malformed. */
function placeholdersOf(message) {
  const names = new Set();
  const add = (tokens) => {
    for (const token of tokens) {
      if (typeof token === 'string') for (const [tag] of token.matchAll(/<\/?\w+\/?>/g)) names.add(tag);
      else {
        const [name, kind, cases] = token;
        names.add(kind ? `{${name}, ${kind}}` : `{${name}}`);
        if (cases && typeof cases === 'object')
          for (const inner of Object.values(cases)) if (Array.isArray(inner)) add(inner);
      }
    }
  };
  try {
    add(compileMessageOrThrow(message));
  } catch {
    return null;
  }
  return [...names].sort().join(' ') || 'no placeholder';
}

function catalogs() {
  const { parse } = formatter();
  return listFiles(['assets/locales'], /\.po$/).map((name) => ({
    name,
    messages: parse(fs.readFileSync(path.join(ROOT, name), 'utf8')),
  }));
}

/** Checks the whole tree. @returns {{files: number, wrong: string[]}} */
export function checkTexts() {
  const wrong = [];
  const unused = new Set(EXCEPTIONS);
  const files = listFiles(['renderer'], /(?<!\.d)\.tsx?$/);
  for (const file of files) {
    for (const { line, text } of untranslated(file, fs.readFileSync(path.join(ROOT, file), 'utf8'))) {
      const exception = EXCEPTIONS.find((one) => one.file === file && (one.text === undefined || one.text === text));
      if (exception) unused.delete(exception);
      else wrong.push(`${file}:${line}: "${text}" is not translated: wrap it in a macro of Lingui (CONTRIBUTING.md).`);
    }
  }
  const speaking = listFiles(['electron'], /(?<!\.d)\.ts$/).filter((file) => !file.startsWith('electron/server/'));
  for (const file of speaking) {
    for (const { line, text } of untranslatedErrors(file, fs.readFileSync(path.join(ROOT, file), 'utf8'))) {
      const exception = EXCEPTIONS.find((one) => one.file === file && one.text === text);
      if (exception) unused.delete(exception);
      else wrong.push(`${file}:${line}: "${text}" is not translated: write msg\`…\` (CONTRIBUTING.md).`);
    }
  }
  for (const { file, text } of unused)
    wrong.push(`${file}: the exception "${text ?? 'all of it'}" is not used any more (test/texts.mjs).`);
  return { files: files.length + speaking.length, wrong: [...wrong, ...wrongTranslations(catalogs())] };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { files, wrong } = checkTexts();
  const folder = process.argv[2];
  if (folder) {
    for (const file of listFiles([folder], /(?<!\.d)\.tsx?$/)) {
      const found = untranslated(file, fs.readFileSync(path.join(ROOT, file), 'utf8'));
      for (const { line, text } of found) console.log(`${file}:${line}: ${text}`);
    }
  }
  for (const line of wrong) console.error(line);
  console.log(`texts: ${files} files, ${wrong.length} violations`);
  if (wrong.length > 0) process.exitCode = 1;
}
