import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { LoaderCircle } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { WordsAlone } from '../../../electron/contract/lib/attachments';
import type { Found, FoundPassage } from '../../state/appState';
import { hitOf } from '../../state/lib/partText';
import { reasonText, wordsAloneText } from '../../state/lib/reasons';
import { sectionLabel } from '../../state/lib/sectionLabel';
import { selectSearched, selectSearchModel, selectSections } from '../../state/slices/documents';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
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

  // once the search model has read the document, it finds more
  const isRead = useApp(selectSearchModel)?.reading?.documentId !== documentId;
  // biome-ignore lint/correctness/useExhaustiveDependencies: see isRead
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
  }, [documentId, rested, documents, isRead]);

  const sections = useApp(selectSections(documentId));
  const searched = useApp(selectSearched);
  const passages =
    found?.answer?.passages.map((passage) => ({ passage, hit: hitOf(passage, found.query, sections) })) ?? [];
  const searching = found?.query !== query.trim();
  return (
    <section className="min-h-0 flex-1 overflow-y-auto px-3 py-2" aria-label={t`What was found`} aria-busy={searching}>
      <p role="status" className="flex items-center gap-2 px-2 py-1 text-xs text-ink-3">
        {searching && <LoaderCircle className="size-3.5 animate-spin" aria-hidden="true" />}
        {searching ? t`Searching` : resultText(found?.answer ?? null)}
      </p>
      {searching && searched !== null && (
        <div className="flex px-2 pb-2">
          <Progress label={t`Searching the document`} share={searched} />
        </div>
      )}
      <SearchModelNotice documentId={documentId} wordsAlone={found?.answer?.wordsAlone} />
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
                {sectionLabel(hit.label)}
              </span>
              <span dir="auto" className="block text-start text-sm break-words text-ink">
                <Marked text={hit.text} marks={hit.marks} />
              </span>
              <Reason passage={passage} />
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Reason({ passage }: { passage: FoundPassage }) {
  const reason = reasonText(passage);
  if (reason === null) return null;
  return (
    <span dir="auto" className="block text-xs text-ink-3" data-testid="hit-reason">
      {reason}
    </span>
  );
}

function resultText(found: Found | null): string {
  if (!found) return t`The document could not be searched. Try again.`;
  const { passages, all } = found;
  if (all === 0) return t`Nothing found. Try other words.`;
  const best = formatCount(passages.length);
  if (all > passages.length)
    return plural(all, { one: `The best ${best} of # passage`, other: `The best ${best} of # passages` });
  return plural(all, { one: '# passage', other: '# passages, the best first' });
}

// Above the passages: that words alone ranked though there is a search model, why, and how far that has read the document.

interface SearchModelNoticeProps {
  documentId: string;
  /** of the last search; undefined: it ranked by meaning too, or there is no search model */
  wordsAlone: WordsAlone | undefined;
}

function SearchModelNotice({ documentId, wordsAlone }: SearchModelNoticeProps) {
  const model = useApp(selectSearchModel);
  const { documents } = useActions();
  const reading = model?.reading?.documentId === documentId ? model.reading : null;
  if (!model?.modelId || (!wordsAlone && !reading)) return null;
  return (
    <div className="mx-2 mb-2 rounded-md bg-sunken px-2.5 py-2 text-xs text-ink-2" data-testid="words-alone">
      {reading ? (
        <>
          <p>
            <Trans>
              The search model reads this document: {formatCount(reading.done)} of {formatCount(reading.all)} passages.
              Until it has, words alone rank them.
            </Trans>
          </p>
          <div className="mt-1.5 flex items-center gap-2">
            <Progress
              label={t`Reading of the document by the search model`}
              share={reading.all > 0 ? reading.done / reading.all : null}
            />
            <Button size="small" tone="quiet" onClick={() => documents.cancelReading(documentId)}>
              <Trans>Cancel</Trans>
            </Button>
          </div>
        </>
      ) : (
        <>
          {wordsAlone && <p>{wordsAloneText(wordsAlone)}</p>}
          {wordsAlone === 'failed' && model.problem && <p className="mt-1 text-warn">{model.problem.message}</p>}
          {wordsAlone === 'canceled' && (
            <Button size="small" className="mt-1.5" onClick={() => documents.readForSearch(documentId)}>
              <Trans>Read it</Trans>
            </Button>
          )}
        </>
      )}
    </div>
  );
}
