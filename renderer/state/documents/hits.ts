/** What the search of a document shows of a passage. */
import type { Section } from '../../../electron/contract/documents';
import { fold, type Snippet, searchWords, snippetOf } from '../../../electron/contract/textSearch';
import type { FoundPassage } from './state';

export type Hit = Snippet & Pick<FoundPassage, 'label'>;

/**
 * The words around the longest of the query's that are there (the library finds by other forms of them too), and the page or
 * heading where they stand: a passage may begin pages before. `sections`: null while they are not known.
 */
export function hitOf(passage: FoundPassage, query: string, sections: readonly Section[] | null): Hit {
  const folded = fold(passage.text);
  const words = searchWords(query).filter((word) => folded.includes(word));
  const snippet = snippetOf(passage.text, folded, words);
  const place = passage.start + snippet.at;
  const section = sections?.find(({ start, end }) => start <= place && place < end);
  return { ...snippet, label: section?.label ?? passage.label };
}
