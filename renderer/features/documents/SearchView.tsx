import { LoaderCircle } from 'lucide-react';
import { useEffect, useState } from 'react';
import { hitOf } from '../../state/documents/hits';
import { selectSections } from '../../state/documents/selectors';
import type { FoundPassage } from '../../state/documents/state';
import { useActions, useApp } from '../../state/useApp';
import { Marked } from '../../ui/Marked';
import { useDebounced } from '../../ui/useDebounced';

const restMs = 200;

interface SearchViewProps {
  documentId: string;
  query: string;
}

/** The passages that fit the words best: those that a question would be given. Each leads to its place. */
export function SearchView({ documentId, query }: SearchViewProps) {
  const { documents } = useActions();
  const rested = useDebounced(query.trim(), restMs);
  const [found, setFound] = useState<{ query: string; passages: readonly FoundPassage[] | null } | null>(null);

  useEffect(() => {
    if (rested === '') return;
    let dropped = false;
    void documents.search(documentId, rested).then((passages) => {
      if (!dropped) setFound({ query: rested, passages });
    });
    return () => {
      dropped = true;
    };
  }, [documentId, rested, documents]);

  const sections = useApp(selectSections(documentId));
  const passages = found?.passages?.map((passage) => ({ passage, hit: hitOf(passage, found.query, sections) })) ?? [];
  const searching = found?.query !== query.trim();
  return (
    <section className="min-h-0 flex-1 overflow-y-auto px-3 py-2" aria-label="What was found" aria-busy={searching}>
      <p role="status" className="flex items-center gap-2 px-2 py-1 text-xs text-ink-3">
        {searching && <LoaderCircle className="size-3.5 animate-spin" aria-hidden="true" />}
        {searching ? 'Searching' : resultText(found?.passages ?? null)}
      </p>
      <ol>
        {passages.map(({ passage, hit }) => (
          <li key={passage.start}>
            <button
              type="button"
              data-testid="document-hit"
              onClick={() => documents.openAt(documentId, { offset: passage.start + hit.at })}
              className="w-full rounded-md px-2 py-1.5 text-left hover:bg-hover"
            >
              <span className="block text-xs font-semibold text-ink-2">{hit.label}</span>
              <span className="text-sm break-words text-ink">
                <Marked text={hit.text} marks={hit.marks} />
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function resultText(passages: readonly FoundPassage[] | null): string {
  if (!passages) return 'The document could not be searched. Try again.';
  if (passages.length === 0) return 'Nothing found. Try other words.';
  return passages.length === 1 ? '1 passage, the best' : `${passages.length} passages, the best first`;
}
