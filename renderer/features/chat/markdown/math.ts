/**
 * Formulas in answers. Models write them in four ways; here all become `$$...$$`, which is the only one that the parser
 * is told to read, so that a price never turns into a formula. Code stays as it is.
 */

/** Code first, so that nothing inside it is touched; then what is a formula by its signs. */
const parts = new RegExp(
  [
    /(?<fence>^[ \t>]*(?<mark>`{3,}|~{3,})[^\n]*(?:\n[\s\S]*?(?:^[ \t>]*\k<mark>|$(?![\s\S]))|$(?![\s\S])))/,
    /(?<code>(?<ticks>`+)(?!`)(?:(?!\n\s*\n)[\s\S])*?[^`]\k<ticks>(?!`))/,
    /(?<escaped>\\[\\$])/,
    /(?<lead>^[ \t]*)\$\$(?<ownLine>[^$]+?)\$\$[ \t]*$/,
    /(?<dollars>\$\$[^$]+?\$\$)/,
    /(?<indent>^[ \t]*)\\\[(?<display>[\s\S]+?)\\\]/,
    /\\\[(?<displayInText>[^\n]+?)\\\]/,
    /\\\((?<inline>(?:(?!\n\s*\n)[\s\S])+?)\\\)/,
    /(?<![\w$])\$(?<single>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\d$])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gm',
);

/** Formulas in the one notation. The text comes back as the same string when there are none. */
export function withFormulas(text: string): { text: string; found: boolean } {
  if (!text.includes('$') && !text.includes('\\[') && !text.includes('\\(')) return { text, found: false };
  let found = false;
  const written = text.replace(parts, (whole: string, ...rest: unknown[]) => {
    const formula = formulaIn(rest.at(-1) as Record<string, string | undefined>, whole);
    if (formula !== null) found = true;
    return formula ?? whole;
  });
  return { text: found ? written : text, found };
}

function formulaIn(groups: Record<string, string | undefined>, whole: string): string | null {
  const { lead, ownLine, dollars, indent, display, displayInText, inline, single } = groups;
  if (ownLine !== undefined) return block(ownLine, lead ?? '');
  if (display !== undefined) return block(display, indent ?? '');
  if (dollars !== undefined) return whole;
  const words = displayInText ?? inline ?? (single !== undefined && isFormula(single) ? single : null);
  // The signs of a table cell end it, whatever stands around them.
  return words === null ? null : `$$${words.trim()}$$`;
}

/** An empty line would end the formula. */
function block(formula: string, indent: string): string {
  const lines = formula.split('\n').map((line) => line.trim());
  return ['$$', ...lines.filter(Boolean), '$$'].map((line) => indent + line).join('\n');
}

/** Between single dollar signs: signs of a formula, or letters and figures without a word of everyday language. */
export function isFormula(text: string): boolean {
  if (/[\\^_={}<>]/.test(text)) return !/^\d[\d.,]*\s+[a-z]{2,}\s/i.test(text);
  return !/[a-z]{3,}/i.test(text) && !/[a-z]{2,}\s|\s[a-z]{2,}/i.test(text) && !/^[\d.,]+\s*[-–/]\s*$/.test(text);
}
