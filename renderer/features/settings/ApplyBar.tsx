import { useShallow } from 'zustand/shallow';
import { changeOf, shortBudget } from '../../../electron/contract/offers';
import { selectEngineState, selectLoadedModelId } from '../../state/engine/selectors';
import { useOffers } from '../../state/lib/useOffers';
import { selectApplying, selectDraft, selectEditedContext, selectSavedContext } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { offerText } from '../../ui/fitText';
import { formatBytes } from '../../ui/format';
import { changesText } from './changesText';
import { useApplyCost } from './useApplyCost';
import { useFit } from './useFit';

/** What has been changed and costs a reload of the model. Shown only then. */
export function ApplyBar() {
  const draft = useApp(selectDraft);
  const saved = useApp(selectSavedContext);
  const edited = useApp(useShallow(selectEditedContext));
  const applying = useApp(selectApplying);
  const state = useApp(selectEngineState);
  const cost = useApplyCost();
  const { fit, stale } = useFit(edited);
  const { settings } = useActions();
  const changes = saved ? changesText(saved, draft) : [];
  if (changes.length === 0) return null;
  const writing = state === 'generating';
  const refused = fit !== null && !stale && !fit.fits;

  return (
    <div className="rise shrink-0 border-t border-line bg-raised px-5 py-3.5" data-testid="settings-changes">
      <ul className="text-xs text-ink-2 tabular-nums">
        {changes.map((change) => (
          <li key={change}>{change}</li>
        ))}
      </ul>
      <p
        className={cx('mt-1 text-xs leading-relaxed', cost?.kind === 'too-short' ? 'text-warn' : 'text-ink-3')}
        data-testid="apply-cost"
        data-kind={cost?.kind}
      >
        {writing ? 'An answer is being written. Stop it or wait for its end.' : cost?.text}
      </p>
      {refused && <Refusal />}
      <div className="mt-2.5 flex justify-end gap-2">
        <Button
          size="small"
          tone="quiet"
          disabled={applying}
          onClick={settings.discardContext}
          data-testid="settings-discard"
        >
          Discard
        </Button>
        <Button
          size="small"
          tone={refused ? 'outline' : 'primary'}
          disabled={applying || writing}
          onClick={() => void settings.applyContext(refused)}
          data-testid={refused ? 'settings-force' : 'settings-apply'}
        >
          {applying ? 'Reloading…' : refused ? 'Load anyway' : 'Apply and reload'}
        </Button>
      </div>
    </div>
  );
}

/** These settings do not fit: by how much, and what would. */
function Refusal() {
  const edited = useApp(useShallow(selectEditedContext));
  const modelId = useApp(selectLoadedModelId);
  const offers = useOffers(edited, modelId, 'settings-offers');
  const { fit } = useFit(edited);
  const { settings } = useActions();
  const short = fit && shortBudget(fit.budgets);

  return (
    <div className="mt-2.5 rounded-md bg-bad-soft px-3 py-2.5 text-xs" data-testid="settings-refusal">
      <p role="alert" className="font-medium text-bad">
        {short
          ? `This does not fit: ${formatBytes(short.needed)} are needed, ${formatBytes(Math.max(0, short.available))} are free.`
          : 'This does not fit.'}
      </p>
      {offers?.length === 0 && (
        <p className="mt-1 text-ink-2">No shorter context and no cache type helps: choose a smaller model.</p>
      )}
      {offers && offers.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-1.5" aria-label="What fits">
          {offers.map((offer) => (
            <li key={offerText(offer)}>
              <Button size="small" onClick={() => settings.editContext(changeOf(offer))} data-testid="settings-offer">
                {offerText(offer)}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
