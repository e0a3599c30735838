import { t } from '@lingui/core/macro';
import { useEffect, useState } from 'react';
import type { Section } from '../../../electron/contract/documents';
import { flowed, overlap, shownText, type TextBlock } from '../../state/lib/blocks';
import { sectionLabel } from '../../state/lib/sectionLabel';
import { useActions } from '../../state/useApp';
import { ContextMark } from './ContextMark';

interface BlockProps {
  documentId: string;
  block: TextBlock;
  section: Section;
  /** texts that have been read, by their first character */
  texts: Map<number, string>;
  inContext: 'sent' | 'chosen' | null;
  /** characters to point at; null: nothing here */
  place: { offset: number; end?: number } | null;
  /** it is to be brought into view */
  isTarget: boolean;
  asked: number;
  /** the place is drawn now */
  onMark: () => void;
}

/** A stretch of the text, with the label of its section where it begins. */
export function Block({ documentId, block, section, texts, inContext, place, isTarget, asked, onMark }: BlockProps) {
  const { documents } = useActions();
  const [text, setText] = useState(texts.get(block.start) ?? null);
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    if (text !== null) return;
    let dropped = false;
    const end = Math.min(section.end, block.end + overlap);
    documents.readText(documentId, block.start, end).then(
      (read) => {
        texts.set(block.start, read);
        if (!dropped) setText(read);
      },
      () => !dropped && setFailed(true),
    );
    return () => {
      dropped = true;
    };
  }, [text, block, section, documentId, documents, texts]);

  const shown = text === null ? null : shownText(text, block, block.end >= section.end);
  const from = text === null ? 0 : text.indexOf(shown ?? '');

  return (
    <>
      {block.first && (
        <h3 className="flex items-baseline justify-between gap-2 pt-4 pb-1 text-xs font-semibold text-ink-2">
          <span dir="auto" className="min-w-0 truncate">
            {sectionLabel(section.label)}
            {section.ocr && <OcrMark />}
          </span>
          {inContext && <ContextMark state={inContext} />}
        </h3>
      )}
      {shown === null && !failed && <p className="text-xs text-ink-3">{t`Reading…`}</p>}
      {failed && <p className="text-xs text-bad">{t`This part of the text could not be read.`}</p>}
      {shown?.trim() === '' && block.first && <p className="text-xs text-ink-3 italic">{t`No text here.`}</p>}
      {shown && (
        <Words
          text={section.kind === 'page' ? flowed(shown) : shown}
          start={block.start + from}
          place={place}
          isTarget={isTarget}
          asked={asked}
          onMark={onMark}
        />
      )}
    </>
  );
}

/** Behind the name of a section. */
export function OcrMark() {
  return (
    <span className="font-normal text-warn" title={t`Text recognized in a picture: it can hold errors.`}>
      {' · OCR'}
    </span>
  );
}

interface WordsProps {
  text: string;
  /** of the document, where `text` begins */
  start: number;
  place: { offset: number; end?: number } | null;
  isTarget: boolean;
  asked: number;
  onMark: () => void;
}

function Words({ text, start, place, isTarget, asked, onMark }: WordsProps) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same place may be asked for again
  useEffect(() => {
    if (isTarget && place) onMark();
  }, [asked, place, isTarget, onMark]);
  const className = 'lines-auto text-sm break-words whitespace-pre-wrap text-ink';
  if (!place) {
    return (
      <p dir="auto" className={className}>
        {text}
      </p>
    );
  }
  const at = Math.max(0, Math.min(text.length, place.offset - start));
  const line = text.indexOf('\n', at);
  const end = place.end === undefined ? (line === -1 ? text.length : line) : place.end - start;
  return (
    <p dir="auto" className={className}>
      {text.slice(0, at)}
      <mark
        data-target={isTarget || undefined}
        className="rounded-xs bg-accent-soft text-ink"
        data-testid="document-mark"
      >
        {text.slice(at, Math.max(at, end))}
      </mark>
      {text.slice(Math.max(at, end))}
    </p>
  );
}
