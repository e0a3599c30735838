import { useMemo } from 'react';
import { formatCount } from '../../ui/format';
import { foldedPart, lastPart, textBlocks } from './longText';
import { useRowState } from './rowState';

export function LongText({ id, text }: { id: string; text: string }) {
  const [open, setOpen] = useRowState(`${id} text`, false);
  const folded = useMemo(() => foldedPart(text), [text]);
  if (folded === null)
    return (
      <p dir="auto" className="lines-auto break-words whitespace-pre-wrap">
        {text}
      </p>
    );

  return (
    <div>
      {open ? (
        <div className="max-h-[60vh] overflow-y-auto pr-2">
          {textBlocks(text).map((block, i) => (
            <p
              // biome-ignore lint/suspicious/noArrayIndexKey: blocks of one fixed text never move
              key={i}
              dir="auto"
              className="lines-auto break-words whitespace-pre-wrap [contain-intrinsic-size:auto_60rem] [content-visibility:auto]"
            >
              {block}
            </p>
          ))}
        </div>
      ) : (
        <>
          <p
            dir="auto"
            className="fold-fade lines-auto max-h-36 overflow-hidden break-words whitespace-pre-wrap text-ink-2"
          >
            {folded}
          </p>
          <p dir="auto" className="lines-auto mt-2 break-words whitespace-pre-wrap">
            {lastPart(text)}
          </p>
        </>
      )}
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="mt-2 text-xs font-medium text-accent hover:underline"
      >
        {open ? 'Fold' : `Show all ${formatCount(text.length)} characters`}
      </button>
    </div>
  );
}
