/** The context was too short for an answer: what makes room, and going on once there is some. */
import type { Message } from '../../../electron/contract/chats';
import { selectBudget } from '../../state/budget/selectors';
import { selectCanRelease } from '../../state/conversation/selectors';
import { selectLoadedContext } from '../../state/engine/selectors';
import { useRoom } from '../../state/lib/useRoom';
import { selectSettings } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { typesText } from '../../ui/fitText';
import { formatBytes, formatCount } from '../../ui/format';

interface RoomActionsProps {
  message: Message;
  /** goes on with the answer, or begins it where there is nothing of it */
  onGoOn: () => void;
}

export function RoomActions({ message, onGoOn }: RoomActionsProps) {
  const { ui, settings } = useActions();
  const overflow = useApp(selectSettings)?.overflow ?? 'stop';
  const loaded = useApp(selectLoadedContext)?.nCtx ?? 0;
  const longer = message.stats !== null && loaded > message.stats.contextSize;
  const rolls = overflow === 'roll';
  // the composer offers the same when not even the next question would fit
  const told = useApp(selectBudget)?.fits === false;
  const releases = useApp(selectCanRelease(message.id)) && message.text !== '';

  async function letGo(): Promise<void> {
    if (await settings.update({ overflow: 'roll' })) onGoOn();
  }

  return (
    <>
      {(longer || rolls) && (
        <Button size="small" className="needs-idle" onClick={onGoOn} data-testid="continue">
          {message.text === '' ? 'Regenerate' : 'Continue'}
        </Button>
      )}
      {releases && !longer && !rolls && (
        <Button
          size="small"
          className="needs-idle"
          title="They leave the prompt, as few as it takes. The words of the questions and answers stay; the chat is read again from there."
          onClick={onGoOn}
          data-testid="release"
        >
          Continue without passages of earlier questions
        </Button>
      )}
      {!longer && !told && message.stats && <Offers used={message.stats.contextUsed} />}
      {!rolls && (
        <Button
          size="small"
          className="needs-idle"
          title="From now on the oldest messages are left out of what the model reads when the context is full. The system prompt and documents stay in."
          onClick={() => void letGo()}
          data-testid="let-go"
        >
          Leave out the oldest messages
        </Button>
      )}
      <Button size="small" onClick={() => ui.setSettings(true)}>
        Open settings
      </Button>
    </>
  );
}

/** Contexts that hold what is there and an answer behind it. The model is loaded again; then the answer can go on. */
function Offers({ used }: { used: number }) {
  const { settings } = useActions();
  const room = useRoom({ total: used });
  return room?.offers.map(({ typeK, typeV, nCtx, bytes }) => (
    <Button
      key={typesText(typeK, typeV)}
      size="small"
      className="needs-idle"
      title="Weights, cache and buffers. The model is loaded again, and the chat stays."
      onClick={() => void settings.takeOffer({ nCtx, typeK, typeV })}
      data-testid="full-offer"
    >
      {formatCount(nCtx)} tokens, {typesText(typeK, typeV)}: fits, {formatBytes(bytes)}
    </Button>
  ));
}
