import { useState } from 'react';
import { parseRanges, rangesText } from '../../state/documents/ranges';
import type { DraftDocument } from '../../state/documents/state';
import { sectionsName } from '../../state/lib/partText';
import type { PanelDocument } from '../../state/lib/usePanelDocument';
import { useActions } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { controlClass } from '../../ui/Field';
import { partOf } from './selection';

/** "3-9, 12" for what goes with the question, in place of many clicks. */
export function RangeField({ document, card }: { document: PanelDocument; card: DraftDocument }) {
  const { info, sections, chosen } = document;
  const { documents } = useActions();
  const [typed, setTyped] = useState<string | null>(null);
  const words = `${sectionsName(info)}s`;
  const current = card.part.kind === 'passages' ? '' : rangesText([...chosen].sort((a, b) => a - b));
  const invalid = typed !== null && parseRanges(typed, sections.length) === null;
  const choose = (indices: readonly number[]) => documents.setPart(card.key, partOf(new Set(indices), sections.length));

  function type(text: string): void {
    setTyped(text);
    const indices = parseRanges(text, sections.length);
    if (indices) choose(indices);
  }

  return (
    <div className="shrink-0 border-b border-line px-5 py-3">
      <div className="flex items-center gap-2">
        <label htmlFor="document-range" className="text-sm font-medium text-ink">
          With the question
        </label>
        <input
          id="document-range"
          data-testid="document-range"
          value={typed ?? current}
          placeholder="3-9, 12"
          autoComplete="off"
          spellCheck={false}
          aria-invalid={invalid || undefined}
          aria-describedby="document-range-help"
          onChange={(event) => type(event.target.value)}
          onBlur={() => setTyped(null)}
          className={cx(controlClass, 'min-w-0 flex-1')}
        />
        <Button size="small" tone="quiet" onClick={() => choose([...sections.keys()])}>
          All
        </Button>
        <Button size="small" tone="quiet" onClick={() => choose([])}>
          None
        </Button>
      </div>
      <p id="document-range-help" className={cx('mt-1 text-xs', invalid ? 'text-bad' : 'text-ink-3')}>
        {invalid
          ? `Numbers from 1 to ${sections.length}, as in 3-9, 12.`
          : card.part.kind === 'passages'
            ? 'It is searched for each question. Choose here to send fixed parts instead.'
            : `Numbers of ${words}, as in 3-9, 12.`}
      </p>
    </div>
  );
}
