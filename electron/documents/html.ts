/** Web pages that were saved as HTML. */
import type { Extractor } from './extractor';
import { openText } from './fileText';
import { HtmlText } from './htmlText';
import { SectionList } from './sections';

export const extractHtml: Extractor = async ({ path, name }, sink, onProgress) => {
  const { pieces, notices } = openText(path, name, declaredEncoding);
  const sections = new SectionList();
  const page = new HtmlText(sink, sections);
  for (const { text, fraction } of pieces) {
    page.feed(text);
    onProgress(fraction);
  }
  page.end();
  return { pages: null, sections: sections.finish(sink.length), notices };
};

/** `<meta charset="...">`, or the same in an http-equiv; the label is of the WHATWG Encoding standard. */
function declaredEncoding(head: string): string | undefined {
  return /<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i.exec(head)?.[1];
}
