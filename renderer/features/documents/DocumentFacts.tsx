import { TriangleAlert } from 'lucide-react';
import { kindNames, plural, sectionsName } from '../../state/lib/partText';
import type { PanelDocument } from '../../state/lib/usePanelDocument';
import { formatCount } from '../../ui/format';

/** What the document is, and how large. */
export function DocumentFacts({ document: { info, tokens, sections } }: { document: PanelDocument }) {
  const word = sectionsName(info);
  const facts = [
    kindNames[info.kind],
    info.pages === null ? (sections.length > 1 ? plural(sections.length, word) : null) : plural(info.pages, 'page'),
    plural(info.characters, 'character'),
    tokens ? plural(tokens.tokens, 'token') : null,
  ];
  return (
    <p
      className="text-xs text-ink-2 tabular-nums"
      data-testid="document-facts"
      data-tokens={tokens?.tokens}
      title={tokens ? `Counted by the model’s own tokenizer: ${formatCount(tokens.tokens)}` : undefined}
    >
      {facts.filter(Boolean).join(' · ')}
    </p>
  );
}

/** What was left out of it, or may be wrong. */
export function DocumentNotices({ notices }: { notices: readonly string[] }) {
  if (notices.length === 0) return null;
  return (
    <ul className="grid max-h-24 gap-1 overflow-y-auto text-xs text-warn" aria-label="Notices">
      {notices.map((notice) => (
        <li key={notice} className="flex gap-1.5">
          <TriangleAlert className="mt-0.5 size-3.5 shrink-0" aria-hidden="true" />
          {notice}
        </li>
      ))}
    </ul>
  );
}
