/** The text file that the reading of a document writes: UTF-8 on disk, offsets in UTF-16 units, marks that join the two. */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import type { Extraction, TextMark } from '../../contract/documentWork';

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
