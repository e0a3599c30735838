/** The strip at the bottom: what the engine does, how fast, how full, in how much memory, on what. Nothing silent. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ArrowDownToLine, BatteryMedium, ChartLine, Plug, Thermometer } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { AnswerStats, Drafts } from '../../../electron/contract/chats';
import type { LiveStats } from '../../../electron/contract/engine';
import type { Power } from '../../../electron/contract/machine';
import { selectApiStatus } from '../../state/slices/api';
import { selectEngineState } from '../../state/slices/engine';
import { goingOf, selectDownloads } from '../../state/slices/hub';
import {
  selectHistory,
  selectLiveFigures,
  selectMeterOff,
  selectPower,
  selectShownStats,
  selectSparkline,
} from '../../state/slices/live';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { draftsText, formatDuration, formatPercent, formatRate } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { Segmented } from '../../ui/Segmented';
import { EngineMeter, StateMeter } from './EngineMeter';
import { HistoryPlot } from './HistoryPlot';
import { ContextMeter, MemoryMeter } from './MemoryMeter';
import { plots } from './plots';
import { StripButton } from './StripButton';

export function StatusStrip() {
  if (useApp(selectMeterOff)) return null;
  return (
    <footer
      data-testid="status-strip"
      className="strip flex h-8 shrink-0 items-stretch border-t border-line bg-panel px-1.5 text-xs text-ink-2 tabular-nums"
    >
      <StateMeter />
      <SpeedMeter />
      <HistoryMeter />
      <span className="flex-1" />
      <DownloadMeter />
      <ApiMeter />
      <PowerMeter />
      <ContextMeter />
      <MemoryMeter />
      <EngineMeter />
    </footer>
  );
}

/** How far the downloads are, while there are any. */
function DownloadMeter() {
  const going = goingOf(useApp(selectDownloads) ?? []);
  const { ui } = useActions();
  if (going.length === 0) return null;
  const bytes = going.reduce((sum, one) => sum + one.bytes, 0);
  const share = bytes > 0 ? going.reduce((sum, one) => sum + one.done, 0) / bytes : 0;
  const waits = going.every(({ state }) => state === 'waiting');
  const [first] = going;
  const what =
    going.length === 1 && first ? first.title : plural(going.length, { one: '# download', other: '# downloads' });
  const percent = formatPercent(share);
  return (
    <StripButton
      data-testid="meter-downloads"
      data-share={share.toFixed(3)}
      aria-label={
        waits
          ? t`${what}: ${percent}, waiting to try again. Show the downloads`
          : t`${what}: ${percent}. Show the downloads`
      }
      title={waits ? t`${what} (waiting to try again)` : what}
      className={waits ? 'text-warn' : undefined}
      onClick={() => ui.showModels('downloads')}
    >
      <ArrowDownToLine className="size-3.5" aria-hidden="true" />
      <b>{percent}</b>
    </StripButton>
  );
}

/** Other programs may ask, and so many do. */
function ApiMeter() {
  const status = useApp(selectApiStatus);
  const { api } = useActions();
  if (!status || (status.address === null && !status.problem)) return null;
  const count = status.requests.length;
  const title =
    status.problem?.message ??
    plural(count, {
      0: 'Other programs can use this model: no requests run',
      one: 'Other programs can use this model: # request runs',
      other: 'Other programs can use this model: # requests run',
    });
  return (
    <StripButton
      data-testid="meter-api"
      data-requests={count}
      aria-label={t`API: ${title}. Show the API`}
      title={title}
      className={status.problem ? 'text-warn' : undefined}
      onClick={api.show}
    >
      <Plug className={cx('size-3.5', count > 0 && 'text-accent')} aria-hidden="true" />
      API
      {count > 0 && <b>{count}</b>}
    </StripButton>
  );
}

/** The speed over the answer in little; opens the plots over time. */
function HistoryMeter() {
  return (
    <Popover
      label={t`History`}
      align="start"
      className="w-[min(46rem,calc(100vw-1.25rem))] p-4"
      trigger={
        <StripButton
          data-testid="meter-history-open"
          title={t`Speed over this answer`}
          aria-label={t`Show plots over time`}
        >
          <SparklineBar />
          <ChartLine className="size-3.5 text-ink-3" aria-hidden="true" />
        </StripButton>
      }
    >
      <HistoryPanel />
    </Popover>
  );
}

/** minutes */
const spans = ['1', '5', '15'] as const;
type Span = (typeof spans)[number];

function HistoryPanel() {
  const [span, setSpan] = useState<Span>('1');
  const empty = useApp(selectHistory).length === 0;
  return (
    <section data-testid="meter-history">
      <header className="mb-3 flex items-center justify-between gap-4">
        <h2 className="font-serif text-base text-ink">
          <Trans>Recent activity</Trans>
        </h2>
        <Segmented
          name="history-span"
          label={t`How far back`}
          value={span}
          options={spans.map((value) => ({ value, label: t`${value} min` }))}
          onValue={setSpan}
        />
      </header>
      {empty && (
        <p className="mb-3 text-xs text-ink-3">
          <Trans>Readings begin when a model is loaded, one a second.</Trans>
        </p>
      )}
      <div className="grid grid-cols-2 gap-x-5 gap-y-4 max-sm:grid-cols-1">
        {plots.map((plot) => (
          <HistoryPlot key={plot.id} plot={plot} spanMs={Number(span) * 60_000} />
        ))}
      </div>
    </section>
  );
}

const width = 56;
const height = 14;

/** Tokens per second over the answer, as one line from zero. */
function SparklineBar() {
  const { values } = useApp(selectSparkline);
  const points = sparklinePoints(values, width, height);
  return (
    <svg
      data-testid="meter-sparkline"
      data-values={values.length}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
      className="max-lg:hidden"
    >
      <path d={`M0 ${height - 0.5}H${width}`} className="stroke-line-strong" />
      {points !== '' && (
        <>
          <polygon points={`0,${height} ${points} ${width},${height}`} className="fill-accent/20" />
          <polyline points={points} fill="none" strokeWidth={1.25} strokeLinejoin="round" className="stroke-accent" />
        </>
      )}
    </svg>
  );
}

/** Points of an SVG polyline from the left edge to the right one; the largest value reaches the top. Empty without values. */
export function sparklinePoints(values: readonly number[], width: number, height: number): string {
  const largest = Math.max(0, ...values);
  if (largest === 0) return '';
  // one value is a level line
  const drawn = values.length === 1 ? [...values, ...values] : values;
  const step = width / (drawn.length - 1);
  const y = (value: number) => height - 1 - (value / largest) * (height - 2);
  return drawn.map((value, i) => `${round(i * step)},${round(y(value))}`).join(' ');
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Heat, a limited processor, or running on battery: why answers may be slow. */
function PowerMeter() {
  const hint = powerHint(useApp(selectPower));
  if (!hint) return null;
  const Icon = hint.slow ? Thermometer : BatteryMedium;
  return (
    <p
      role="status"
      data-testid="meter-power"
      title={hint.title}
      className={cx('flex items-center gap-1 px-2 whitespace-nowrap', hint.slow && 'bg-warn-soft text-warn')}
    >
      <Icon className="size-3.5" aria-hidden="true" />
      <span className={cx(!hint.slow && 'sr-only')}>{hint.text}</span>
    </p>
  );
}

interface PowerHint {
  text: string;
  title: string;
  /** amber: answers are slower for it now */
  slow: boolean;
}

/** What the strip says of heat and power; null when there is nothing to say, or the platform says nothing. */
export function powerHint({ thermal, speedLimit, onBattery }: Power): PowerHint | null {
  const limited = speedLimit !== null && speedLimit < 100;
  if (thermal === 'critical' || thermal === 'serious') {
    const state = thermal === 'critical' ? t`critical` : t`serious`;
    const title = limited
      ? t`The computer is too hot (${state}): the system slows it down, the processor to ${formatPercent(speedLimit / 100)} of its speed`
      : t`The computer is too hot (${state}): the system slows it down`;
    return { text: t`Hot`, slow: true, title };
  }
  if (limited) {
    const share = formatPercent(speedLimit / 100);
    return {
      text: t`Slowed to ${share}`,
      slow: true,
      title: t`The system limits the processor to ${share} of its speed`,
    };
  }
  if (onBattery) {
    return { text: t`Battery`, slow: false, title: t`On battery: the system may save power at the cost of speed` };
  }
  return null;
}

function SpeedMeter() {
  const speed = speedOf(
    useApp(selectLiveFigures),
    useApp(selectShownStats),
    useApp(selectEngineState) === 'generating',
  );
  const { now, average, ttftMs, promptRate, promptShare, drafts, past } = speed;

  return (
    <div className={cx('flex min-w-0 items-stretch', past && 'text-ink-3')}>
      <Figure testId="meter-toks" title={rateTitle(speed)} data={{ toks: now ?? '', 'toks-average': average ?? '' }}>
        <b>{now === null ? '–' : formatRate(now)}</b> tok/s
        {drafts && drafts.drafted > 0 && !past && (
          <span className="text-ink-3 max-lg:hidden"> {t`${drafts.accepted}/${drafts.drafted} drafted`}</span>
        )}
        {average !== null && !past && (
          <span className="text-ink-3 max-lg:hidden"> {t`avg ${formatRate(average)}`}</span>
        )}
      </Figure>
      <Figure
        testId="meter-ttft"
        title={past ? t`Time to the first token of the last answer` : t`Time to the first token of this answer`}
        data={{ ttft: ttftMs ?? '' }}
      >
        <span className="max-sm:hidden">{t({ message: 'first', context: 'time to the first token' })} </span>
        <b>{ttftMs === null ? '–' : formatDuration(ttftMs)}</b>
      </Figure>
      <Figure
        testId="meter-prompt"
        title={
          past ? t`Prompt tokens read per second of the last answer` : t`Prompt tokens read per second of this answer`
        }
        data={{ 'prompt-toks': promptRate ?? '', 'prompt-share': promptShare ?? '' }}
      >
        <span className="max-sm:hidden">{t({ message: 'prompt', context: 'speed of reading it' })} </span>
        <b>{promptRate === null ? '–' : formatRate(promptRate)}</b>
        <span className="max-md:hidden"> tok/s</span>
        {promptShare !== null && <span className="text-accent"> {formatPercent(promptShare)}</span>}
      </Figure>
    </div>
  );
}

function rateTitle({ now, average, drafts, past }: Speed): string {
  const none = t({ message: 'none yet', context: 'tokens per second' });
  const latest = now === null ? none : formatRate(now);
  const mean = average === null ? none : formatRate(average);
  const rates = past
    ? t`Tokens per second of the last answer: ${latest} now, ${mean} on average`
    : t`Tokens per second of this answer: ${latest} now, ${mean} on average`;
  return drafts ? t`${rates}. Drafted: ${draftsText(drafts)}` : rates;
}

interface FigureProps {
  testId: string;
  title: string;
  /** exact values, as data attributes */
  data?: Record<string, number | string>;
  children: ReactNode;
}

function Figure({ testId, title, data = {}, children }: FigureProps) {
  const attributes = Object.fromEntries(Object.entries(data).map(([name, value]) => [`data-${name}`, value]));
  return (
    <p
      data-testid={testId}
      title={title}
      {...attributes}
      className="flex items-center gap-1 px-2 whitespace-nowrap [&_b]:font-medium [&_b]:text-ink"
    >
      {children}
    </p>
  );
}

// The figures of the strip: of the answer that is being written, or of the last one.

interface Speed {
  now: number | null;
  average: number | null;
  ttftMs: number | null;
  promptRate: number | null;
  /** 0..1 while a prompt is read */
  promptShare: number | null;
  /** undefined: nothing is drafted */
  drafts: Drafts | undefined;
  /** the figures belong to an answer that has ended */
  past: boolean;
}

/** `atWork`: an answer has begun; until its first figures come, those of the last one would be taken for its own. */
export function speedOf(live: LiveStats | null, last: AnswerStats | null, atWork = false): Speed {
  if (live) {
    const toRead = Math.max(1, live.promptTokens - live.cachedTokens);
    const writing = live.phase === 'decode';
    return {
      now: writing ? live.tokensPerSecondNow : null,
      average: writing ? live.tokensPerSecondAverage : null,
      ttftMs: live.ttftMs,
      promptRate: live.promptTokensPerSecond,
      promptShare: live.phase === 'prefill' ? Math.min(1, live.prefillDone / toRead) : null,
      drafts: live.drafts,
      past: false,
    };
  }
  // An answer that was stopped before its first token has no figures.
  const past = atWork || !last || last.answerTokens === 0 ? null : last;
  const rate = past && past.tokensPerSecond > 0 ? past.tokensPerSecond : null;
  return {
    now: rate,
    average: rate,
    ttftMs: past?.ttftMs ?? null,
    promptRate: past?.promptTokensPerSecond ?? null,
    promptShare: null,
    drafts: past?.drafts,
    past: !atWork,
  };
}
