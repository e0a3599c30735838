/** Markdown: the text as it is, with its headings as sections. */
import type { Extractor } from './extractor';
import { openText } from './fileText';
import { LineSections, SectionList } from './sections';

/** a longer line is no heading */
const maxHeading = 1000;
const atx = /^ {0,3}(#{1,6})(?![^ \t])/;
/** of a marked heading, when it stands alone */
const closingMarks = /(?:^|[ \t])#+$/;
const setext = /^ {0,3}(?:(=+)|-{2,})[ \t]*$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;

export const extractMarkdown: Extractor = async ({ path, name }, sink, onProgress) => {
  const { pieces, notices } = openText(path, name);
  const headings = new SectionList();
  const lines = new LineSections('Lines');
  const scan = scanner((level, label, start) => headings.begin('heading', label, level, start));
  for (const { text, fraction } of pieces) {
    scan(text);
    lines.feed(text);
    sink.append(text);
    onProgress(fraction);
  }
  scan('\n');
  const found = headings.finish(sink.length);
  const sections = found.length > 0 ? found : lines.finish();
  return { pages: null, sections, notices: [...notices, ...headings.notices()] };
};

/** Takes the text in any pieces and tells each heading (CommonMark 4.2 and 4.3), with the offset of its line. */
function scanner(onHeading: (level: number, label: string, start: number) => void): (text: string) => void {
  let line = '';
  let start = 0;
  let offset = 0;
  /** the line before this one, when it can be the words of an underlined heading */
  let words: { text: string; start: number } | null = null;
  let fenced: string | null = null;
  let inFrontMatter = false;

  function endOfLine(): void {
    if (start === 0 && line === '---') inFrontMatter = true;
    else if (inFrontMatter) inFrontMatter = line !== '---' && line !== '...';
    else if (fenced !== null) fenced = closes(line, fenced) ? null : fenced;
    else ordinary();
  }

  function ordinary(): void {
    fenced = fence.exec(line)?.[1] ?? null;
    const marked = markedHeading(line);
    const underline = words ? setext.exec(line) : null;
    if (marked) onHeading(marked.level, marked.label, start);
    else if (words && underline) onHeading(underline[1] ? 1 : 2, words.text, words.start);
    const isWords = !marked && !underline && fenced === null && /^ {0,3}[^\s>|*+-]/.test(line);
    words = isWords ? { text: line, start } : null;
  }

  return (text) => {
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      line = joined(line, text.slice(from, at));
      endOfLine();
      from = at + 1;
      start = offset + from;
      line = '';
    }
    line = joined(line, text.slice(from));
    offset += text.length;
  };
}

/** In steps that each take time in proportion to the line: one pattern for all of it would not. */
function markedHeading(line: string): { level: number; label: string } | null {
  const [before, marks] = atx.exec(line) ?? [];
  if (before === undefined || marks === undefined) return null;
  const label = line.slice(before.length).trim().replace(closingMarks, '').trimEnd();
  return { level: marks.length, label };
}

function joined(line: string, more: string): string {
  return (line + more.slice(0, maxHeading)).slice(0, maxHeading);
}

function closes(line: string, fenced: string): boolean {
  const end = line.trim();
  return end.length >= fenced.length && end === (fenced[0] ?? '`').repeat(end.length);
}
