/** Plain text, source code and CSV: the text as it is, in stretches of lines or rows. */
import type { Extractor } from './extractor';
import { openText } from './fileText';
import { LineSections } from './sections';

export const extractLines: Extractor = (source, sink, onProgress) =>
  copy(source, sink, onProgress, new LineSections('Lines'));

export const extractCsv: Extractor = (source, sink, onProgress) =>
  copy(source, sink, onProgress, new LineSections('Rows'));

async function copy(
  { path, name }: Parameters<Extractor>[0],
  sink: Parameters<Extractor>[1],
  onProgress: Parameters<Extractor>[2],
  sections: LineSections,
): ReturnType<Extractor> {
  const { pieces, notices } = openText(path, name);
  for (const { text, fraction } of pieces) {
    sections.feed(text);
    sink.append(text);
    onProgress(fraction);
  }
  return { pages: null, sections: sections.finish(), notices };
}
