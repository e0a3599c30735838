/** What of a document went with a question, when it was not the whole of it. */
import { useEffect, useState } from 'react';
import type { Attachment, AttachmentPart } from '../../../electron/contract/attachments';
import type { Section } from '../../../electron/contract/documents';
import { sectionsIn } from '../../state/documents/inContext';
import { selectSections } from '../../state/documents/selectors';
import type { Place } from '../../state/documents/state';
import { useActions, useApp } from '../../state/useApp';

/** characters of a passage that are shown of it */
const firstWords = 160;

interface Used {
  label: string;
  place: Place;
  /** characters of the text to show; null: the label says enough */
  start: number | null;
}

/** Each leads to its place in the document. */
export function UsedParts({ attachment: { documentId, part } }: { attachment: Attachment }) {
  const sections = useApp(selectSections(documentId));
  const { documents } = useActions();
  useEffect(() => void documents.load(documentId), [documents, documentId]);
  const used = usedOf(part, sections ?? []);

  return (
    <ol className="text-sm" data-testid="used-parts">
      {used.map(({ label, place, start }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a sent question never changes
        <li key={i}>
          <button
            type="button"
            onClick={() => documents.openAt(documentId, place)}
            className="w-full rounded-md px-2 py-1 text-start text-ink hover:bg-hover"
          >
            <span dir="auto" className="block truncate">
              {label}
            </span>
            {start !== null && <FirstWords documentId={documentId} start={start} />}
          </button>
        </li>
      ))}
      {used.length === 0 && <li className="px-2 py-1 text-ink-2">No relevant passages found.</li>}
    </ol>
  );
}

/** Of a passage: several may stand on one page. */
function FirstWords({ documentId, start }: { documentId: string; start: number }) {
  const { documents } = useActions();
  const [words, setWords] = useState('');
  useEffect(() => {
    let dropped = false;
    documents.readText(documentId, start, start + firstWords).then(
      (text) => dropped || setWords(text.trim()),
      () => undefined, // the panel says that the text is not there any more
    );
    return () => {
      dropped = true;
    };
  }, [documents, documentId, start]);
  return (
    <span dir="auto" className="line-clamp-2 min-h-4 text-xs break-words text-ink-3">
      {words}
    </span>
  );
}

/** @param sections empty: not known yet */
export function usedOf(part: AttachmentPart, sections: readonly Section[]): Used[] {
  if (part.kind === 'whole') return [];
  if (part.kind === 'sections') {
    return part.sections.map((section) => ({
      label: sections[section]?.label ?? '…',
      place: { section },
      start: null,
    }));
  }
  return part.passages.map((passage) => {
    const last = [...sectionsIn([{ kind: 'passages', passages: [passage] }], sections)].at(-1);
    const end = last === undefined ? passage.label : (sections[last]?.label ?? passage.label);
    return {
      label: end === passage.label ? end : `${passage.label} to ${end}`,
      place: { offset: passage.start, end: passage.end },
      start: passage.start,
    };
  });
}
