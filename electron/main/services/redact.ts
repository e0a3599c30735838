/**
 * Takes out of a text what may not leave the machine with a bug report: who and where the person is, places of files, keys, and
 * quoted text. Rather too much than too little.
 */

export interface PrivateFacts {
  /** words that stand for the person or the machine: user name, host name, home folder */
  names: readonly string[];
  /** exact values, of secrets and of texts that a person wrote */
  values: readonly string[];
}

const secretName = /key|token|secret|passw|auth|credential|cookie|session/i;
const personName = /^(USER|LOGNAME|USERNAME|HOSTNAME|COMPUTERNAME|USERDOMAIN|HOME|USERPROFILE)$/i;
const shortest = 4;

/** What the environment of a process tells of the person, and its secrets. */
export function privateFactsOf(environment: NodeJS.ProcessEnv, texts: readonly string[] = []): PrivateFacts {
  const entries = Object.entries(environment).filter(([, value]) => value && value.length >= shortest);
  const valuesOf = (test: RegExp) => entries.filter(([name]) => test.test(name)).map(([, value]) => value ?? '');
  const lines = texts.flatMap((text) => text.split('\n').map((line) => line.trim()));
  const long = lines.filter((line) => line.length >= 8);
  return { names: valuesOf(personName), values: [...valuesOf(secretName), ...long] };
}

const patterns: [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s'"]+/gi, '<address>'],
  [/[\w.+-]+@[\w-]+\.[\w.-]+/g, '<address>'],
  [/\b(?:\d{1,3}\.){3}\d{1,3}\b/g, '<address>'],
  // in quotes a path may have blanks
  [/(["'`“‘])(?:[A-Za-z]:[\\/]|\\\\|~?\/)[^"'`”’\n]*(["'`”’])/g, '$1<path>$2'],
  [/(?<![\w<])(?:[A-Za-z]:[\\/]|\\\\)[^\s'",;:)]+/g, '<path>'],
  [/(?<![\w<])~?(?:\/[^\s'",;:)]+)+/g, '<path>'],
  [/(?:\.\.?[\\/]|\b[\w.-]+[\\/])[^\s'",;:)]*\.\w{2,5}\b/g, '<path>'],
  [/[^\s'"`(]+\.gguf\b/gi, '<file>'],
  [/\b(bearer|basic)\s+[^\s'"]+/gi, '$1 <secret>'],
  [/\b([\w-]*(?:key|token|secret|password|passwd|authorization)[\w-]*)(\s*[=:]\s*)(?!<)[^\s'",;]+/gi, '$1$2<secret>'],
  [/\b(?:sk|pk|hf|ghp|gho|ghs|glpat|xox[abp]|github_pat)[-_][\w-]{8,}/g, '<secret>'],
  [/(["'`“‘])(?!<path>)[^"'`”’\n]{24,}(["'`”’])/g, '$1<text>$2'],
];

export function redact(text: string, { names, values }: PrivateFacts): string {
  let clean = text;
  for (const value of longestFirst(values)) clean = clean.replaceAll(value, '<private>');
  for (const [pattern, replacement] of patterns) clean = clean.replace(pattern, replacement);
  for (const name of longestFirst(names)) clean = clean.replace(wholeWord(name), '<name>');
  return clean.replace(/[A-Za-z0-9+/=]{16,}/g, (run) => (looksRandom(run) ? '<secret>' : run));
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
