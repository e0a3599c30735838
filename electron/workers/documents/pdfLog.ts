/**
 * What pdf.js tells in its log and nowhere else: that the tree of pages breaks off, and how many pages it should have. It
 * then goes on with those that it finds. Nothing else of the log is of use to anyone, so it goes no further.
 */
const brokenTree = /invalid \/Pages tree \/Count: (\d+)/;

export class PdfLog {
  private readonly original = console.log;
  private declared = 0;

  constructor() {
    console.log = (text: unknown) => {
      this.declared ||= Number(brokenTree.exec(String(text))?.[1] ?? 0);
    };
  }

  /** Pages that the file names beyond those that were found. */
  missing(found: number): number {
    return Math.max(0, this.declared - found);
  }

  close(): void {
    console.log = this.original;
  }
}
