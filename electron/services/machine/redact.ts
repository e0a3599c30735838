/**
 * Takes out of a text what may not leave the machine with a bug report: who and where the person is, places of files, keys, and
 * quoted text. Rather too much than too little.
 */

import { cutMark, longestLine } from '../lib/logger';

export interface PrivateFacts {
  /** words that stand for the person or the machine: user name, host name, home folder */
  names: readonly string[];
  /** exact values, of secrets and of texts that a person wrote */
  values: readonly string[];
}

const secretName = /key|token|secret|passw|auth|credential|cookie|session/i;
const personName = /^(USER|LOGNAME|USERNAME|HOSTNAME|COMPUTERNAME|USERDOMAIN|HOME|USERPROFILE)$/i;
const shortest = 4;

/** What the environment of a process reveals about the person, and its secrets. */
export function privateFactsOf(environment: NodeJS.ProcessEnv, texts: readonly string[] = []): PrivateFacts {
  const entries = Object.entries(environment).filter(([, value]) => value && value.length >= shortest);
  const valuesOf = (test: RegExp) => entries.filter(([name]) => test.test(name)).map(([, value]) => value ?? '');
  const lines = texts.flatMap((text) => text.split('\n').map((line) => line.trim()));
  const long = lines.filter((line) => line.length >= 8);
  return { names: valuesOf(personName), values: [...valuesOf(secretName), ...long] };
}

/**
 * Each looks at a letter a few times at most, however long the line is: an expression that starts again at every letter of a long
 * word takes minutes for one of 400,000. Hence the look-behinds (one beginning for each word) and the limits on lengths.
 */
const patterns: [RegExp, string | ((word: string) => string)][] = [
  [/[a-z][a-z0-9+.-]{0,30}:\/\/[^\s'"]+/gi, '<address>'],
  [/(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.+@-]+/g, '<address>'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, '<address>'],
  [/(?<![\w<])(?:[A-Za-z]:[\\/]|\\\\)[^\s'",;:)]+/g, '<path>'],
  [/(?<![\w<])~?\/[^\s'",;:)]+/g, '<path>'],
  [/[^\s'",;:)]+/g, withoutRelativePath],
  [/(?<![^\s'"`(])[^\s'"`(]+\.gguf\b/gi, '<file>'],
  [/\b(bearer|basic)\s+[^\s'"]+/gi, '$1 <secret>'],
  [
    /(?<![\w-])(?=[\w-]*?(?:key|token|secret|password|passwd|authorization))([\w-]+)(\s*[=:]\s*)(?!<)[^\s'",;]+/gi,
    '$1$2<secret>',
  ],
  [/\b(?:sk|pk|hf|ghp|gho|ghs|glpat|xox[abp]|github_pat)[-_][\w-]{8,}/g, '<secret>'],
];

/** @param longest characters of a line that are kept; a mark says how much was cut */
export function redact(text: string, { names, values }: PrivateFacts, longest = longestLine): string {
  // names with blanks too: of those a cut would leave a part
  const exact = longestFirst([...values, ...names.filter((name) => /\s/.test(name))].flatMap((one) => one.split('\n')));
  const words = longestFirst(names).map(wholeWord);
  return text
    .split('\n')
    .map((line) => redactLine(line, { exact, words, longest }))
    .join('\n');
}

interface LineFacts {
  /** the longest first */
  exact: readonly string[];
  words: readonly RegExp[];
  longest: number;
}

function redactLine(line: string, { exact, words, longest }: LineFacts): string {
  const cut = line.length > longest;
  let clean = withoutExact(line, exact, longest);
  const replaceIn = (from: RegExp, to: string | ((word: string) => string)) => {
    clean = typeof to === 'string' ? clean.replace(from, to) : clean.replace(from, to);
  };
  // in quotes a path may have blanks
  clean = replaceQuoted(clean, cut, (quoted) => (pathStart.test(quoted) ? '<path>' : null));
  for (const [pattern, replacement] of patterns) replaceIn(pattern, replacement);
  clean = replaceQuoted(clean, cut, (quoted) =>
    quoted.length >= 24 && !quoted.startsWith('<path>') ? '<text>' : null,
  );
  for (const word of words) replaceIn(word, '<name>');
  replaceIn(/[A-Za-z0-9+/=]{16,}/g, (run) => (looksRandom(run) ? '<secret>' : run));
  return cut ? (clean + cutMark(line)).trimStart() : clean;
}

/** stands for one character of a private value, so that places in the line stay what they are until it is cut */
const masked = '\uE000';

/** Without the private values, also those that the cut would have halved, and without the word that it would have halved. */
function withoutExact(line: string, exact: readonly string[], longest: number): string {
  let text = line.slice(0, longest + (exact[0]?.length ?? 0));
  for (const value of exact) text = text.replaceAll(value, masked.repeat(value.length));
  if (line.length > longest) text = text.slice(0, Math.max(0, text.lastIndexOf(' ', longest)));
  return text.replace(/\uE000+/g, '<private>');
}

const pathStart = /^(?:[A-Za-z]:[\\/]|\\\\|~?\/)/;

/**
 * By hand: an expression would search for the closing quote again from each opening one.
 * @param open the line was cut: what is not closed goes on behind its end
 * @param replacementOf null: it stays
 */
function replaceQuoted(line: string, open: boolean, replacementOf: (quoted: string) => string | null): string {
  const closing = [...line.matchAll(/["'`”’]/g)].map(({ index }) => index);
  if (open) closing.push(line.length);
  let clean = '';
  let done = 0;
  let next = 0;
  for (const { index } of line.matchAll(/["'`“‘]/g)) {
    if (index < done) continue;
    while ((closing[next] ?? Number.POSITIVE_INFINITY) <= index) next++;
    const end = closing[next];
    if (end === undefined) break;
    const replacement = replacementOf(line.slice(index + 1, end));
    if (replacement === null) continue;
    clean += line.slice(done, index + 1) + replacement + line.slice(end, end + 1);
    done = end + 1;
  }
  return clean + line.slice(done);
}

/** `models/private/x.bin`: from the first folder to the last ending. `word`: without blanks. */
function withoutRelativePath(word: string): string {
  const stroke = word.search(/[\w.-][\\/]/) + 1;
  const ending = stroke === 0 ? undefined : [...word.slice(stroke).matchAll(/\.\w{2,5}\b/g)].at(-1);
  if (!ending) return word;
  let start = stroke;
  while (start > 0 && /[\w.-]/.test(word[start - 1] ?? '')) start--;
  return `${word.slice(0, start)}<path>${word.slice(stroke + ending.index + ending[0].length)}`;
}

/** A run of letters and digits without the blanks and strokes that names of kernels and functions have. */
function looksRandom(run: string): boolean {
  return /\d/.test(run) && /[A-Za-z]/.test(run);
}

function longestFirst(list: readonly string[]): string[] {
  return [...new Set(list)].filter((one) => one.length >= shortest).sort((a, b) => b.length - a.length);
}

/** Not within a word: someone may be called "auto". */
function wholeWord(name: string): RegExp {
  return new RegExp(`(?<![\\w])${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w])`, 'gi');
}
