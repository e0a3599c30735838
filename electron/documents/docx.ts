/** Word documents (.docx): mammoth reads them by their styles into plain HTML, which then is read as a web page is. */
import { readFileSync } from 'node:fs';
import mammoth from 'mammoth';
import { ConcertinaError } from '../shared/errors';
import type { Extractor } from './extractor';
import { damaged } from './failures';
import { HtmlText } from './htmlText';

/** from a footnote to its place in the text */
const backLink = /<a href="#(?:foot|end)note-ref-[^"]*">↑<\/a>/g;
const styleMap = ["p[style-name='Title'] => h1:fresh", "p[style-name='Subtitle'] => h2:fresh"];

export const extractDocx: Extractor = async ({ path, name }, sink, onProgress) => {
  const buffer = readFileSync(path);
  refuseOtherPackages(buffer, name);
  onProgress(0.05);
  let pictures = 0;
  // a picture is counted and not opened
  const convertImage = mammoth.images.imgElement(async () => {
    pictures += 1;
    return { src: '' };
  });
  const html = await mammoth
    .convertToHtml({ buffer }, { styleMap, convertImage, includeEmbeddedStyleMap: false })
    .then(({ value }) => value)
    .catch((error: unknown) => {
      throw damaged(name, error);
    });
  onProgress(0.8);
  const text = new HtmlText(sink);
  text.feed(html.replace(backLink, ''));
  return { pages: null, sections: text.end(), notices: pictureNotice(pictures) };
};

/** Word puts a document with a password, and its old format, into another kind of container (MS-CFB). */
function refuseOtherPackages(bytes: Buffer, name: string): void {
  if (!bytes.subarray(0, 8).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'))) return;
  throw new ConcertinaError(
    'document-unsupported',
    `${name} is protected by a password, or it is in the old format of Word (.doc).`,
    'Open it in Word or LibreOffice, save it as .docx without a password and attach that.',
  );
}

function pictureNotice(pictures: number): string[] {
  if (pictures === 0) return [];
  const what = pictures === 1 ? 'One picture was' : `${pictures} pictures were`;
  return [`${what} left out: Concertina cannot read pictures.`];
}
