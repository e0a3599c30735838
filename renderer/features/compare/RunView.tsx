/** A run: how far it is, what it says in a sentence, its table, its columns, its plots. */
import { ArrowLeft } from 'lucide-react';
import { useRef } from 'react';
import type { CompareRun } from '../../../electron/contract/compare';
import { useActions } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button } from '../../ui/Button';
import { formatCount } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';
import { Progress } from '../../ui/Progress';
import { Column } from './Column';
import { ComparePlot } from './ComparePlot';
import { runProgress, runStateNames } from './columnText';
import { ExportMenu } from './ExportMenu';
import { plotsOf } from './plotData';
import { factsOf } from './pngOf';
import { ResultTable } from './ResultTable';
import { RunName } from './RunName';
import { verdictsOf } from './verdict';

export function RunView({ run }: { run: CompareRun }) {
  const { compare } = useActions();
  const plotPlace = useRef<HTMLElement>(null);
  const plots = plotsOf(run);
  const running = run.state === 'running';

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
            label="All comparisons"
            side="bottom"
            icon={<ArrowLeft />}
            onClick={compare.leaveRun}
            data-testid="compare-back"
          />
          <RunName run={run} />
          <div className="flex gap-2">
            {!running && (
              <>
                <Button size="small" onClick={() => void compare.editAgain(run)} data-testid="compare-edit">
                  Change and run
                </Button>
                <Button size="small" onClick={() => void compare.rerun(run.id)} data-testid="compare-rerun">
                  Run again
                </Button>
              </>
            )}
            <ExportMenu run={run} plots={() => plotPlace.current} hasPlots={plots.length > 0} />
          </div>
        </div>
        {running && <Running run={run} />}
        <Ending run={run} />
        <Verdicts run={run} />
        <ResultTable run={run} />
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
        <section className="flex snap-x items-stretch gap-3 overflow-x-auto pb-2" aria-label="Columns" tabIndex={0}>
          {run.columns.map((_, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the columns of a run stay as they are
            <Column key={index} run={run} index={index} />
          ))}
        </section>
        <section ref={plotPlace} className="grid gap-3 lg:grid-cols-2" aria-label="Plots">
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
      <Progress label="Progress of the comparison" share={share} />
      <Button size="small" onClick={() => void compare.cancel(run.id)} data-testid="compare-cancel">
        Cancel
      </Button>
    </div>
  );
}

function Ending({ run }: { run: CompareRun }) {
  if (run.state === 'running' || run.state === 'done') return <Notes notes={run.notes} />;
  const finished = run.columns.filter(({ state }) => state === 'done').length;
  const kept =
    finished === 0
      ? 'No column was finished.'
      : `${finished} of ${run.columns.length} columns were finished and are complete.`;
  return (
    <>
      <Banner
        tone={run.state === 'cancelled' ? 'warn' : 'bad'}
        title={run.error?.message ?? `${runStateNames[run.state]}.`}
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
    <ul className="grid gap-1 text-sm text-ink-2" aria-label="Notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function Verdicts({ run }: { run: CompareRun }) {
  const verdicts = verdictsOf(run);
  if (verdicts.length === 0) return null;
  return (
    <ul
      className="grid gap-1.5 font-serif text-[1.06rem] leading-snug text-ink"
      data-testid="compare-verdict"
      aria-label="In short"
    >
      {verdicts.map(({ name, sentence }) => (
        <li key={name}>
          <strong className="font-semibold">{name}</strong> {sentence}
        </li>
      ))}
    </ul>
  );
}

function Facts({ run }: { run: CompareRun }) {
  return (
    <details className="text-xs text-ink-3">
      <summary>
        {run.promptTokens > 0 ? `${formatCount(run.promptTokens)} tokens of prompt. ` : ''}What the figures hang on
      </summary>
      <ul className="mt-1.5 grid gap-1 [overflow-wrap:anywhere]">
        {factsOf(run).map((fact) => (
          <li key={fact}>{fact}</li>
        ))}
      </ul>
    </details>
  );
}
