import { selectBudget, selectBudgetStale } from '../../state/budget/selectors';
import { selectDraftDocuments } from '../../state/documents/selectors';
import { selectSettings } from '../../state/settings/selectors';
import { useApp } from '../../state/useApp';
import { DocumentCard } from './DocumentCard';

/** The documents of the question, in the order in which the model reads them. */
export function DocumentCards() {
  const documents = useApp(selectDraftDocuments);
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  const lookedUp = useApp(selectSettings)?.documents.retrievalTokens ?? 0;
  if (documents.length === 0) return null;
  const counts = budget?.byDocument.filter(({ inBranch }) => !inBranch) ?? [];
  const searched = documents.filter(({ part }) => part.kind === 'passages').length;
  const ready = documents.filter(({ info }) => info !== null);

  return (
    <ul
      className="grid max-h-[30vh] grid-cols-[repeat(auto-fill,minmax(min(15rem,100%),1fr))] items-start gap-2 overflow-y-auto px-3 pt-3"
      aria-label="Documents of this question"
      data-testid="draft-documents"
    >
      {documents.map((document) => {
        const count = counts[ready.indexOf(document)];
        const known = count?.documentId === document.info?.id;
        const twice = ready.find(({ info }) => info?.id === document.info?.id) !== document;
        return (
          <DocumentCard
            key={document.key}
            document={document}
            tokens={known && count ? count.tokens : null}
            most={document.part.kind === 'passages' ? Math.floor(lookedUp / searched) : null}
            stale={stale}
            twice={document.info !== null && twice}
          />
        );
      })}
    </ul>
  );
}
