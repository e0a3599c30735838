/** What is written does not fit into the context. Nothing is cut: the person chooses what to give up. */
import { TriangleAlert } from 'lucide-react';
import type { PromptBudget } from '../../../electron/contract/chats';
import type { DraftDocument } from '../../state/appState';
import { selectDraftOfOpenChat } from '../../state/lib/openChat';
import { sectionsName } from '../../state/lib/partText';
import { useGrowth, useRoom } from '../../state/lib/useRoom';
import { selectBudget, selectBudgetStale, selectOffersLetGo } from '../../state/slices/budget';
import { selectDraftDocuments } from '../../state/slices/documents';
import { selectLoadedModel, selectLoadProgress } from '../../state/slices/engine';
import { selectApplying, selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { formatCount, growText, readAgainText, typesText } from '../../ui/format';
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
      aria-label="This does not fit"
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
    <div className="mt-2 grid gap-2 pl-6">
      <ul className="flex flex-wrap gap-1.5" aria-label="What can be done" aria-busy={room === null}>
        {growth.map((offer, i) => (
          <li key={typesText(offer.typeK, offer.typeV)}>
            <Button
              size="small"
              tone={i === 0 ? 'primary' : 'outline'}
              data-testid="room-offer"
              data-tokens={offer.nCtx}
              title={`The model is loaded again; the chat and what you wrote stay. ${readAgainText(offer)}`}
              onClick={() => void settings.takeOffer({ nCtx: offer.nCtx, typeK: offer.typeK, typeV: offer.typeV })}
            >
              {growText(offer)}
            </Button>
          </li>
        ))}
        <LetGo />
        {budget.remedies?.newChat && <NewChat documents={documents.length} />}
        <DocumentOffers documents={ready} />
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

function LetGo() {
  const { settings } = useActions();
  if (!useApp(selectOffersLetGo)) return null;
  return (
    <li>
      <Button
        size="small"
        data-testid="offer-let-go"
        title="From now on the oldest messages are left out of what the model reads when the context is full. The system prompt and documents stay in."
        onClick={() => void settings.update({ overflow: 'roll' })}
      >
        Leave out the oldest messages
      </Button>
    </li>
  );
}

/** The question, with its documents, has room where nothing was asked yet. It is not sent by itself. */
function NewChat({ documents }: { documents: number }) {
  const { conversation, ui } = useActions();
  const what = documents === 0 ? 'this question' : documents === 1 ? 'this document' : `these ${documents} documents`;
  return (
    <li>
      <Button
        size="small"
        data-testid="offer-new-chat"
        title="What you wrote goes along. This chat stays as it is."
        onClick={() => {
          conversation.takeToNewChat();
          ui.focusComposer();
        }}
      >
        New chat with {what}
      </Button>
    </li>
  );
}

/** About the longest document that goes whole. */
function DocumentOffers({ documents }: { documents: readonly DraftDocument[] }) {
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
            Choose {sectionsName(info)}s {named && <>of {named}</>}
          </Button>
        </li>
      )}
      <li>
        <Button
          size="small"
          data-testid="offer-passages"
          title="For each question, only the most relevant passages are included, and listed with it. Applies to this chat."
          onClick={() => actions.setPart(key, { kind: 'passages', passages: [] })}
        >
          Search {named || 'it'} for each question
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
        Send anyway, with {formatCount(contextSize - total)} left for the answer
      </Button>
    </li>
  );
}

function NoLonger({ needed, longest }: { needed: number | null; longest: number | null }) {
  const trained = useApp(selectLoadedModel)?.nCtxTrain ?? 0;
  const { ui } = useActions();
  const text =
    needed === null
      ? `This model was trained for ${formatCount(trained)} tokens. Another model may hold more, or go beyond in the settings.`
      : `A context of ${formatCount(needed)} tokens does not fit into the memory${longest ? `; the longest that does holds ${formatCount(longest)}` : ''}.`;
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-2" data-testid="no-longer">
      <span>{text}</span>
      <button
        type="button"
        className="font-medium text-accent underline underline-offset-2"
        onClick={() => ui.showSettings('memory')}
      >
        Open settings
      </button>
    </p>
  );
}

function Reloading() {
  const share = useApp(selectLoadProgress);
  return (
    <div className="mt-2 flex max-w-80 items-center gap-2 pl-6 text-xs text-ink-2">
      <span>Loading the model again</span>
      <Progress label="Loading the model again" share={share} />
    </div>
  );
}

function sizeOf(document: DraftDocument | null): number {
  return document?.info?.characters ?? -1;
}
