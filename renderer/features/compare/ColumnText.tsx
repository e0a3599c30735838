/** The answer of a column, with a mark where it leaves the reference. */
import type { CompareColumn } from '../../../electron/contract/compare';
import type { Candidate, Difference } from '../../../electron/contract/compareFigures';
import { selectLiveColumn } from '../../state/slices/compare';
import { useApp } from '../../state/useApp';
import { formatCount } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { formatShare } from './figures';

interface ColumnTextProps {
  runId: string;
  index: number;
  column: CompareColumn;
  /** of the reference */
  referenceName: string;
  name: string;
}

/** The one part that changes with each frame. */
export function ColumnText({ runId, index, column, ...names }: ColumnTextProps) {
  const live = useApp(selectLiveColumn(runId, index));
  const { answer, difference, state } = column;
  const ended = answer !== null || (state !== 'running' && state !== 'waiting');
  const text = answer?.text ?? (column.state === 'waiting' ? '' : (live?.text ?? ''));
  const thinking = answer?.thinking ?? live?.thinking ?? '';

  return (
    <div
      dir="auto"
      className="lines-auto text-sm leading-relaxed break-words whitespace-pre-wrap"
      data-testid="compare-text"
    >
      {thinking !== '' && (
        <details className="mb-2 text-xs text-ink-3">
          <summary>Thought, {formatCount(thinking.length)} characters</summary>
          <p className="mt-1 border-l-2 border-line pl-3">{thinking}</p>
        </details>
      )}
      {text === '' && <span className="text-ink-3">{ended ? 'No text.' : '…'}</span>}
      {difference ? <Marked text={text} difference={difference} {...names} /> : text}
    </div>
  );
}

interface MarkedProps {
  text: string;
  difference: Difference;
  referenceName: string;
  name: string;
}

function Marked({ text, difference, ...names }: MarkedProps) {
  const { offset, own } = difference;
  const word = text.startsWith(own.text, offset) ? own.text : text.slice(offset, offset + 1);
  const shown = own.end || word === '' ? '⏹' : word;
  const space = /^\s*/.exec(shown)?.[0] ?? '';
  return (
    <>
      {text.slice(0, offset)}
      {space}
      <Popover
        label="Where the answers part"
        className="w-[min(23rem,calc(100vw-2rem))] p-4"
        trigger={
          <button
            type="button"
            data-testid="compare-difference"
            data-index={difference.index}
            className="rounded-xs bg-brass/40 font-medium text-ink underline decoration-accent decoration-2 underline-offset-2 hover:bg-brass/60"
            aria-label={`Differs here: ${spoken(own)}. Show the probabilities`}
          >
            {shown.slice(space.length) || '␣'}
          </button>
        }
      >
        <Candidates difference={difference} {...names} />
      </Popover>
      {own.end ? '' : text.slice(offset + word.length)}
    </>
  );
}

function Candidates({ difference, name, referenceName }: Omit<MarkedProps, 'text'>) {
  const rows = [
    { by: name, candidate: difference.own },
    { by: referenceName, candidate: difference.reference },
  ];
  return (
    <>
      <p className="text-xs text-ink-2">
        {difference.index === 0
          ? 'The answers differ from the first token on.'
          : `The first ${formatCount(difference.index)} tokens are the same.`}
      </p>
      <table className="mt-2 w-full text-xs tabular-nums">
        <thead>
          <tr className="text-left text-ink-3">
            <th className="pb-1 font-normal">Next token</th>
            <th className="pb-1 pl-2 text-right font-normal">in {name}</th>
            <th className="pb-1 pl-2 text-right font-normal">in {referenceName}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ by, candidate }) => (
            <tr key={by} className="border-t border-line">
              <td className="py-1.5">
                <span className="font-mono text-ink">{spoken(candidate)}</span>
                <span className="block text-ink-3">chosen by {by}</span>
              </td>
              <td className="pl-2 text-right text-ink">{share(candidate.probability)}</td>
              <td className="pl-2 text-right text-ink">{share(candidate.referenceProbability)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function spoken({ text, end }: Candidate): string {
  return end ? 'end of the answer' : JSON.stringify(text);
}

function share(value: number | null): string {
  return value === null ? 'unlikely' : formatShare(value);
}
