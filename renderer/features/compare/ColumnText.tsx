/** The answer of a column, with a mark where it leaves the reference. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { CompareColumn } from '../../../electron/contract/compare/compare';
import type { Candidate, Difference } from '../../../electron/contract/compare/figures';
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
          <summary>
            <Trans>Thought, {formatCount(thinking.length)} characters</Trans>
          </summary>
          <p className="mt-1 border-s-2 border-line ps-3">{thinking}</p>
        </details>
      )}
      {text === '' && <span className="text-ink-3">{ended ? t`No text.` : '…'}</span>}
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
        label={t`Where the answers part`}
        className="w-[min(23rem,calc(100vw-2rem))] p-4"
        trigger={
          <button
            type="button"
            data-testid="compare-difference"
            data-index={difference.index}
            className="rounded-xs bg-brass/40 font-medium text-ink underline decoration-accent decoration-2 underline-offset-2 hover:bg-brass/60"
            aria-label={
              own.token === null
                ? t`Differs here: ${spoken(own)}. Show both words`
                : t`Differs here: ${spoken(own)}. Show the probabilities`
            }
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
  if (difference.own.token === null) return <Words index={difference.index} rows={rows} />;
  return (
    <>
      <p className="text-xs text-ink-2">
        {difference.index === 0
          ? t`The answers differ from the first token on.`
          : t`The first ${formatCount(difference.index)} tokens are the same.`}
      </p>
      <table className="mt-2 w-full text-xs tabular-nums">
        <thead>
          <tr className="text-start text-ink-3">
            <th className="pb-1 font-normal">
              <Trans>Next token</Trans>
            </th>
            <th className="pb-1 ps-2 text-end font-normal">
              <Trans>in {name}</Trans>
            </th>
            <th className="pb-1 ps-2 text-end font-normal">
              <Trans>in {referenceName}</Trans>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ by, candidate }) => (
            <tr key={by} className="border-t border-line">
              <td className="py-1.5">
                <span className="font-mono text-ink">{spoken(candidate)}</span>
                <span className="block text-ink-3">
                  <Trans>chosen by {by}</Trans>
                </span>
              </td>
              <td className="ps-2 text-end text-ink">{share(candidate.probability)}</td>
              <td className="ps-2 text-end text-ink">{share(candidate.referenceProbability)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** Of two models that have no tokens in common, and so no probabilities that could be set side by side. */
function Words({ index, rows }: { index: number; rows: readonly { by: string; candidate: Candidate }[] }) {
  return (
    <>
      <p className="text-xs text-ink-2">
        {index === 0
          ? t`The answers differ from the first word on.`
          : t`The first ${formatCount(index)} words are the same.`}{' '}
        <Trans>The models have different vocabularies, so there are no probabilities to compare.</Trans>
      </p>
      <dl className="mt-2 text-xs">
        {rows.map(({ by, candidate }) => (
          <div key={by} className="flex flex-col-reverse border-t border-line py-1.5">
            <dt className="text-ink-3">
              <Trans>chosen by {by}</Trans>
            </dt>
            <dd className="font-mono text-ink">{spoken(candidate)}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function spoken({ text, end }: Candidate): string {
  return end ? t`end of the answer` : JSON.stringify(text);
}

function share(value: number | null): string {
  return value === null ? t`unlikely` : formatShare(value);
}
