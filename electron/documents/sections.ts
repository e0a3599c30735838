/** Sections of a text while it is written: each begins where the one before it ends. */
import type { Section } from '../shared/documents';

const maxLabel = 200;

/** Pages and headings. What stands before the first one becomes a section of its own. */
export class SectionList {
  private readonly list: Section[] = [];

  begin(kind: Section['kind'], label: string, level: number, start: number): void {
    const before = this.list.at(-1);
    if (before) before.end = start;
    else if (start > 0) this.list.push({ kind: 'lines', label: 'Beginning', level: 0, start: 0, end: start });
    this.list.push({ kind, label: shortened(label), level, start, end: start });
  }

  finish(end: number): Section[] {
    const last = this.list.at(-1);
    if (last) last.end = end;
    return this.list;
  }
}

function shortened(label: string): string {
  const line = label.replace(/\s+/g, ' ').trim();
  return line.length > maxLabel ? `${line.slice(0, maxLabel - 1)}…` : line;
}

/** lines of one section; twice as many each time when there would be too many sections */
const firstStep = 200;
const maxSections = 4096;

/**
 * Stretches of lines ("Lines 201-400"), or of rows of a CSV file, where a line break inside quotes does not end a row.
 * Feed it the text in any pieces.
 */
export class LineSections {
  /** where each section starts */
  private starts: number[] = [0];
  private step = firstStep;
  private lines = 0;
  private length = 0;
  private inQuotes = false;
  private quotedLines = 0;
  /** something stands after the last line break */
  private open = false;

  constructor(private readonly noun: 'Lines' | 'Rows') {}

  feed(text: string): void {
    const pattern = this.noun === 'Rows' ? /["\n]/g : /\n/g;
    for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
      if (found[0] === '"') this.inQuotes = !this.inQuotes;
      else this.lineBreak(this.length + found.index + 1);
    }
    this.length += text.length;
    if (text !== '') this.open = !text.endsWith('\n');
  }

  finish(): Section[] {
    const lines = this.lines + (this.open ? 1 : 0);
    const starts = this.starts.filter((start) => start < this.length);
    return starts.map((start, index) => {
      const first = index * this.step + 1;
      const last = Math.min(lines, first + this.step - 1);
      const label = first >= last ? `${this.noun.slice(0, -1)} ${first}` : `${this.noun} ${first}-${last}`;
      return { kind: 'lines', label, level: 0, start, end: starts[index + 1] ?? this.length };
    });
  }

  private lineBreak(next: number): void {
    this.quotedLines = this.inQuotes ? this.quotedLines + 1 : 0;
    // a quote that nothing closes is a letter like any other
    if (this.quotedLines > firstStep) this.inQuotes = false;
    if (this.inQuotes) return;
    this.lines += 1;
    if (this.lines % this.step === 0) this.starts.push(next);
    if (this.starts.length > maxSections) {
      this.starts = this.starts.filter((_, index) => index % 2 === 0);
      this.step *= 2;
    }
  }
}
