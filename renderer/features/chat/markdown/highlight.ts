/**
 * Colours for code without a grammar engine: comments, strings, numbers, keywords and called names, which is most of
 * what the eye uses. A full highlighter costs hundreds of kilobytes or WebAssembly, which the page's policy forbids.
 */
export type TokenKind = 'plain' | 'comment' | 'string' | 'number' | 'keyword' | 'name';

export interface Token {
  kind: TokenKind;
  text: string;
}

type Comments = 'slash' | 'hash' | 'dash' | 'markup' | 'none';

const longest = 60_000;

const commentPatterns: Record<Comments, string> = {
  slash: '\\/\\/[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)',
  hash: '#[^\\n]*',
  dash: '--[^\\n]*|\\/\\*[\\s\\S]*?(?:\\*\\/|$)',
  markup: '<!--[\\s\\S]*?(?:-->|$)',
  none: '(?!)',
};

const commentsOf: Record<string, Comments> = {
  python: 'hash',
  py: 'hash',
  ruby: 'hash',
  rb: 'hash',
  sh: 'hash',
  bash: 'hash',
  shell: 'hash',
  zsh: 'hash',
  yaml: 'hash',
  yml: 'hash',
  toml: 'hash',
  r: 'hash',
  perl: 'hash',
  make: 'hash',
  makefile: 'hash',
  dockerfile: 'hash',
  cmake: 'hash',
  sql: 'dash',
  lua: 'dash',
  haskell: 'dash',
  hs: 'dash',
  html: 'markup',
  xml: 'markup',
  svg: 'markup',
  json: 'none',
  text: 'none',
  txt: 'none',
  plaintext: 'none',
  markdown: 'none',
  md: 'none',
  csv: 'none',
  '': 'none',
};

const keywords = new Set(
  `abstract and as assert async await auto begin bool boolean break case catch char class const constexpr continue def default
  defer del delete do done double echo elif else end enum esac except export extends extern false fi final finally float fn for
  foreach from func function global go goto if impl implements import in include inline instanceof int interface is lambda let
  local long loop match mod module move mut namespace new nil none not null nullptr of operator or override package pass private
  protected pub public raise readonly ref return self short signed sizeof static struct super switch template then this throw
  throws trait true try type typedef typeof undefined union unless unsafe unsigned until use using var virtual void volatile
  when where while with yield select insert update create table values join on group order by having limit into set`.split(
    /\s+/,
  ),
);

export function highlight(code: string, language: string): Token[] {
  const comments = commentsOf[language.toLowerCase()] ?? 'slash';
  const isPlain = ['', 'text', 'txt', 'plaintext', 'markdown', 'md', 'csv'].includes(language.toLowerCase());
  if (isPlain || code.length > longest) return [{ kind: 'plain', text: code }];
  const pattern = new RegExp(
    `(${commentPatterns[comments]})` +
      '|("""[\\s\\S]*?(?:"""|$)|"(?:\\\\.|[^"\\\\\\n])*"?|\'(?:\\\\.|[^\'\\\\\\n])*\'?|`(?:\\\\.|[^`\\\\])*`?)' +
      '|(\\b(?:0[xXbBoO][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?)\\b)' +
      '|([A-Za-z_$][\\w$]*)(?=(\\s*\\()?)',
    'g',
  );
  const tokens: Token[] = [];
  let end = 0;
  for (const found of code.matchAll(pattern)) {
    const kind = kindOf(found, comments === 'dash');
    if (kind === 'plain') continue;
    if (found.index > end) tokens.push({ kind: 'plain', text: code.slice(end, found.index) });
    tokens.push({ kind, text: found[0] });
    end = found.index + found[0].length;
  }
  if (end < code.length) tokens.push({ kind: 'plain', text: code.slice(end) });
  return tokens;
}

function kindOf(found: RegExpMatchArray, anyCase: boolean): TokenKind {
  const [, comment, string, number, word, call] = found;
  if (comment !== undefined) return 'comment';
  if (string !== undefined) return 'string';
  if (number !== undefined) return 'number';
  if (word !== undefined && keywords.has(anyCase ? word.toLowerCase() : word)) return 'keyword';
  return call === undefined ? 'plain' : 'name';
}
