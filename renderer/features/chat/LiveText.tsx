/** Text of an answer that is being written: the only part of the list that a token renders again. */

import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useDeferredValue, useEffect, useState } from 'react';
import type { Message } from '../../../electron/contract/chats';
import type { LiveStats } from '../../../electron/contract/engine';
import { i18n } from '../../language';
import type { LiveAnswer as Live } from '../../state/appState';
import { selectEngineState, waitsFor } from '../../state/slices/engine';
import { selectLive } from '../../state/slices/live';
import { useApp } from '../../state/useApp';
import { formatCount, formatRate, formatTimeLeft } from '../../ui/format';
import { Bellows } from '../../ui/pictures/Bellows';
import { AnswerText } from './markdown/AnswerText';
import { Thinking } from './Thinking';

export function LiveText({ message }: { message: Pick<Message, 'id' | 'text' | 'thinking'> }) {
  const live = useApp(selectLive(message.id));
  const text = useDeferredValue(shown(message.text, live, 'text'));
  const thinking = shown(message.thinking, live, 'thinking');

  return (
    <div aria-busy="true" className="min-h-7">
      {text === '' && thinking === '' && <BeforeText live={live} />}
      {thinking !== '' && <Thinking id={message.id} text={thinking} live={text === ''} />}
      <AnswerText text={text} streaming />
    </div>
  );
}

/** What goes on until the first word: waiting for a model, reading, or the first token on its way. */
function BeforeText({ live }: { live: Live | null }) {
  const waits = waitsFor(useApp(selectEngineState));
  if (!live?.stats && waits) return <p className="text-sm text-ink-3">{waits}</p>;
  if (live?.stats?.phase !== 'decode') return <PrefillProgress stats={live?.stats ?? null} />;
  return (
    <p className="caret text-base text-ink-3">
      <span className="sr-only">
        <Trans>The answer begins.</Trans>
      </span>
    </p>
  );
}

/** A window that joined in the middle continues the stored text; one that was there from the start has all of it. */
function shown(stored: string, live: Live | null, part: 'text' | 'thinking'): string {
  if (!live) return stored;
  return live.fromStart ? live[part] : stored + live[part];
}

const words: Partial<Record<LiveStats['phase'], MessageDescriptor>> = {
  saving: msg`Saving the other chat`,
  restoring: msg`Loading what was read before`,
};

/** The bellows open as the prompt is read. A short prompt is over before this appears. */
function PrefillProgress({ stats }: { stats: LiveStats | null }) {
  if (stats?.phase === 'queued')
    return (
      <p className="text-sm text-ink-3">
        <Trans>Queued behind another answer.</Trans>
      </p>
    );
  const prefill = stats ? prefillOf(stats) : null;
  const counted = prefill !== null && prefill.total > 0;
  return (
    <div className="appear-late max-w-md" data-testid="prefill-progress">
      <div className="flex items-baseline justify-between gap-4 text-sm">
        <span className="font-medium text-ink">{i18n._(words[stats?.phase ?? 'prefill'] ?? msg`Reading`)}</span>
        {counted && (
          <span className="text-ink-3 tabular-nums">
            <Trans>
              {formatCount(prefill.done)} of {formatCount(prefill.total)} tokens
            </Trans>
          </span>
        )}
      </div>
      <div
        role="progressbar"
        aria-label={t`Reading the prompt`}
        aria-valuenow={counted ? prefill.done : undefined}
        aria-valuemin={0}
        aria-valuemax={counted ? prefill.total : undefined}
        className="my-2"
      >
        <Bellows pleats={32} filled={prefill?.share ?? 0} className="h-3.5 w-full" />
      </div>
      {stats && <PrefillRate stats={stats} msLeft={prefill?.msLeft ?? null} />}
    </div>
  );
}

function PrefillRate({ stats, msLeft }: { stats: LiveStats; msLeft: number | null }) {
  return (
    <p className="flex min-h-4.5 justify-between gap-4 text-xs text-ink-3 tabular-nums">
      <span>{rateText(stats)}</span>
      {msLeft !== null && (
        <span data-testid="prefill-left">
          <TimeLeft key={stats.prefillDone} ms={msLeft} />
        </span>
      )}
    </p>
  );
}

/** Counts on between two frames: a batch of a large model takes many seconds. A new batch is a new component. */
function TimeLeft({ ms }: { ms: number }) {
  const [passed, setPassed] = useState(0);
  useEffect(() => {
    const from = performance.now();
    const timer = setInterval(() => setPassed(performance.now() - from), 1000);
    return () => clearInterval(timer);
  }, []);
  return t`${formatTimeLeft(Math.max(0, ms - passed))} left`;
}

export interface Prefill {
  done: number;
  total: number;
  share: number;
  /** when the figures were taken */
  msLeft: number | null;
}

/** How far the prompt has been read. Cached tokens need no reading, so they are no part of the way. */
export function prefillOf(stats: LiveStats): Prefill {
  const total = Math.max(0, stats.promptTokens - stats.cachedTokens);
  const done = Math.min(total, stats.prefillDone);
  return {
    done,
    total,
    share: total === 0 ? 0 : done / total,
    msLeft: total > 0 ? stats.prefillMsLeft : null,
  };
}

/** Below the bar; each half only where there is something to tell. */
export function rateText({ promptTokensPerSecondNow: rate, cachedTokens }: LiveStats): string {
  const cached = t`${formatCount(cachedTokens)} already in the cache`;
  const parts = [...(rate > 0 ? [`${formatRate(rate)} tok/s`] : []), ...(cachedTokens > 0 ? [cached] : [])];
  return parts.join(', ');
}
