/**
 * Office documents but those of Word, and e-books: officeparser reads them into one kind of tree, of which slides and stretches of
 * sheets become sections here; the rest is read as a web page is. Excel files have a reader that knows dates.
 */

import { readFileSync } from 'node:fs';
import { type OfficeContentNode, type OfficeIssue, OfficeParser, type OfficeParserAST } from 'officeparser';
import readXlsxFile, { type CellValue, type SheetData } from 'read-excel-file/universal';
import { ConcertinaError, shownText } from '../../contract/errors';
import { limits } from '../../contract/limits';
import { escaped, HtmlText } from './htmlText';
import { damaged, type Extractor, locked, pictureNotice, SectionList, type TextSink } from './textSink';
import { openPackage, tooLarge } from './zipPackage';

export type OfficeType = 'odt' | 'rtf' | 'epub' | 'pptx' | 'odp' | 'xlsx' | 'ods';

/** rows of a sheet in one section */
const rowsOfSection = 200;
const zipFile = Buffer.from('PK\x03\x04', 'latin1');

export function officeExtractor(type: OfficeType): Extractor {
  return async ({ path, name, password }, sink, onProgress) => {
    const bytes = readFileSync(path);
    if (isPackage(bytes)) (await openPackage(bytes, name)).refuseBombs();
    onProgress(0.05);
    const tree = await parse(bytes, type, password).catch((error: unknown) => {
      throw inWords(error, name, password !== null);
    });
    onProgress(0.8);
    const pictures = count(tree.content, 'image');
    const text = write(tree, sink);
    return {
      pages: null,
      sections: text.sections,
      notices: [...pictureNotice(pictures), ...lossesOf(tree), ...text.notices],
    };
  };
}

function isPackage(bytes: Buffer): boolean {
  return bytes.subarray(0, zipFile.length).equals(zipFile);
}

function parse(bytes: Buffer, type: OfficeType, password: string | null): Promise<OfficeParserAST> {
  return OfficeParser.parseOffice(bytes, {
    fileType: type,
    ...(password !== null && { password }),
    // as a Word document is read: what stands on every page, or was said about the text, is not the text
    ignoreHeadersAndFooters: true,
    ignoreComments: true,
    ignoreSlideMasters: true,
    extractAttachments: false,
    includeBreakNodes: true,
    // the process watches what all of it costs
    decompressionLimits: { maxUncompressedBytes: limits.maxUnpackedBytes, maxXmlElements: 20_000_000 },
  });
}

function inWords(error: unknown, name: string, tried: boolean): ConcertinaError {
  if (error instanceof ConcertinaError) return error;
  const { officeIssue: issue } = error as { officeIssue?: OfficeIssue };
  switch (issue?.code) {
    case 'PASSWORD_REQUIRED':
    case 'PASSWORD_INCORRECT':
      return locked(name, tried);
    case 'ZIP_SIZE_LIMIT_EXCEEDED':
    case 'XML_ELEMENT_LIMIT_EXCEEDED':
      return tooLarge(name, limits.maxUnpackedBytes + 1);
    default:
      return damaged(name, shownText(issue?.message.replace(/^\[OfficeParser\]: /, '') ?? String(error)));
  }
}

/** What of the document is not in the tree. */
function lossesOf({ warnings = [] }: OfficeParserAST): string[] {
  const lost = warnings.filter(({ code }) => /_NOT_READ$|^TABLE_CELL_LIMIT|^REPEATED_CONTENT_LIMIT/.test(String(code)));
  if (lost.length === 0) return [];
  const parts = lost.length === 1 ? 'One part' : `${lost.length} parts`;
  return [`${parts} of the document could not be read, so something is missing from its text.`];
}

function write({ content }: OfficeParserAST, sink: TextSink) {
  const sections = new SectionList();
  const first = content[0]?.type;
  if (first === 'sheet') for (const sheet of content) writeSheet(sheetName(sheet), rowsOfNode(sheet), sink, sections);
  else if (first === 'slide') for (const slide of content) writeSlide(slide, sink, sections);
  else {
    const text = new HtmlText(sink);
    text.feed(htmlOf(content));
    return { sections: text.end(), notices: text.notices() };
  }
  return { sections: sections.finish(sink.length), notices: sections.notices() };
}

function writeSlide(slide: OfficeContentNode, sink: TextSink, sections: SectionList): void {
  if (slide.type !== 'slide') return;
  if (sink.length > 0) sink.append('\n\n');
  sections.begin('heading', `Slide ${slide.metadata?.slideNumber}`, 1, sink.length);
  const text = new HtmlText(sink);
  text.feed(htmlOf(slide.children ?? []));
  for (const note of slide.notes ?? []) text.feed(`<p>Speaker notes:</p>${htmlOf(note.children ?? [])}`);
  text.end();
}

// Sheets. Each row stands on a line, each cell with its address: "A7: Harbor | C7: 1,200". Empty ones are left out.

/** Rows and columns count from 0. */
interface SheetRow {
  row: number;
  cells: { col: number; words: string }[];
}

function writeSheet(name: string, rows: Iterable<SheetRow>, sink: TextSink, sections: SectionList): void {
  let next = 0;
  for (const { row, cells } of rows) {
    const shown = cells.flatMap(({ col, words }) => {
      const line = words.replace(/\s+/g, ' ').trim();
      return line === '' ? [] : `${columnName(col)}${row + 1}: ${line}`;
    });
    if (shown.length === 0) continue;
    if (row >= next) {
      if (sink.length > 0) sink.append('\n');
      const start = row - (row % rowsOfSection);
      const part = start === 0 ? '' : `, rows ${start + 1}-${start + rowsOfSection}`;
      sections.begin('heading', `Sheet ${name}${part}`, start === 0 ? 1 : 2, sink.length);
      next = start + rowsOfSection;
    }
    sink.append(`${shown.join(' | ')}\n`);
  }
}

/** 0: "A", 25: "Z", 26: "AA" */
function columnName(index: number): string {
  const rest = index >= 26 ? columnName(Math.floor(index / 26) - 1) : '';
  return rest + String.fromCharCode(65 + (index % 26));
}

function sheetName(sheet: OfficeContentNode): string {
  return sheet.type === 'sheet' ? (sheet.metadata?.sheetName ?? '') : '';
}

function rowsOfNode(sheet: OfficeContentNode): SheetRow[] {
  return (sheet.children ?? []).map((row) => {
    const cells = (row.children ?? []).filter((cell) => cell.type === 'cell');
    const placed = cells.map((cell) => ({ col: cell.metadata?.col ?? 0, words: wordsOf(cell) }));
    return { row: cells[0]?.metadata?.row ?? 0, cells: placed };
  });
}

/** An Excel file keeps dates as numbers of days: only how a cell is formatted tells them apart, which read-excel-file knows. */
export const extractXlsx: Extractor = async (source, sink, onProgress) => {
  const bytes = readFileSync(source.path);
  if (!isPackage(bytes)) {
    // one with a password
    const extracted = await officeExtractor('xlsx')(source, sink, onProgress);
    return { ...extracted, notices: [...extracted.notices, 'Dates in this table are numbers of days since 1900.'] };
  }
  (await openPackage(bytes, source.name)).refuseBombs();
  onProgress(0.05);
  const { buffer, byteOffset, byteLength } = bytes;
  const sheets = await readXlsxFile(buffer.slice(byteOffset, byteOffset + byteLength)).catch((error: unknown) => {
    throw damaged(source.name, error);
  });
  onProgress(0.8);
  const sections = new SectionList();
  for (const { sheet, data } of sheets) writeSheet(sheet, rowsOfData(data), sink, sections);
  return { pages: null, sections: sections.finish(sink.length), notices: sections.notices() };
};

function* rowsOfData(data: SheetData): Generator<SheetRow> {
  for (const [row, values] of data.entries()) {
    const cells = values.flatMap((value, col) => (value === null ? [] : { col, words: valueText(value) }));
    yield { row, cells };
  }
}

/** Excel counts days from here, and a time without a day is a part of the first. */
const dayZero = '1899-12-30';

function valueText(value: NonNullable<CellValue>): string {
  if (typeof value === 'boolean') return value ? 'TRUE' : 'FALSE';
  if (!(value instanceof Date)) return String(value);
  const [day = '', time = ''] = value.toISOString().split('T');
  const clock = time.slice(0, 8);
  if (day === dayZero) return clock;
  return clock === '00:00:00' ? day : `${day} ${clock}`;
}

// The words of the tree.

function wordsOf(node: OfficeContentNode): string {
  return node.text ?? (node.children ?? []).map(wordsOf).join(node.type === 'paragraph' ? '' : ' ');
}

function count(nodes: readonly OfficeContentNode[], type: OfficeContentNode['type']): number {
  return nodes.reduce((sum, node) => sum + Number(node.type === type) + count(node.children ?? [], type), 0);
}

// The tree as plain HTML, in the tags that HtmlText lays out.

function htmlOf(nodes: readonly OfficeContentNode[]): string {
  let html = '';
  /** tags of the lists that are open */
  const lists: string[] = [];
  const closeTo = (depth: number) => {
    while (lists.length > depth) html += `</${lists.pop()}>`;
  };
  for (const node of nodes) {
    if (node.type === 'list') {
      const { indentation = 0, listType } = node.metadata ?? {};
      const depth = Math.min(20, Math.max(0, indentation)) + 1;
      closeTo(depth);
      while (lists.length < depth) {
        lists.push(listType === 'ordered' ? 'ol' : 'ul');
        html += `<${lists.at(-1)}>`;
      }
      html += `<li>${insideOf(node)}</li>`;
    } else {
      closeTo(0);
      html += tagged(node);
    }
    html += notesOf(node);
  }
  closeTo(0);
  return html;
}

function tagged(node: OfficeContentNode): string {
  switch (node.type) {
    case 'text':
      return escaped(node.text ?? '');
    case 'image':
      // counted
      return '';
    case 'drawing':
      return insideOf(node);
    case 'break':
      return '<br>';
    case 'heading': {
      const level = Math.min(6, Math.max(1, node.metadata?.level ?? 1));
      return `<h${level}>${insideOf(node)}</h${level}>`;
    }
    case 'table':
      return `<table>${insideOf(node)}</table>`;
    case 'row':
      return `<tr>${insideOf(node)}</tr>`;
    case 'cell':
      return `<td>${insideOf(node)}</td>`;
    case 'code':
      return `<pre>${escaped(wordsOf(node))}</pre>`;
    default:
      return `<p>${insideOf(node)}</p>`;
  }
}

/** Words of their own where a node has no children. */
function insideOf({ children, text }: OfficeContentNode): string {
  return children && children.length > 0 ? htmlOf(children) : escaped(text ?? '');
}

/** Footnotes stand behind what they are about. */
function notesOf({ type, notes = [] }: OfficeContentNode): string {
  if (type === 'slide') return '';
  return notes.map((note) => ` [Note: ${escaped(wordsOf(note).trim())}]`).join('');
}
