/** The chosen file on this machine: settings to try, the verdict with its parts, and what the cache types are worth. */
import type { HubFile, HubModelPage } from '../../../../electron/contract/hub';
import type { ContextSettings } from '../../../../electron/contract/settings';
import { selectCanAsk } from '../../../state/engine/selectors';
import { fitKey } from '../../../state/hub/fitKey';
import { selectHubFits } from '../../../state/hub/selectors';
import { selectSavedContext } from '../../../state/settings/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { Progress } from '../../../ui/Progress';
import { AskedFields } from './AskedFields';
import { LongestPicture } from './LongestPicture';
import { NeedBar } from './NeedBar';
import { useLastFit } from './useLastFit';

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
  const changed = saved && (saved.nCtx !== nCtx || saved.typeK !== typeK || saved.typeV !== typeV);
  const trained = fit?.fit.trained || page.trained;

  return (
    <section
      aria-label={`What ${file.title} takes of this machine`}
      data-testid="hub-fit"
      data-grade={fit?.grade}
      data-stale={stale || undefined}
      className="mt-4 grid gap-x-7 gap-y-5 rounded-xl border border-line bg-panel p-4 lg:grid-cols-[minmax(0,5fr)_minmax(0,6fr)]"
    >
      <div className="min-w-0">
        <div className="flex min-h-7 flex-wrap items-center justify-between gap-x-3">
          <h4 className="text-sm font-semibold text-ink">Does {file.quant ?? 'it'} fit here?</h4>
          {changed && (
            <Button size="small" tone="quiet" className="-mr-2" onClick={() => hub.ask(null)}>
              As in the settings
            </Button>
          )}
        </div>
        <AskedFields context={context} trained={trained} fit={fit?.fit ?? null} />
        {failed && (
          <p className="mt-3 text-sm text-warn" role="status" data-testid="hub-fit-problem">
            {locked ? 'This can be told as soon as you have access to it. ' : `${failed.message} ${failed.hint} `}
            <Button
              size="small"
              tone="quiet"
              onClick={() => {
                hub.forgetFailures();
                void hub.askFit(page, file, context);
              }}
            >
              Try again
            </Button>
          </p>
        )}
        {!failed && !fit && (
          <div className="mt-4 text-xs text-ink-3">
            {able ? (
              <>
                <Progress label="Reading the header of the file" share={null} />
                Reading the header of the file…
              </>
            ) : (
              'The engine is starting; it works this out.'
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
