import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { ReactNode } from 'react';
import { canGoOn, type Message } from '../../../electron/contract/chats';
import { selectCanRelease, selectChat, selectIsLast } from '../../state/lib/openChat';
import { useBriefPlan } from '../../state/lib/useBriefPlan';
import { useGrowth, useRoom } from '../../state/lib/useRoom';
import { selectBudget } from '../../state/slices/budget';
import { selectLoadedContext } from '../../state/slices/engine';
import { selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { briefCostText, formatCount, growText, readAgainText, typesText } from '../../ui/format';

interface StopNoticeProps {
  message: Message;
  onRegenerate: () => void;
  onGoOn: () => void;
}

/** Why an answer ended, when it did not simply come to its end. */
export function StopNotice({ message, onRegenerate, onGoOn }: StopNoticeProps) {
  const { ui } = useActions();
  const last = useApp(selectIsLast(message.id));
  const text = stopText(message);
  if (!text) return null;
  const quiet = message.stopReason === 'cancelled';

  return (
    <div
      data-testid="stop-reason"
      data-reason={message.stopReason}
      className={cx(
        'mt-3 flex flex-wrap items-center gap-x-4 gap-y-2 text-sm',
        !quiet && 'border-s-3 py-0.5 ps-3',
        !quiet && (message.stopReason === 'error' ? 'border-bad' : 'border-warn'),
      )}
    >
      <p className="min-w-48 flex-1 text-ink-2">
        <span className={cx(!quiet && 'font-medium text-ink')}>{text.title}</span> {text.hint}
      </p>
      {last && text.action === 'room' && <RoomActions message={message} onGoOn={text.goesOn ? onGoOn : onRegenerate} />}
      {last && text.goesOn && text.action !== 'room' && (
        <Action className="needs-idle" onClick={onGoOn} testId="continue">
          <Trans>Continue</Trans>
        </Action>
      )}
      {text.action === 'settings' && (
        <Action onClick={() => ui.showSettings('memory')}>
          <Trans>Open settings</Trans>
        </Action>
      )}
      {text.action === 'again' && (
        <Action className="needs-idle" onClick={onRegenerate}>
          <Trans>Regenerate</Trans>
        </Action>
      )}
    </div>
  );
}

interface ActionProps {
  onClick: () => void;
  className?: string;
  testId?: string;
  children: ReactNode;
}

function Action({ onClick, className, testId, children }: ActionProps) {
  return (
    <Button size="small" onClick={onClick} className={className} data-testid={testId}>
      {children}
    </Button>
  );
}

// The context was too short for an answer: what makes room, and going on once there is some.

interface RoomActionsProps {
  message: Message;
  /** goes on with the answer, or begins it where there is nothing of it */
  onGoOn: () => void;
}

function RoomActions({ message, onGoOn }: RoomActionsProps) {
  const { ui, settings } = useActions();
  const overflow = useApp(selectSettings)?.overflow ?? 'stop';
  const loaded = useApp(selectLoadedContext)?.nCtx ?? 0;
  const longer = message.stats !== null && loaded > message.stats.contextSize;
  const rolls = overflow === 'roll';
  // one that was made for this answer
  const briefed = useApp(selectChat)?.briefs.some(({ createdAt }) => createdAt > message.createdAt) ?? false;
  // the composer offers the same when not even the next question would fit
  const told = useApp(selectBudget)?.fits === false;
  const releases = useApp(selectCanRelease(message.id)) && message.text !== '';

  async function letGo(): Promise<void> {
    if (await settings.update({ overflow: 'roll' })) onGoOn();
  }

  return (
    <>
      {(longer || rolls || briefed) && (
        <Button size="small" className="needs-idle" onClick={onGoOn} data-testid="continue">
          {message.text === '' ? t`Regenerate` : t`Continue`}
        </Button>
      )}
      {releases && !longer && !rolls && (
        <Button
          size="small"
          className="needs-idle"
          title={t`They leave the prompt, as few as it takes. The words of the questions and answers stay; the chat is read again from there.`}
          onClick={onGoOn}
          data-testid="release"
        >
          <Trans>Continue without passages of earlier questions</Trans>
        </Button>
      )}
      {!longer && !told && message.stats && <Offers used={message.stats.contextUsed} />}
      {!rolls && <Shorten />}
      {!rolls && (
        <Button
          size="small"
          className="needs-idle"
          title={t`From now on the oldest messages are left out of what the model reads when the context is full. The system prompt and documents stay in.`}
          onClick={() => void letGo()}
          data-testid="let-go"
        >
          <Trans>Leave out the oldest messages</Trans>
        </Button>
      )}
      <Button size="small" onClick={() => ui.showSettings('memory')}>
        <Trans>Open settings</Trans>
      </Button>
    </>
  );
}

/** A brief in place of the oldest messages; then there is room to go on. */
function Shorten() {
  const plan = useBriefPlan();
  const { briefs } = useActions();
  if (!plan) return null;
  return (
    <Button
      size="small"
      className="needs-idle"
      title={briefCostText(plan)}
      onClick={() => void briefs.make()}
      data-testid="shorten"
    >
      <Trans>Shorten the oldest messages to a brief</Trans>
    </Button>
  );
}

/** Contexts that hold what is there and an answer behind it. The model is loaded again; then the answer can go on. */
function Offers({ used }: { used: number }) {
  const { settings } = useActions();
  return useGrowth(useRoom({ total: used })).map((offer) => (
    <Button
      key={typesText(offer.typeK, offer.typeV)}
      size="small"
      className="needs-idle"
      title={t`The model is loaded again, and the chat stays. ${readAgainText(offer)}`}
      onClick={() => void settings.takeOffer({ nCtx: offer.nCtx, typeK: offer.typeK, typeV: offer.typeV })}
      data-testid="full-offer"
    >
      {growText(offer)}
    </Button>
  ));
}

interface StopText {
  title: string;
  hint: string;
  /** `room`: a longer context, or less in it */
  action: 'settings' | 'again' | 'room' | null;
  /** what there is of the answer can be continued */
  goesOn: boolean;
}

/** Words for an end that was not normal; null for a normal one. A reached limit of tokens is never blamed on the context. */
export function stopText(message: Message): StopText | null {
  const words = wordsOf(message);
  const begun = isBegun(message);
  return words && { ...words, goesOn: begun && canGoOn(message.stopReason) };
}

function isBegun({ text, thinking, summary, rounds }: Message): boolean {
  return rounds !== undefined || text !== '' || thinking !== '' || (summary !== undefined && summary.parts.length > 0);
}

function wordsOf(message: Message): Omit<StopText, 'goesOn'> | null {
  const { stopReason, stats, error } = message;
  switch (stopReason) {
    case null:
    case 'end-of-turn':
    case 'stop-string':
      return null;
    case 'max-tokens':
      return {
        // the figures of a summary are those of all its parts
        title:
          stats && !message.summary
            ? t`Stopped at the limit for one answer, after ${formatCount(stats.answerTokens)} tokens.`
            : t`Stopped at the token limit.`,
        hint: t`The limit is in the settings, under Sampling.`,
        action: 'settings',
      };
    case 'tool-rounds':
      return {
        title: t`Stopped: tools were called as many times in a row as the settings allow.`,
        hint: t`Continue it to allow as many again. The limit is with the tools in the settings.`,
        action: null,
      };
    case 'context-full':
      return {
        title:
          error?.message ??
          (stats ? t`The context of ${formatCount(stats.contextSize)} tokens is full.` : t`The context is full.`),
        hint: t`Nothing was cut. Make room, or start a new chat.`,
        action: 'room',
      };
    case 'cancelled':
      return { title: t`You stopped this answer.`, hint: '', action: null };
    case 'interrupted':
      return {
        title: t`The engine stopped in the middle of this answer.`,
        hint: isBegun(message) ? t`The partial answer was kept.` : '',
        action: 'again',
      };
    case 'error':
      return {
        title: error?.message ?? t`The answer failed.`,
        hint: error?.hint ?? '',
        action: errorAction(error?.code),
      };
  }
}

function errorAction(code: string | undefined): StopText['action'] {
  const settings = ['context-full', 'context-invalid', 'out-of-memory', 'cache-type-unsupported'];
  return code !== undefined && settings.includes(code) ? 'settings' : 'again';
}
