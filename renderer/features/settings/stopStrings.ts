/** Stop strings as text: one a line, with \n, \t and \\ for what a line cannot hold. */
const most = 16;
const longest = 200;

export function printStops(stop: readonly string[]): string {
  return stop.map((text) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/\t/g, '\\t')).join('\n');
}

export function parseStops(text: string): string[] {
  const lines = text
    .split('\n')
    .map(unescapeLine)
    .filter((line) => line !== '');
  return [...new Set(lines)].slice(0, most).map((line) => line.slice(0, longest));
}

function unescapeLine(line: string): string {
  return line.replace(/\\([nt\\])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter === 't' ? '\t' : '\\'));
}
