/** The chosen file on this machine: settings to try, the verdict with its parts, and what the cache types are worth. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useState } from 'react';
import type { HubFile, HubFit, HubModelPage } from '../../../../electron/contract/hub';
import { allocatedBytes, draftBytes, projectorBytes } from '../../../../electron/contract/lib/memory';
import { type ContextSettings, usualContext } from '../../../../electron/contract/settings';
import { selectCanAsk, selectMachineProfile } from '../../../state/slices/engine';
import { fitKey, selectHubFits } from '../../../state/slices/hub';
import { selectSavedContext } from '../../../state/slices/settings';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { formatBytes, formatCount } from '../../../ui/format';
import { Progress } from '../../../ui/Progress';
import { AskedFields } from './AskedFields';
import { GradeChip } from './GradeChip';
import { LongestPicture } from './LongestPicture';
import { decidingBudget, exactVerdict } from './verdict';
import { quantMeaning, speedText, verdictText } from './verdictText';

interface FitCardProps {
  page: HubModelPage;
  file: HubFile;
  context: ContextSettings;
}

export function FitCard({ page, file, context }: FitCardProps) {
  const able = useApp(selectCanAsk);
  const outcome = useApp(selectHubFits)[fitKey(page, file.file, context)] ?? null;
  const { hub } = useActions();
  const { fit, stale } = useLastFit(`${page.revision} ${file.file}`, outcome?.ok ? outcome.value : null);
  const failed = outcome && !outcome.ok ? outcome.error : null;
  const locked = failed?.code === 'access-denied' && page.gated !== 'open';
  const saved = useApp(selectSavedContext);
  const { nCtx, typeK, typeV } = context;
  const changed = saved && ((saved.nCtx || usualContext) !== nCtx || saved.typeK !== typeK || saved.typeV !== typeV);
  const trained = fit?.fit.trained || page.trained;
  const meaning = quantMeaning(file.quant);

  return (
    <section
      aria-label={t`What ${file.title} takes of this machine`}
      data-testid="hub-fit"
      data-grade={fit?.grade}
      data-stale={stale || undefined}
      className="mt-4 grid gap-x-7 gap-y-5 rounded-xl border border-line bg-panel p-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]"
    >
      <div className="min-w-0">
        <div className="flex min-h-7 flex-wrap items-center justify-between gap-x-3">
          <h4 className="text-sm font-semibold text-ink">
            {file.quant ? <Trans>Does {file.quant} fit here?</Trans> : <Trans>Does it fit here?</Trans>}
          </h4>
          {changed && (
            <Button size="small" tone="quiet" className="-me-2" onClick={() => hub.ask(null)}>
              <Trans>As in the settings</Trans>
            </Button>
          )}
        </div>
        {meaning && (
          <p className="mt-0.5 text-xs text-pretty text-ink-2" data-testid="quant-meaning">
            {file.quant}: {meaning}
          </p>
        )}
        <AskedFields context={context} trained={trained} fit={fit?.fit ?? null} />
        {failed && (
          <p className="mt-3 text-sm text-warn" role="status" data-testid="hub-fit-problem">
            {locked ? t`Available once you have access to this model.` : `${failed.message} ${failed.hint}`}{' '}
            <Button
              size="small"
              tone="quiet"
              onClick={() => {
                hub.forgetFailures();
                void hub.askFit(page, file, context);
              }}
            >
              <Trans>Try again</Trans>
            </Button>
          </p>
        )}
        {!failed && !fit && (
          <div className="mt-4 text-xs text-ink-3">
            {able ? (
              <>
                <Progress label={t`Reading the header of the file`} share={null} />
                <Trans>Reading the header of the file…</Trans>
              </>
            ) : (
              t`The engine is starting; it works this out.`
            )}
          </div>
        )}
        {fit && !failed && <NeedBar fit={fit} stale={stale} />}
      </div>
      {fit && !failed && (
        <div className={cx('min-w-0 transition-opacity', stale && 'opacity-60')}>
          <LongestPicture fit={fit.fit} context={context} onUse={hub.ask} />
        </div>
      )}
    </section>
  );
}

// What the chosen file takes with the asked settings, in parts, against the memory that decides.

const colors = {
  weights: 'bg-plate',
  cache: 'bg-accent',
  buffers: 'bg-brass',
  draft: 'bg-good',
  media: 'bg-ink-3',
} as const;

function NeedBar({ fit, stale }: { fit: HubFit; stale: boolean }) {
  const facts = useApp(selectMachineProfile)?.facts ?? null;
  const verdict = exactVerdict(fit);
  const budget = decidingBudget(fit.fit.budgets);
  if (!verdict || !budget) return null;
  const { weights, kvK, kvV, compute, draft, projector } = fit.fit.estimate;
  const parts = [
    { id: 'weights', label: t`Weights`, bytes: weights },
    { id: 'cache', label: t`KV cache`, bytes: kvK + kvV },
    { id: 'buffers', label: t`Buffers`, bytes: compute },
    { id: 'draft', label: t`Drafting`, bytes: draftBytes(draft) },
    { id: 'media', label: t`Images and sound`, bytes: projectorBytes(projector) },
  ] as const;
  const some = parts.filter(({ bytes }) => bytes > 0);
  const needed = allocatedBytes(fit.fit.estimate);
  const speed = verdict.grade === 'none' ? null : speedText(verdict, facts);
  const whole = Math.max(needed, budget.available, 1);
  return (
    <div className={cx('mt-3.5 transition-opacity', stale && 'opacity-60')}>
      <div role="status" data-testid="hub-verdict">
        <GradeChip verdict={verdict} sentence={verdictText(verdict)} />
        {speed && (
          <p className="mt-1 text-xs text-ink-2" data-testid="hub-forecast">
            <Trans>{speed}. An estimate, from how fast this machine reads its memory; less in a long chat.</Trans>
          </p>
        )}
      </div>
      <div className="relative mt-2.5 flex h-2.5 overflow-hidden rounded-xs bg-line-strong" aria-hidden="true">
        {parts.map(({ id, bytes }) => (
          <span
            key={id}
            className={cx('h-full transition-[width] duration-300', colors[id])}
            style={{ width: `${(bytes / whole) * 100}%` }}
          />
        ))}
        {needed > budget.available && (
          <span
            className="absolute inset-y-0 w-0.5 bg-bad"
            style={{ insetInlineStart: `${(Math.max(0, budget.available) / whole) * 100}%` }}
          />
        )}
      </div>
      <dl className="mt-2 flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-ink-2 tabular-nums">
        {some.map(({ id, label, bytes }) => (
          <div key={id} className="flex items-center gap-1.5">
            <span className={cx('size-2 rounded-xs', colors[id])} aria-hidden="true" />
            <dt>{label}</dt>
            <dd
              className="text-ink"
              title={t`${formatCount(bytes)} bytes`}
              data-testid={`hub-${id}`}
              data-bytes={bytes}
            >
              {formatBytes(bytes)}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

interface LastFit {
  fit: HubFit | null;
  /** it belongs to other settings; those of now are being asked about */
  stale: boolean;
}

/** Keeps the last answer on the screen while the next one is being found, so that a slider does not make it flicker. */
function useLastFit(subject: string, current: HubFit | null): LastFit {
  const [kept, setKept] = useState<{ subject: string; fit: HubFit } | null>(null);
  if (current && (kept?.fit !== current || kept.subject !== subject)) setKept({ subject, fit: current });
  if (current) return { fit: current, stale: false };
  return { fit: kept?.subject === subject ? kept.fit : null, stale: true };
}
