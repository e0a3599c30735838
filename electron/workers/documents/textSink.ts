/** The text file that the reading of a document writes: UTF-8 on disk, offsets in UTF-16 units, marks that join the two. */

import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { msg } from '@lingui/core/runtime-macro';
import type { PagesRead, Section } from '../../contract/documents';
import { ConcertinaError, messageOf } from '../../contract/errors';
import { limits } from '../../contract/limits';
import type { Extraction, ReadingFolders, TextMark } from '../../contract/workerTasks';

/** UTF-16 units between two marks */
const markEvery = 65_536;

/** Ends a document that unpacks to more text than anything could use. */
export class TooMuchTextError extends Error {}

export class TextSink {
  private readonly file: number;
  private readonly hash = createHash('sha256');
  private readonly marks: TextMark[] = [];
  private pending = '';
  private written = 0;
  private bytes = 0;
  private blank = true;

  constructor(
    path: string,
    private readonly maxCharacters: number,
  ) {
    this.file = openSync(path, 'wx', 0o600);
  }

  /** of the text so far, in UTF-16 units: where the next piece begins */
  get length(): number {
    return this.written + this.pending.length;
  }

  /** nothing but spaces and line breaks so far */
  get isBlank(): boolean {
    return this.blank;
  }

  append(text: string): void {
    if (this.blank) this.blank = !/\S/.test(text);
    this.pending += text;
    if (this.length > this.maxCharacters) throw new TooMuchTextError();
    while (this.pending.length > markEvery) this.write(cutAt(this.pending, markEvery));
  }

  /** Waits until the disk has the text. */
  finish(): Pick<Extraction, 'characters' | 'textBytes' | 'textSha256' | 'marks'> {
    if (this.pending !== '') this.write(this.pending.length);
    fsyncSync(this.file);
    closeSync(this.file);
    return {
      characters: this.written,
      textBytes: this.bytes,
      textSha256: this.hash.digest('hex'),
      marks: this.marks,
    };
  }

  private write(units: number): void {
    const bytes = Buffer.from(this.pending.slice(0, units), 'utf8');
    this.marks.push({ at: this.written, byte: this.bytes });
    for (let done = 0; done < bytes.length; ) done += writeSync(this.file, bytes, done);
    this.hash.update(bytes);
    this.pending = this.pending.slice(units);
    this.written += units;
    this.bytes += bytes.length;
  }
}

/** A pair of surrogates is one letter; half of it cannot be written. */
function cutAt(text: string, units: number): number {
  const last = text.charCodeAt(units - 1);
  return last >= 0xd800 && last <= 0xdbff ? units + 1 : units;
}

// Sections of a text while it is written: each begins where the one before it ends.

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

  /** Of text from `start` on; not before the one that began last. `ocr`: its text comes by OCR. */
  begin(kind: Section['kind'], label: string, level: number, start: number, ocr?: true): void {
    if (kind === 'heading' && !this.takes(level)) return;
    const before = this.list.at(-1);
    if (before) before.end = start;
    else if (start > 0) this.list.push({ kind: 'lines', label: 'Beginning', level: 0, start: 0, end: start });
    this.list.push({ kind, label: shortened(label), level, start, end: start, ...(ocr && { ocr }) });
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

// What a person reads when a file cannot be used: what is wrong with it, and what to do.

export function binary(name: string): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is not a text file.`,
    msg`Attach a PDF, an office document, an e-book (.epub), a web page or a plain text file, or save it as one of these.`,
  );
}

export function damaged(name: string, cause: unknown): ConcertinaError {
  const reason = messageOf(cause).replace(/\.+$/, '');
  return new ConcertinaError(
    'document-invalid',
    msg`${{ name }} is damaged and cannot be read (${{ reason }}).`,
    msg`Get the file again, or open it in the program that made it and save it again.`,
    { cause },
  );
}

/** `tried`: a password was given, and was not the right one. */
export function locked(name: string, tried: boolean): ConcertinaError {
  return tried
    ? new ConcertinaError(
        'document-locked',
        msg`This password does not open ${{ name }}.`,
        msg`Check upper and lower case and the keyboard layout, then try again.`,
      )
    : new ConcertinaError(
        'document-locked',
        msg`${{ name }} is protected by a password.`,
        msg`Type the password in the window, or save a copy without it in another program and attach that.`,
      );
}

export function withoutText(name: string, pages: number): ConcertinaError {
  return new ConcertinaError(
    'document-unsupported',
    pages === 1
      ? msg`${{ name }} cannot be used: its one page holds no text, and OCR found none in its picture.`
      : msg`${{ name }} cannot be used: none of its ${{ pages }} pages holds text, and OCR found none in their pictures.`,
    msg`Attach a sharper scan with upright pages, or a file with text.`,
  );
}

/** Of pictures that a document shows beside its text. */
export function pictureNotice(pictures: number): string[] {
  if (pictures === 0) return [];
  const what = pictures === 1 ? 'One picture was' : `${pictures} pictures were`;
  return [`${what} left out. Text in a picture is read when the picture itself is attached.`];
}

export function empty(name: string): ConcertinaError {
  return new ConcertinaError('document-unsupported', msg`${{ name }} holds no text.`, msg`Choose another file.`);
}

const mostRanges = 8;

/** "Page 3", "Pages 3 to 7", "Pages 1, 3 to 7 and 9" */
export function pagesNamed(pages: number[]): string {
  const ranges: [number, number][] = [];
  for (const page of pages) {
    const last = ranges.at(-1);
    if (last && last[1] === page - 1) last[1] = page;
    else ranges.push([page, page]);
  }
  const named = ranges.slice(0, mostRanges).map(([first, last]) => nameOf(first, last));
  if (ranges.length > mostRanges) named.push(`${ranges.length - mostRanges} more`);
  const list = named.length > 1 ? `${named.slice(0, -1).join(', ')} and ${named.at(-1)}` : named.join('');
  return `${pages.length === 1 ? 'Page' : 'Pages'} ${list}`;
}

function nameOf(first: number, last: number): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first}, ${last}` : `${first} to ${last}`;
}

// The shape of every extractor: one file in, its text into the sink, and what is known about its parts.

export interface Source {
  path: string;
  /** for sentences about the file */
  name: string;
  folders: ReadingFolders;
  /** null: none was given */
  password: string | null;
}

/** fraction: 0 to 1 */
export type OnProgress = (fraction: number, pages?: PagesRead) => void;

type Extracted = Pick<Extraction, 'pages' | 'sections' | 'notices'>;

/** Rejects with a `ConcertinaError` that says what to do. */
export type Extractor = (source: Source, sink: TextSink, onProgress: OnProgress) => Promise<Extracted>;
