import { LoaderCircle } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { Found } from '../../state/appState';
import { hitOf } from '../../state/lib/partText';
import { selectSearched, selectSections } from '../../state/slices/documents';
import { useActions, useApp } from '../../state/useApp';
import { formatCount } from '../../ui/format';
import { useDebounced } from '../../ui/hooks';
import { Marked } from '../../ui/Marked';
import { Progress } from '../../ui/Progress';

const restMs = 200;

interface SearchViewProps {
  documentId: string;
  query: string;
}

/** The passages that fit the words best: those that a question would be given. Each leads to its place. */
export function SearchView({ documentId, query }: SearchViewProps) {
  const { documents } = useActions();
  const rested = useDebounced(query.trim(), restMs);
  const [found, setFound] = useState<{ query: string; answer: Found | null } | null>(null);

  useEffect(() => {
    if (rested === '') return;
    let waiting = true;
    void documents.search(documentId, rested).then((answer) => {
      if (waiting) setFound({ query: rested, answer });
      waiting = false;
    });
    return () => {
      if (waiting) documents.endSearch();
      waiting = false;
    };
  }, [documentId, rested, documents]);

  const sections = useApp(selectSections(documentId));
  const searched = useApp(selectSearched);
  const passages =
    found?.answer?.passages.map((passage) => ({ passage, hit: hitOf(passage, found.query, sections) })) ?? [];
  const searching = found?.query !== query.trim();
  return (
    <section className="min-h-0 flex-1 overflow-y-auto px-3 py-2" aria-label="What was found" aria-busy={searching}>
      <p role="status" className="flex items-center gap-2 px-2 py-1 text-xs text-ink-3">
        {searching && <LoaderCircle className="size-3.5 animate-spin" aria-hidden="true" />}
        {searching ? 'Searching' : resultText(found?.answer ?? null)}
      </p>
      {searching && searched !== null && (
        <div className="flex px-2 pb-2">
          <Progress label="Searching the document" share={searched} />
        </div>
      )}
      <ol>
        {passages.map(({ passage, hit }) => (
          <li key={passage.start}>
            <button
              type="button"
              data-testid="document-hit"
              onClick={() => documents.openAt(documentId, { offset: passage.start + hit.at })}
              className="w-full rounded-md px-2 py-1.5 text-start hover:bg-hover"
            >
              <span dir="auto" className="block text-xs font-semibold text-ink-2">
                {hit.label}
              </span>
              <span dir="auto" className="block text-start text-sm break-words text-ink">
                <Marked text={hit.text} marks={hit.marks} />
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function resultText(found: Found | null): string {
  if (!found) return 'The document could not be searched. Try again.';
  const { passages, all } = found;
  if (all === 0) return 'Nothing found. Try other words.';
  if (all > passages.length) return `The best ${passages.length} of ${formatCount(all)} passages`;
  return all === 1 ? '1 passage' : `${all} passages, the best first`;
}
