// Which words of LibreOffice's own text export of thirty office documents are missing in what the app reads of them: documents and
// templates that LibreOffice brings, documents of mammoth's tests, tables of Debian and slides made of this tree's docs, most of
// them turned into other formats by LibreOffice first. Slides are exported as PDF (pdftotext reads it), sheets as CSV, the others as text. A word counts as often as
// it stands in the export. Fails when a word is missing that EXCEPTIONS does not name.
// CLI: node test/bench/formats.mjs     (npm run bench:formats; needs LibreOffice's Writer, Calc, Impress and poppler-utils)

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundleForNode } from '../../electron/build.mjs';
import { BUILD, ROOT } from '../../native/prepare/paths.mjs';
import { cli, must, PrepareError } from '../../native/prepare/process.mjs';

const FOLDER = path.join(BUILD, 'formats');
const OFFICE = '/usr/lib/libreoffice';
const template = (name) => `${OFFICE}/share/template/common/${name}`;
const mammoth = (name) => path.join(ROOT, 'node_modules/mammoth/test/test-data', name);
const csvIn = (separator) => `--infilter=CSV:${separator},34,76,1`;

/** `to`: what LibreOffice makes of it first; '': as it is. `from`: how it opens the file */
const SOURCES = [
  ...['text-box', 'simple-list', 'footnotes', 'endnotes', 'tables', 'footnote-hyperlink', 'strict-format'].map(
    (name) => ({
      ...{ file: mammoth(`${name}.docx`), to: [''] },
    }),
  ),
  { file: template('officorr/Modern_business_letter_serif.ott'), to: ['', 'docx', 'rtf'] },
  { file: template('wizard/agenda/3modern.ott'), to: ['', 'docx'] },
  { file: template('wizard/fax/bus-modern_f.ott'), to: [''] },
  { file: template('wizard/report/cnt-03.ott'), to: [''] },
  { file: `${OFFICE}/LICENSE.html`, to: ['odt', 'docx', 'rtf'], from: '--infilter=HTML (StarWriter)' },
  {
    file: '/usr/share/doc/libreoffice-common/access2base.html',
    ...{ to: ['odt', 'docx', 'rtf'], from: '--infilter=HTML (StarWriter)' },
  },
  ...['documents', 'library', 'api'].map((name) => ({ slidesOf: name, to: ['odp', 'pptx'] })),
  { file: '/usr/share/zoneinfo/zone1970.tab', to: ['xlsx', 'ods'], from: csvIn(9) },
  { file: '/usr/share/distro-info/debian.csv', to: ['xlsx', 'ods'], from: csvIn(44) },
];
const KINDS = { ott: 'odt', otp: 'odp' };
const EXPORTS = { odp: 'pdf', pptx: 'pdf', xlsx: 'csv', ods: 'csv' };
/** every sheet, as it is shown, in UTF-8 */
const CSV = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1';
const FILTERS = { pdf: 'pdf', csv: CSV, txt: 'txt:Text (encoded):UTF8' };

/** Words that may be missing, by the names of files. */
const EXCEPTIONS = [
  {
    in: /^LICENSE\./,
    words: /^(?:[a-zA-Z]|[ivx]+)$/,
    why: 'labels of lists: items with letters or Roman numerals are numbered 1, 2, 3 in what the app reads',
  },
  {
    in: /^(?:foot|end)notes\./,
    words: /^(?:Ouch1|Ouchi|ii)$/,
    why: 'numbers of notes, which LibreOffice glues to the word before: in what the app reads the note stands there itself',
  },
  {
    in: /\.ott$/,
    words: new RegExp(`^(?:${new Date().toLocaleDateString('en-US', { dateStyle: 'long' }).replace(/\W+/g, '|')})$`),
    why: 'the date of today, which LibreOffice puts into a template; the file holds another one, or none',
  },
  {
    in: /^Modern_business_letter_serif\.rtf$/,
    words: /^(?:Sender|s|name|Company|Name|address|street|postal|codeaddress|city|state|TitleRecipient)$/,
    why: 'placeholders to click on (MACROBUTTON), which are instructions of a field in RTF, and no text',
  },
];

const xml = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** A presentation (flat OpenDocument): each heading of a document of docs/ is a slide, with the lists and first words below it. */
function writeSlides(name) {
  const parts = fs
    .readFileSync(path.join(ROOT, 'docs', `${name}.md`), 'utf8')
    .split(/^#+ /m)
    .slice(1);
  const box = (at, lines) =>
    `<draw:frame svg:x="2cm" svg:y="${at}cm" svg:width="24cm" svg:height="3cm"><draw:text-box>` +
    `${lines.map((line) => `<text:p>${xml(line)}</text:p>`).join('')}</draw:text-box></draw:frame>`;
  const slides = parts.map((part, index) => {
    const [title = '', ...lines] = part.split('\n').filter((line) => line.trim() !== '');
    const shown = lines.slice(0, 8).map((line) => line.slice(0, 120));
    return `<draw:page draw:name="s${index}" draw:master-page-name="m">${box(1, [title])}${box(4, shown)}</draw:page>`;
  });
  const namespaces = ['office', 'style', 'text', 'drawing:draw', 'svg-compatible:svg', 'xsl-fo-compatible:fo']
    .map((one) => one.split(':'))
    .map(([space, prefix = space]) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${space}:1.0"`)
    .join(' ');
  const file = path.join(FOLDER, `${name}.fodp`);
  const styles =
    '<office:automatic-styles><style:page-layout style:name="p"><style:page-layout-properties fo:page-width="28cm" ' +
    'fo:page-height="21cm"/></style:page-layout></office:automatic-styles><office:master-styles>' +
    '<style:master-page style:name="m" style:page-layout-name="p"/></office:master-styles>';
  const type = 'office:version="1.2" office:mimetype="application/vnd.oasis.opendocument.presentation"';
  const body = `<office:body><office:presentation>${slides.join('')}</office:presentation></office:body>`;
  fs.writeFileSync(
    file,
    `<?xml version="1.0"?><office:document ${namespaces} ${type}>${styles}${body}</office:document>`,
  );
  return file;
}

async function convert(file, to, outDir, from) {
  fs.mkdirSync(outDir, { recursive: true });
  const profile = `-env:UserInstallation=file://${FOLDER}/profile`;
  const options = [profile, '--headless', ...(from ? [from] : []), '--convert-to', to, '--outdir', outDir, file];
  await must('LibreOffice', 'soffice', options);
}

/** @returns {Promise<{file: string, kind: string}[]>} all thirty */
async function documents() {
  const made = [];
  for (const { slidesOf, to, from, file = writeSlides(slidesOf) } of SOURCES) {
    if (!fs.existsSync(file)) throw new PrepareError(`${file} is missing. Install libreoffice and distro-info-data.`);
    const { name, ext } = path.parse(file);
    for (const format of to) {
      const target = path.join(FOLDER, 'documents', `${name}${format ? `.${format}` : ext}`);
      if (format) await convert(file, format, path.dirname(target), from);
      else fs.copyFileSync(file, target);
      const extension = path.extname(target).slice(1);
      made.push({ file: target, kind: KINDS[extension] ?? extension });
    }
  }
  return made;
}

/** What LibreOffice says that stands in the document. */
async function exported(file, kind) {
  const outDir = path.join(FOLDER, 'exports', path.basename(file));
  fs.rmSync(outDir, { recursive: true, force: true });
  const how = EXPORTS[kind] ?? 'txt';
  await convert(file, FILTERS[how], outDir);
  const files = fs.readdirSync(outDir).map((name) => path.join(outDir, name));
  if (how !== 'pdf') return files.map((one) => fs.readFileSync(one, 'utf8')).join('\n');
  // as it stands there: without `-layout` a word that is broken at its own hyphen is joined
  return must('poppler', 'pdftotext', ['-layout', '-enc', 'UTF-8', files[0], '-']);
}

async function openReader() {
  await bundleForNode('extract', 'electron/workers/documents/extract.ts', FOLDER);
  const { extractDocument } = createRequire(import.meta.url)(path.join(FOLDER, 'extract.cjs'));
  const files = { cMaps: '', pdfium: '', ocr: '', languages: '' };
  return async (file, kind) => {
    const textPath = path.join(FOLDER, 'text.txt');
    fs.rmSync(textPath, { force: true });
    const task = { path: file, name: path.basename(file), kind, textPath, files, password: null };
    await extractDocument(task, () => {});
    return fs.readFileSync(textPath, 'utf8');
  };
}

function words(text) {
  return (
    text
      .normalize('NFKC')
      .replace(/\u00ad/g, '')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

function missingOf(theirs, ours) {
  const left = new Map();
  for (const word of ours) left.set(word, (left.get(word) ?? 0) + 1);
  return theirs.filter((word) => {
    const count = left.get(word) ?? 0;
    left.set(word, count - 1);
    return count <= 0;
  });
}

async function main() {
  fs.mkdirSync(path.join(FOLDER, 'documents'), { recursive: true });
  const [read, all] = [await openReader(), await documents()];
  console.log(`${await must('LibreOffice', 'soffice', ['--version'])}${all.length} documents`);
  console.log(`${'document'.padEnd(40)}${'its words'.padStart(10)}${'missing'.padStart(9)}`);
  let [unexplained, total, absent] = [0, 0, 0];
  for (const { file, kind } of all) {
    const name = path.basename(file);
    const theirs = words(await exported(file, kind));
    const missing = missingOf(theirs, words(await read(file, kind)));
    const exception = EXCEPTIONS.find((one) => one.in.test(name));
    const unknown = missing.filter((word) => !exception?.words.test(word));
    unexplained += unknown.length;
    const line = `${name.padEnd(40)}${String(theirs.length).padStart(10)}${String(missing.length).padStart(9)}`;
    if (missing.length === 0) console.log(line);
    else if (unknown.length === 0) console.log(`${line}   ${exception.why}`);
    else console.log(`${line}   ${unknown.slice(0, 20).join(' ')}${unknown.length > 20 ? ' ...' : ''}`);
    total += theirs.length;
    absent += missing.length;
  }
  console.log(`${'all'.padEnd(40)}${String(total).padStart(10)}${String(absent).padStart(9)}`);
  if (unexplained > 0) throw new PrepareError(`${unexplained} words are missing without a reason.`);
}

await cli(import.meta.url, main);
