/** What is written does not fit into the context. Nothing is cut: the person chooses what to give up. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { TriangleAlert } from 'lucide-react';
import type { PromptBudget } from '../../../electron/contract/chats';
import type { DraftDocument } from '../../state/appState';
import { selectDraftOfOpenChat } from '../../state/lib/openChat';
import { chooseText } from '../../state/lib/partText';
import { useBriefPlan } from '../../state/lib/useBriefPlan';
import { useGrowth, useRoom } from '../../state/lib/useRoom';
import { selectBudget, selectBudgetStale, selectOffersLetGo } from '../../state/slices/budget';
import { selectDraftDocuments } from '../../state/slices/documents';
import { selectLoadedModel, selectLoadProgress } from '../../state/slices/engine';
import { selectApplying, selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { briefCostText, formatCount, formatTimeLeft, growText, readAgainText, typesText } from '../../ui/format';
import { Progress } from '../../ui/Progress';
import { noFitText } from './BudgetBar';

export function NoFitCard() {
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  const applying = useApp(selectApplying);
  const documents = useApp(selectDraftDocuments);
  if (!budget || budget.fits || (stale && !applying)) return null;
  return (
    <section
      aria-label={t`This does not fit`}
      data-testid="no-fit"
      className="rise m-2 mb-0 rounded-xl bg-warn-soft px-3.5 py-3 text-sm"
    >
      <p role="alert" className="flex gap-2 font-medium text-ink">
        <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden="true" />
        {noFitText(budget, documents)}
      </p>
      {applying ? <Reloading /> : <Offers budget={budget} />}
    </section>
  );
}

function Offers({ budget }: { budget: PromptBudget }) {
  const lookedUp = useApp(selectSettings)?.documents.retrievalTokens ?? 0;
  const room = useRoom({ total: budget.total + (budget.unfilled === undefined ? 0 : lookedUp) });
  const growth = useGrowth(room);
  const documents = useApp(selectDraftDocuments);
  const { settings } = useActions();
  const ready = documents.filter(({ info }) => info !== null);

  return (
    <div className="mt-2 grid gap-2 ps-6">
      <ul className="flex flex-wrap gap-1.5" aria-label={t`What can be done`} aria-busy={room === null}>
        {growth.map((offer, i) => (
          <li key={typesText(offer.typeK, offer.typeV)}>
            <Button
              size="small"
              tone={i === 0 ? 'primary' : 'outline'}
              data-testid="room-offer"
              data-tokens={offer.nCtx}
              title={t`The model is loaded again; the chat and what you wrote stay. ${readAgainText(offer)}`}
              onClick={() => void settings.takeOffer({ nCtx: offer.nCtx, typeK: offer.typeK, typeV: offer.typeV })}
            >
              {growText(offer)}
            </Button>
          </li>
        ))}
        {budget.remedies?.brief && <Shorten />}
        <LetGo />
        {budget.remedies?.newChat && <NewChat documents={documents.length} />}
        <DocumentOffers documents={ready} first={room !== null && growth.length === 0} />
        <SendAnyway budget={budget} />
      </ul>
      {growth[0]?.read && (
        <p className="text-xs text-ink-2" data-testid="grow-cost">
          {readAgainText(growth[0])}
        </p>
      )}
      {room && room.offers.length === 0 && <NoLonger needed={room.nCtx} longest={room.longest} />}
    </div>
  );
}

/** The question is not sent by itself: the brief can be read first. */
function Shorten() {
  const plan = useBriefPlan();
  const { briefs } = useActions();
  if (!plan) return null;
  return (
    <li>
      <Button
        size="small"
        data-testid="offer-brief"
        title={`${t`What you wrote stays.`} ${briefCostText(plan)}`}
        onClick={() => void briefs.make()}
      >
        {plan.seconds === null
          ? t`Shorten the ${formatCount(plan.messages)} oldest messages to a brief`
          : t`Shorten the ${formatCount(plan.messages)} oldest messages to a brief, about ${formatTimeLeft(plan.seconds * 1000)}`}
      </Button>
    </li>
  );
}

function LetGo() {
  const { settings } = useActions();
  if (!useApp(selectOffersLetGo)) return null;
  return (
    <li>
      <Button
        size="small"
        data-testid="offer-let-go"
        title={t`From now on the oldest messages are left out of what the model reads when the context is full. The system prompt and documents stay in.`}
        onClick={() => void settings.update({ overflow: 'roll' })}
      >
        <Trans>Leave out the oldest messages</Trans>
      </Button>
    </li>
  );
}

/** The question, with its documents, has room where nothing was asked yet. It is not sent by itself. */
function NewChat({ documents }: { documents: number }) {
  const { conversation, ui } = useActions();
  return (
    <li>
      <Button
        size="small"
        data-testid="offer-new-chat"
        title={t`What you wrote goes along. This chat stays as it is.`}
        onClick={() => {
          conversation.takeToNewChat();
          ui.focusComposer();
        }}
      >
        {plural(documents, {
          0: 'New chat with this question',
          one: 'New chat with this document',
          other: 'New chat with these # documents',
        })}
      </Button>
    </li>
  );
}

interface DocumentOffersProps {
  documents: readonly DraftDocument[];
  /** the context cannot grow: the search is what helps most */
  first: boolean;
}

/** About the longest document that goes whole. */
function DocumentOffers({ documents, first }: DocumentOffersProps) {
  const actions = useActions().documents;
  const whole = documents.filter(({ part }) => part.kind !== 'passages');
  const longest = whole.reduce<DraftDocument | null>((most, one) => (sizeOf(one) > sizeOf(most) ? one : most), null);
  if (!longest?.info) return null;
  const { info, key } = longest;
  const named = documents.length > 1 && (
    <span className="max-w-56 truncate" title={info.name}>
      {info.name}
    </span>
  );

  return (
    <>
      {info.sections > 1 && (
        <li>
          <Button size="small" data-testid="offer-parts" onClick={() => actions.openParts(info.id)}>
            {named && <>{named}: </>}
            {chooseText(info)}
          </Button>
        </li>
      )}
      <li>
        <Button
          size="small"
          tone={first ? 'primary' : 'outline'}
          data-testid="offer-passages"
          title={t`For each question, only the most relevant passages are included, and listed with it. Applies to this chat.`}
          onClick={() => actions.setPart(key, { kind: 'passages', passages: [] })}
        >
          {named ? <Trans>Search {named} for each question</Trans> : <Trans>Search it for each question</Trans>}
        </Button>
      </li>
    </>
  );
}

/** The prompt itself fits: only what is kept for the answer does not. */
function SendAnyway({ budget: { total, contextSize, unfilled } }: { budget: PromptBudget }) {
  const empty = useApp(selectDraftOfOpenChat).text.trim() === '';
  const { conversation } = useActions();
  if (total >= contextSize || empty || unfilled !== undefined) return null;
  return (
    <li>
      <Button size="small" data-testid="send-anyway" onClick={() => void conversation.send()}>
        <Trans>Send anyway, with {formatCount(contextSize - total)} left for the answer</Trans>
      </Button>
    </li>
  );
}

function NoLonger({ needed, longest }: { needed: number | null; longest: number | null }) {
  const trained = useApp(selectLoadedModel)?.nCtxTrain ?? 0;
  const { ui } = useActions();
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-2" data-testid="no-longer">
      <span>{noLongerText(needed, longest, trained)}</span>
      <button
        type="button"
        className="font-medium text-accent underline underline-offset-2"
        onClick={() => ui.showSettings('memory')}
      >
        <Trans>Open settings</Trans>
      </button>
    </p>
  );
}

function noLongerText(needed: number | null, longest: number | null, trained: number): string {
  if (needed === null) {
    return t`This model was trained for ${formatCount(trained)} tokens. Another model may hold more, or go beyond in the settings.`;
  }
  const size = formatCount(needed);
  if (!longest) return t`A context of ${size} tokens does not fit into the memory.`;
  return t`A context of ${size} tokens does not fit into the memory; the longest that does holds ${formatCount(longest)}.`;
}

function Reloading() {
  const share = useApp(selectLoadProgress);
  const label = t`Loading the model again`;
  return (
    <div className="mt-2 flex max-w-80 items-center gap-2 ps-6 text-xs text-ink-2">
      <span>{label}</span>
      <Progress label={label} share={share} />
    </div>
  );
}

function sizeOf(document: DraftDocument | null): number {
  return document?.info?.characters ?? -1;
}
