/** What a README says first, as markdown that a window can show without the network. */

const maxCharacters = 6000;

/** Without the header for machines, pictures and raw HTML; cut at the end of a paragraph. */
export function summaryOf(readme: string): string {
  const text = readme
    .replace(/^\uFEFF/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^---\n[\s\S]*?\n---[ \t]*(\n|$)/, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, '')
    .replace(/\[!\[[^\]]*\]\([^)]*\)\]\([^)]*\)/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/<\/?[a-z][^<>]*>/gi, '')
    .replace(/[ \t]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
  if (text.length <= maxCharacters) return text;
  const cut = text.lastIndexOf('\n\n', maxCharacters);
  const short = text.slice(0, cut > maxCharacters / 2 ? cut : maxCharacters).trimEnd();
  // a block of code that was cut open would swallow what follows
  const open = (short.match(/^```/gm)?.length ?? 0) % 2 === 1;
  return `${short}${open ? '\n```' : ''}\n\n…`;
}
