/** Web pages that were saved as HTML. */
import type { Extractor } from './extractor';
import { openText } from './fileText';
import { HtmlText } from './htmlText';

export const extractHtml: Extractor = async ({ path, name }, sink, onProgress) => {
  const { pieces, notices } = openText(path, name, declaredEncoding);
  const page = new HtmlText(sink);
  for (const { text, fraction } of pieces) {
    page.feed(text);
    onProgress(fraction);
  }
  return { pages: null, sections: page.end(), notices: [...notices, ...page.notices()] };
};

/** `<meta charset="...">`, or the same in an http-equiv; the label is of the WHATWG Encoding standard. */
function declaredEncoding(head: string): string | undefined {
  return /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
}
