/** Sections of a text while it is written: each begins where the one before it ends. */
import type { Section } from '../../contract/documents';
import { limits } from '../../contract/limits';

const most = limits.maxDocumentSections;
const maxLabel = 200;
/** the headings of the deepest level are left out as long as so many others remain */
const enough = most / 8;

/**
 * Pages and headings. What stands before the first one becomes a section of its own. Where there are too many headings, a
 * section goes on over the next ones: over those of the deepest level, or else over every second.
 */
export class SectionList {
  private list: Section[] = [];
  private headings = 0;
  /** deeper headings begin no section any more */
  private deepest = 6;
  /** of the headings that are not too deep, one in so many begins a section */
  private step = 1;
  private candidates = 0;

  /** Of text from `start` on; not before the one that began last. */
  begin(kind: Section['kind'], label: string, level: number, start: number): void {
    if (kind === 'heading' && !this.takes(level)) return;
    const before = this.list.at(-1);
    if (before) before.end = start;
    else if (start > 0) this.list.push({ kind: 'lines', label: 'Beginning', level: 0, start: 0, end: start });
    this.list.push({ kind, label: shortened(label), level, start, end: start });
    while (this.list.length > most) this.join();
  }

  finish(end: number): Section[] {
    const last = this.list.at(-1);
    if (last) last.end = end;
    return this.list;
  }

  /** Call it last: what a person should know about the sections. */
  notices(): string[] {
    if (this.deepest === 6 && this.step === 1) return [];
    const [all, limit, kept] = [this.headings, most, this.list.length].map((count) => count.toLocaleString('en'));
    return [
      `This document has ${all} headings. Concertina keeps at most ${limit} sections, so neighboring ones were joined: ` +
        `${kept} sections.`,
    ];
  }

  private takes(level: number): boolean {
    this.headings += 1;
    return level <= this.deepest && this.candidates++ % this.step === 0;
  }

  /** The first one stays: sections begin at the beginning of the text. */
  private join(): void {
    const deepest = this.list.reduce((level, section) => Math.max(level, section.level), 0);
    const others = this.list.filter(({ level }, index) => index === 0 || level < deepest);
    if (others.length >= enough && others.length < this.list.length) {
      this.deepest = deepest - 1;
      this.list = others;
    } else {
      this.step *= 2;
      this.list = this.list.filter((_, index) => index % 2 === 0);
    }
    for (const [index, section] of this.list.entries()) section.end = this.list[index + 1]?.start ?? section.end;
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
