import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { useShallow } from 'zustand/shallow';
import type { AnswerStats, Message } from '../../../electron/contract/chats';
import type { LoadedContext, Placement } from '../../../electron/contract/engine';
import { changeOf, keepsCache, requestedLength, shortBudget } from '../../../electron/contract/fit';
import { sameAdapters } from '../../../electron/contract/lib/domains/adapters';
import { autoContext, type ContextSettings } from '../../../electron/contract/settings';
import { selectChat } from '../../state/lib/openChat';
import { useOffers } from '../../state/lib/useOffers';
import {
  selectContextUsed,
  selectEngineState,
  selectLoadedContext,
  selectLoadedModel,
  selectLoadedModelId,
} from '../../state/slices/engine';
import { selectHoldsOtherChat, selectLastStats } from '../../state/slices/live';
import { selectModels } from '../../state/slices/models';
import { selectApplying, selectDraft, selectEditedContext, selectSavedContext } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatBytes, formatCount, formatRate, formatTimeLeft, offerText } from '../../ui/format';
import { changesText } from './changesText';
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
  const models = useApp(selectModels);
  const { settings } = useActions();
  const changes = saved ? changesText(saved, draft, models ?? []) : [];
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
        {writing ? t`An answer is being written. Stop it or wait for its end.` : cost?.text}
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
          <Trans>Discard</Trans>
        </Button>
        <Button
          size="small"
          tone={refused ? 'outline' : 'primary'}
          disabled={applying || writing}
          onClick={() => void settings.applyContext(refused)}
          data-testid={refused ? 'settings-force' : 'settings-apply'}
        >
          {applying ? t`Reloading…` : refused ? t`Load anyway` : t`Apply and reload`}
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
          ? t`This does not fit: ${formatBytes(short.needed)} are needed, ${formatBytes(Math.max(0, short.available))} are free.`
          : t`This does not fit.`}
      </p>
      {offers?.length === 0 && (
        <p className="mt-1 text-ink-2">
          <Trans>No shorter context and no cache type helps: choose a smaller model.</Trans>
        </p>
      )}
      {offers && offers.length > 0 && (
        <ul className="mt-2 flex flex-wrap gap-1.5" aria-label={t`What fits`}>
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

/** null until the services have answered */
function useApplyCost(): ApplyCost | null {
  const edited = useApp(useShallow(selectEditedContext));
  const saved = useApp(selectSavedContext);
  const loaded = useApp(selectLoadedContext);
  const model = useApp(selectLoadedModel);
  const used = useApp(selectContextUsed);
  const ofOther = useApp(selectHoldsOtherChat);
  const messages = useApp(selectChat)?.messages ?? [];
  const rate = measuredRate(messages, useApp(selectLastStats), model?.name ?? '');
  const { fit } = useFit(edited);
  if (!edited || !saved) return null;
  // Auto holds what has been read, where the memory does
  const auto = Math.max(fit?.auto?.nCtx ?? 0, used + 1);
  const asked = edited.nCtx === autoContext ? { ...edited, nCtx: auto } : edited;
  const placement = fit?.placement ?? null;
  const facts = { loaded, saved, edited: asked, placement, trained: model?.nCtxTrain ?? 0, rate };
  return applyCost({ ...facts, used: ofOther ? 0 : used });
}

// What a change of the context settings costs a running chat, before it is made.

interface ApplyFacts {
  /** null: no model is loaded */
  loaded: LoadedContext | null;
  saved: ContextSettings;
  edited: ContextSettings;
  /** where its layers go then; null: where the settings want them */
  placement: Placement | null;
  /** tokens of the open chat in the cache now */
  used: number;
  /** tokens; 0: unknown */
  trained: number;
  /** tokens per second at which prompts were read last; null: not measured yet */
  rate: number | null;
}

interface ApplyCost {
  kind: 'nothing' | 'kept' | 'again' | 'too-short';
  text: string;
}

export function applyCost({ loaded, saved, edited, placement, used, trained, rate }: ApplyFacts): ApplyCost {
  if (!loaded || used === 0) return { kind: 'nothing', text: t`Reloads the model. The chat stays.` };
  const tokens = formatCount(used);
  if (used >= requestedLength(edited, trained)) {
    return {
      kind: 'too-short',
      text: t`The chat stays, but its ${tokens} tokens are more than this context holds: it cannot be continued with it.`,
    };
  }
  const sameLayers =
    edited.gpuLayers === saved.gpuLayers &&
    edited.expertsInRam === saved.expertsInRam &&
    String(edited.deviceShares) === String(saved.deviceShares) &&
    JSON.stringify(loaded.placement) === JSON.stringify(placement);
  const sameWeights = sameLayers && sameAdapters(edited.adapters, saved.adapters);
  if (sameWeights && keepsCache(loaded, edited, used, trained)) {
    return { kind: 'kept', text: t`The chat stays, and the cache is kept: its ${tokens} tokens are not read again.` };
  }
  const kind = 'again';
  if (rate === null)
    return { kind, text: t`The chat stays. Its ${tokens} tokens are read again with the next question.` };
  const time = formatTimeLeft((used / rate) * 1000);
  return {
    kind,
    text: t`The chat stays. Its ${tokens} tokens are read again with the next question, about ${time} at ${formatRate(rate)} tok/s.`,
  };
}

/** a rate over fewer tokens says more about the start than about reading */
const enoughTokens = 64;

/** How fast prompts of this model were read: by the answer that read the most of the last ones. Null: none read enough. */
export function measuredRate(messages: readonly Message[], last: AnswerStats | null, modelName: string): number | null {
  const ofModel = messages.filter((message) => message.modelName === modelName).flatMap(({ stats }) => stats ?? []);
  const recent = [...ofModel.slice(-lastAnswers), ...(last ? [last] : [])];
  const measured = recent.filter((stats) => readBy(stats) >= enoughTokens && stats.promptTokensPerSecond > 0);
  const best = measured.reduce<AnswerStats | null>(
    (most, one) => (most && readBy(most) >= readBy(one) ? most : one),
    null,
  );
  return best?.promptTokensPerSecond ?? null;
}

const lastAnswers = 5;

function readBy({ promptTokens, cachedTokens }: AnswerStats): number {
  return promptTokens - cachedTokens;
}
