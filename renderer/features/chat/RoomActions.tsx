/** The context was too short for an answer: what makes room, and going on once there is some. */
import type { Message } from '../../../electron/shared/chats';
import { selectLoadedContext } from '../../state/engine/selectors';
import { selectSettings } from '../../state/settings/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';

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

  async function letGo(): Promise<void> {
    if (await settings.update({ overflow: 'roll' })) onGoOn();
  }

  return (
    <>
      {(longer || rolls) && (
        <Button size="small" className="needs-idle" onClick={onGoOn} data-testid="continue">
          {message.text === '' ? 'Answer again' : 'Continue'}
        </Button>
      )}
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
