/** Word documents (.docx): mammoth reads them by their styles into plain HTML, which then is read as a web page is. */

import { readFileSync } from 'node:fs';
import { msg } from '@lingui/core/runtime-macro';
import mammoth from 'mammoth';
import { ConcertinaError } from '../../contract/errors';
import { HtmlText } from './htmlText';
import { damaged, type Extractor, pictureNotice } from './textSink';
import { openPackage } from './zipPackage';

/** from a footnote to its place in the text */
const backLink = /<a href="#(?:foot|end)note-ref-[^"]*">↑<\/a>/g;
type Options = Parameters<typeof mammoth.convertToHtml>[1];
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
  const html = await htmlOf(buffer, name, {
    ...{ styleMap, convertImage, includeEmbeddedStyleMap: false },
    // all parts are read then
    transformDocument(document) {
      onProgress(0.5);
      return document;
    },
  }).catch((error: unknown) => {
    throw error instanceof ConcertinaError ? error : damaged(name, error);
  });
  onProgress(0.8);
  const text = new HtmlText(sink);
  text.feed(html.replace(backLink, ''));
  return { pages: null, sections: text.end(), notices: [...pictureNotice(pictures), ...text.notices()] };
};

/** mammoth takes a package that is open already as `file`; its types do not say so. */
async function htmlOf(buffer: Buffer, name: string, options: Options): Promise<string> {
  const file = await openPackage(buffer, name);
  const { value } = await mammoth.convertToHtml(
    { file } as unknown as Parameters<typeof mammoth.convertToHtml>[0],
    options,
  );
  return value;
}

/** Word puts a document with a password, and its old format, into another kind of container (MS-CFB). */
function refuseOtherPackages(bytes: Buffer, name: string): void {
  if (!bytes.subarray(0, 8).equals(Buffer.from('d0cf11e0a1b11ae1', 'hex'))) return;
  throw new ConcertinaError(
    'document-unsupported',
    msg`${{ name }} is protected by a password, or it is in the old format of Word (.doc).`,
    msg`Open it in Word or LibreOffice, save it as .docx without a password and attach that.`,
  );
}
