/** What a file is, by its first bytes and its name; what the app cannot read is refused with what to do instead. */

import type { DocumentKind } from '../../contract/documents';
import { ConcertinaError } from '../../contract/errors';

/** first bytes of a file that are enough for this */
export const headBytes = 1024;

const kinds: [DocumentKind, string][] = [
  ['pdf', 'pdf'],
  ['docx', 'docx docm dotx'],
  ['html', 'html htm xhtml'],
  ['markdown', 'md markdown mdx mkd'],
  ['csv', 'csv tsv tab'],
  [
    'code',
    'c h cc cpp cxx hpp hh m mm cs java kt kts scala groovy go rs swift dart js mjs cjs jsx ts mts cts tsx vue svelte py pyi ' +
      'rb php pl pm lua r jl hs ml mli fs fsx ex exs erl clj cljs lisp el scm sh bash zsh fish ps1 bat cmd sql css scss sass ' +
      'less json jsonl jsonc yaml yml toml ini cfg conf xml xsl svg gradle cmake mk proto graphql tf asm s metal cu glsl wgsl ' +
      'zig nim v vhd vhdl sv tex bib ipynb diff patch',
  ],
];
const byExtension = new Map(kinds.flatMap(([kind, list]) => list.split(' ').map((extension) => [extension, kind])));

const office: Record<string, [what: string, instead: string]> = {
  xlsx: ['an Excel table', 'Save it as CSV and attach that.'],
  xls: ['an Excel table', 'Save it as CSV and attach that.'],
  ods: ['a spreadsheet', 'Save it as CSV and attach that.'],
  pptx: ['a presentation', 'Save it as PDF and attach that.'],
  ppt: ['a presentation', 'Save it as PDF and attach that.'],
  odp: ['a presentation', 'Save it as PDF and attach that.'],
  doc: ['a document of an old Word', 'Save it as .docx or PDF and attach that.'],
  odt: ['an OpenDocument text', 'Save it as .docx or PDF and attach that.'],
  rtf: ['a document in RTF', 'Save it as .docx or PDF and attach that.'],
  pages: ['a document of Pages', 'Save it as .docx or PDF and attach that.'],
  epub: ['an e-book', 'Convert it to PDF or HTML and attach that.'],
};

/** Throws `document-unsupported`. Other binary files than those known here are found out while they are read. */
export function kindOfDocument(name: string, head: Buffer): DocumentKind {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const text = head.toString('latin1');
  if (text.includes('%PDF-')) return 'pdf';
  if (isPicture(text)) throw refusal(name, 'a picture', 'Concertina cannot read pictures. Attach a file with text.');
  const known = byExtension.get(extension);
  if (text.startsWith('PK\x03\x04') && known !== 'docx') {
    if (/word\//.test(text)) return 'docx';
    throw refusal(name, ...(office[extension] ?? ['an archive', 'Unpack it and attach the files in it.']));
  }
  const isRtf = text.startsWith('{\\rtf');
  const [what, instead] = office[isRtf ? 'rtf' : extension] ?? [];
  if (what && instead) throw refusal(name, what, instead);
  return known ?? 'text';
}

function isPicture(head: string): boolean {
  return /^(?:\x89PNG|\xff\xd8\xff|GIF8[79]a|BM.{4}\0\0\0\0|II\*\0|MM\0\*|RIFF.{4}WEBP)/s.test(head);
}

function refusal(name: string, what: string, instead: string): ConcertinaError {
  return new ConcertinaError('document-unsupported', `${name} is ${what}, which cannot be attached.`, instead);
}
