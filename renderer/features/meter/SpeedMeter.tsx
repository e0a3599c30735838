import { selectEngineState } from '../../state/engine/selectors';
import { selectLiveFigures } from '../../state/meter/selectors';
import { selectLastStats } from '../../state/stream/selectors';
import { useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { formatDuration, formatPercent, formatRate } from '../../ui/format';
import { Figure } from './Figure';
import { speedOf } from './speed';

export function SpeedMeter() {
  const speed = speedOf(useApp(selectLiveFigures), useApp(selectLastStats), useApp(selectEngineState) === 'generating');
  const { now, average, ttftMs, promptRate, promptShare, past } = speed;
  const title = past ? 'of the last answer' : 'of this answer';

  return (
    <div className={cx('flex min-w-0 items-stretch', past && 'text-ink-3')}>
      <Figure
        testId="meter-toks"
        title={`Tokens per second ${title}: ${now === null ? 'none yet' : formatRate(now)} now, ${average === null ? 'none yet' : formatRate(average)} on average`}
        data={{ toks: now ?? '', 'toks-average': average ?? '' }}
      >
        <b>{now === null ? '–' : formatRate(now)}</b> tok/s
        {average !== null && !past && <span className="text-ink-3 max-lg:hidden"> avg {formatRate(average)}</span>}
      </Figure>
      <Figure testId="meter-ttft" title={`Time to the first token ${title}`} data={{ ttft: ttftMs ?? '' }}>
        <span className="max-sm:hidden">first </span>
        <b>{ttftMs === null ? '–' : formatDuration(ttftMs)}</b>
      </Figure>
      <Figure
        testId="meter-prompt"
        title={`Prompt tokens read per second ${title}`}
        data={{ 'prompt-toks': promptRate ?? '', 'prompt-share': promptShare ?? '' }}
      >
        <span className="max-sm:hidden">prompt </span>
        <b>{promptRate === null ? '–' : formatRate(promptRate)}</b>
        <span className="max-md:hidden"> tok/s</span>
        {promptShare !== null && <span className="text-accent"> {formatPercent(promptShare)}</span>}
      </Figure>
    </div>
  );
}
