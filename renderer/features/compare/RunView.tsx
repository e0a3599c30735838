/** A run: how far it is, what it comes to for people, its columns, its figures, its plots. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ArrowLeft, Download, Pencil } from 'lucide-react';
import { useRef, useState } from 'react';
import type { CompareColumn, CompareFormat, CompareRun } from '../../../electron/contract/compare/compare';
import { fewAnswered, type Grade, grades, judgementsOf } from '../../../electron/contract/lib/judgement';
import { limits } from '../../../electron/contract/limits';
import { i18n } from '../../language';
import { useActions } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { controlClass } from '../../ui/Field';
import { formatBytes, formatCount, formatRate, formatRatio } from '../../ui/format';
import { Menu, MenuItem } from '../../ui/Menu';
import { Progress } from '../../ui/Progress';
import { fileName, saveFile } from '../../ui/saveFile';
import { CheckVerdict } from './CheckModel';
import { Column } from './Column';
import { ComparePlot } from './ComparePlot';
import { cacheName, loadText, runProgress, runStateNames } from './columnText';
import { bytesPerToken, totalBytes } from './figures';
import { plotsOf } from './plotData';
import { factsOf, pngOf } from './pngOf';
import { ResultTable } from './ResultTable';

export function RunView({ run }: { run: CompareRun }) {
  const { compare } = useActions();
  const plotPlace = useRef<HTMLElement>(null);
  const plots = plotsOf(run);
  const running = run.state === 'running';
  const isCheck = run.request.prompt.kind === 'check';

  return (
    <div
      className="min-h-0 flex-1 overflow-y-auto"
      data-testid="compare-run"
      data-state={run.state}
      data-run-id={run.id}
    >
      <div className="grid grid-cols-1 gap-4 px-5 pt-1 pb-8">
        <div className="flex flex-wrap items-center gap-2">
          <IconButton
            label={t`All comparisons`}
            side="bottom"
            icon={<ArrowLeft />}
            onClick={compare.leaveRun}
            data-testid="compare-back"
          />
          <RunName run={run} />
          <div className="flex gap-2">
            {!running && (
              <>
                {!isCheck && (
                  <Button size="small" onClick={() => void compare.editAgain(run)} data-testid="compare-edit">
                    <Trans>Change and run</Trans>
                  </Button>
                )}
                <Button size="small" onClick={() => void compare.rerun(run.id)} data-testid="compare-rerun">
                  <Trans>Run again</Trans>
                </Button>
              </>
            )}
            <ExportMenu run={run} plots={() => plotPlace.current} hasPlots={plots.length > 0} />
          </div>
        </div>
        {running && <Running run={run} />}
        <Ending run={run} />
        {isCheck ? <CheckVerdict run={run} /> : <Verdicts run={run} />}
        <ResultTable run={run} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
        <section className="flex snap-x items-stretch gap-3 overflow-x-auto pb-2" aria-label={t`Columns`} tabIndex={0}>
          {run.columns.map((_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a run stay as they are
            <Column key={index} run={run} index={index} />
          ))}
        </section>
        <section ref={plotPlace} className="grid gap-3 lg:grid-cols-2" aria-label={t`Plots`}>
          {plots.map((spec) => (
            <ComparePlot key={spec.id} spec={spec} />
          ))}
        </section>
        <Facts run={run} />
      </div>
    </div>
  );
}

function Running({ run }: { run: CompareRun }) {
  const { compare } = useActions();
  const { text, share } = runProgress(run);
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-sunken px-4 py-2.5 text-sm">
      <span role="status" className="min-w-56 text-ink-2" data-testid="compare-progress">
        {text}
      </span>
      <Progress label={t`Progress of the comparison`} share={share} />
      <Button size="small" onClick={() => void compare.cancel(run.id)} data-testid="compare-cancel">
        <Trans>Cancel</Trans>
      </Button>
    </div>
  );
}

function Ending({ run }: { run: CompareRun }) {
  if (run.state === 'running' || run.state === 'done') return <Notes notes={run.notes} />;
  const finished = run.columns.filter(({ state }) => state === 'done').length;
  const all = run.columns.length;
  const kept = plural(finished, {
    0: 'No column was finished.',
    one: `# of ${all} columns were finished and are complete.`,
    other: `# of ${all} columns were finished and are complete.`,
  });
  return (
    <>
      <Banner
        tone={run.state === 'cancelled' ? 'warn' : 'bad'}
        title={run.error?.message ?? `${i18n._(runStateNames[run.state])}.`}
        testId="compare-ending"
      >
        {[run.error?.hint, kept].filter(Boolean).join(' ')}
      </Banner>
      <Notes notes={run.notes} />
    </>
  );
}

function Notes({ notes }: { notes: readonly string[] }) {
  if (notes.length === 0) return null;
  return (
    <ul className="grid gap-1 text-sm text-ink-2" aria-label={t`Notes`}>
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function Verdicts({ run }: { run: CompareRun }) {
  const verdicts = judgementsOf(run);
  const reference = run.columns[run.request.options.reference];
  if (verdicts.length === 0 || !reference) return null;
  const base = spokenName(reference, run.columns);
  return (
    <ul className="grid gap-3" data-testid="compare-verdict" aria-label={t`In short`}>
      {verdicts.map(({ column, grade, advice, sentence }) => {
        const name = spokenName(column, run.columns);
        return (
          <li key={name} className="flex flex-wrap items-start justify-between gap-x-6 gap-y-1.5" data-grade={grade}>
            <div className="min-w-0 flex-1 basis-80">
              <p className="font-serif text-[1.06rem] leading-snug text-ink">
                <strong className="font-semibold">
                  {name}:{advice && ` ${advice}`}
                </strong>{' '}
                {sentence}
              </p>
              <p className="mt-0.5 text-xs text-ink-2 tabular-nums">{detailOf(column, reference, base)}</p>
            </div>
            {grade && <Dial grade={grade} base={base} />}
          </li>
        );
      })}
    </ul>
  );
}

const gradeColors: Record<Grade, string> = {
  same: 'bg-good',
  hardly: 'bg-good',
  noticeable: 'bg-warn',
  'not advisable': 'bg-bad',
};

const gradeNames: Record<Grade, MessageDescriptor> = {
  same: msg({ message: 'same', context: 'difference' }),
  hardly: msg({ message: 'hardly', context: 'difference' }),
  noticeable: msg({ message: 'noticeable', context: 'difference' }),
  'not advisable': msg({ message: 'not advisable', context: 'difference' }),
};

/** How far the predictions are from those of the reference, in four steps. */
function Dial({ grade, base }: { grade: Grade; base: string }) {
  return (
    <div className="grid w-72 shrink-0 grid-cols-4 gap-0.5 text-center" data-testid="compare-dial">
      <span className="col-span-4 text-start text-xs text-ink-2">
        <Trans>Difference from {base}</Trans>
        <span className="sr-only">: {i18n._(gradeNames[grade])}</span>
      </span>
      {grades.map((one) => (
        <span key={one} aria-hidden="true" className="grid gap-0.5">
          <span className={cx('h-1.5 rounded-full', one === grade ? gradeColors[one] : 'bg-line-strong')} />
          <span
            className={cx(
              'text-xs leading-tight whitespace-nowrap',
              one === grade ? 'font-medium text-ink' : 'text-ink-3',
            )}
          >
            {i18n._(gradeNames[one])}
          </span>
        </span>
      ))}
    </div>
  );
}

function Facts({ run }: { run: CompareRun }) {
  return (
    <details className="text-xs text-ink-3">
      <summary>
        {run.promptTokens > 0 && `${t`${formatCount(run.promptTokens)} tokens of prompt.`} `}
        <Trans>How this was measured</Trans>
      </summary>
      <ul className="mt-1.5 grid gap-1 [overflow-wrap:anywhere]">
        {factsOf(run).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
    </details>
  );
}

const formats: readonly { format: CompareFormat; label: MessageDescriptor; type: string }[] = [
  { format: 'markdown', label: msg`Markdown table`, type: 'text/markdown' },
  { format: 'csv', label: msg`CSV`, type: 'text/csv' },
  { format: 'json', label: msg`JSON, everything`, type: 'application/json' },
];

interface ExportMenuProps {
  run: CompareRun;
  /** where the plots are */
  plots: () => HTMLElement | null;
  hasPlots: boolean;
}

function ExportMenu({ run, plots, hasPlots }: ExportMenuProps) {
  const { compare, ui } = useActions();

  async function save(format: CompareFormat, type: string): Promise<void> {
    const file = await compare.exportRun(run.id, format);
    if (file) saveFile(file.fileName, [file.text], type);
  }

  async function savePng(): Promise<void> {
    const root = plots();
    const picture = root && (await pngOf(root, run));
    if (picture) saveFile(fileName(run.name, 'png'), [picture], 'image/png');
    else ui.report(new Error(t`The picture could not be made.`));
  }

  return (
    <Menu
      trigger={
        <Button size="small" data-testid="compare-export">
          <Download className="size-3.5" aria-hidden="true" />
          <Trans>Export</Trans>
        </Button>
      }
    >
      {formats.map(({ format, label, type }) => (
        <MenuItem key={format} onSelect={() => void save(format, type)}>
          {i18n._(label)}
        </MenuItem>
      ))}
      {hasPlots && (
        <MenuItem onSelect={() => void savePng()}>
          <Trans>Picture of the plots (PNG)</Trans>
        </MenuItem>
      )}
    </Menu>
  );
}

/** Enter or leaving the field takes the name, Escape gives up. */
function RunName({ run }: { run: CompareRun }) {
  const { compare } = useActions();
  const [typed, setTyped] = useState<string | null>(null);

  function commit(): void {
    const name = typed?.trim() ?? '';
    setTyped(null);
    if (name !== '' && name !== run.name) void compare.rename(run.id, name);
  }

  if (typed === null) {
    return (
      <span className="flex min-w-0 flex-1 basis-56 items-center gap-1">
        <h2 className="truncate font-serif text-[1.06rem] text-ink" title={run.name}>
          {run.name}
        </h2>
        <IconButton
          label={t`Rename`}
          icon={<Pencil />}
          size="small"
          onClick={() => setTyped(run.name)}
          data-testid="compare-rename"
        />
      </span>
    );
  }
  return (
    <input
      dir="auto"
      aria-label={t`Name of the comparison`}
      data-testid="compare-name"
      className={`${controlClass} w-72`}
      maxLength={limits.maxTitle}
      value={typed}
      // biome-ignore lint/a11y/noAutofocus: the pencil was pressed to write here
      autoFocus
      onChange={(event) => setTyped(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit();
        if (event.key !== 'Escape') return;
        event.preventDefault();
        setTyped(null);
      }}
    />
  );
}

// What stands below a judgement: the measured figures that it leaves out.

/** of the fastest round to the slowest one, from which on both are named */
const wideSpread = 1.15;

/** As it stands in a sentence. */
function spokenName(column: CompareColumn, columns: readonly CompareColumn[]): string {
  const [types = '', length = ''] = cacheName(column, columns).split(', ');
  const cache = length === '' ? types : t`${types} at ${length}`;
  const model = column.model?.name ?? '';
  return model === '' ? cache : t`${model} with ${cache}`;
}

/** "17.0 KiB instead of 64.0 KiB per token; writes at 126 instead of 134 tok/s; ..." */
export function detailOf(column: CompareColumn, reference: CompareColumn, base: string): string {
  const own = formatBytes(bytesPerToken(column) ?? 0);
  const ofCache = t`${own} per token, ${base} ${formatBytes(bytesPerToken(reference) ?? 0)}`;
  const isOther = column.model?.name !== reference.model?.name;
  const memory = isOther ? modelPart(column, reference, base) : ofCache;
  return `${[memory, speedPart(column, reference), answerPart(column)].filter((part) => part !== '').join('; ')}.`;
}

/** With the weights, which are not the same. */
function modelPart(column: CompareColumn, reference: CompareColumn, base: string): string {
  const own = formatBytes(totalBytes(column) ?? 0);
  const memory = t`${own} in all, ${base} ${formatBytes(totalBytes(reference) ?? 0)}`;
  return [memory, column.model ? loadText(column.model) : ''].filter((part) => part !== '').join('; ');
}

function wordsPart({ prefix, share }: NonNullable<CompareColumn['agreement']>, longer: number): string {
  if (share === 1) return t`its answer is the same to the last word`;
  if (prefix === 0) return t`its answer differs from the first word on`;
  return t`its answer is the same for the first ${formatCount(prefix)} of ${formatCount(longer)} words, the end counted`;
}

/** Rounds on both sides of the reference's speed say no more than that it is about the same. */
function speedPart({ speed }: CompareColumn, { speed: other }: CompareColumn): string {
  if (!speed?.ratio || !other) return '';
  const { low, high, median } = speed.ratio;
  const rates = t`${formatRate(speed.median)} instead of ${formatRate(other.median)} tok/s`;
  const count = speed.rounds.length;
  if (count === 1) return t`writes ${rates} (one round)`;
  const range = t`${formatRatio(low)} to ${formatRatio(high)} in ${count} rounds`;
  if (low <= 1 && high >= 1) return t`writes about as fast: ${rates} (${range})`;
  const told = high / low > wideSpread ? `${rates} (${range})` : rates;
  return median < 1 ? t`writes more slowly: ${told}` : t`writes faster: ${told}`;
}

function answerPart({ agreement }: CompareColumn): string {
  if (!agreement) return '';
  const longer = Math.max(agreement.own, agreement.reference);
  if (longer < fewAnswered) return t`its answer is too short to tell`;
  if (agreement.words) return wordsPart(agreement, longer);
  if (agreement.share === 1) return t`its answer is the same to the last token`;
  if (agreement.prefix === 0) return t`its answer differs from the first token on`;
  return t`its answer is the same for the first ${formatCount(agreement.prefix)} of ${formatCount(longer)} tokens, the end counted`;
}
