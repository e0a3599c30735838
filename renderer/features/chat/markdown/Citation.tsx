/** Words of an answer that lead to a page or a sentence of its documents; where there is none, only the words. */
import { createContext, type ReactNode, use, useEffect } from 'react';
import { selectCitedSections, selectQuotes } from '../../../state/citations/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Menu, MenuItem } from '../../../ui/Menu';
import { AnswerSources } from './answerSources';
import { type CitationTarget, targetsOf } from './citations';
import { readHref } from './citePlugin';

/** True inside a citation that leads somewhere: other links in it are words. */
export const InCitation = createContext(false);

export function Citation({ href, children }: { href: string; children: ReactNode }) {
  const { messageId, documents } = use(AnswerSources);
  const sections = useApp(selectCitedSections);
  const quotes = useApp(selectQuotes(messageId));
  const { citations, documents: actions } = useActions();
  const read = readHref(href);
  const quote = read?.cites.kind === 'quote' ? read.cites.words : null;
  useEffect(() => {
    if (quote !== null) citations.seek(messageId, documents, quote);
  }, [citations, messageId, documents, quote]);
  const all = read ? targetsOf(read.cites, documents, sections, quotes) : [];
  const named = documents[read?.named ?? -1];
  const targets = all.filter(({ documentId }) => documentId === named?.documentId);
  const meant = targets.length > 0 ? targets : all;
  const open = ({ documentId, place }: CitationTarget) => actions.openAt(documentId, place);

  const [first] = meant;
  if (!first) return <>{children}</>;
  const words = <InCitation value={true}>{children}</InCitation>;
  if (meant.length === 1) {
    return (
      <button type="button" className="cite" title={titleOf(first)} data-testid="citation" onClick={() => open(first)}>
        {words}
      </button>
    );
  }
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="cite" title="In several documents" data-testid="citation">
          {words}
        </button>
      }
    >
      {meant.map((target) => (
        <MenuItem key={target.documentId} onSelect={() => open(target)}>
          {titleOf(target)}
        </MenuItem>
      ))}
    </Menu>
  );
}

function titleOf({ name, label }: CitationTarget): string {
  return label === '' ? name : `${name}, ${label}`;
}
