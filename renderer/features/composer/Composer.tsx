/** The field for the next question. It keeps its text until the services have taken it. */
import { ArrowUp, Square } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { isEmptyDraft, joinDraft, longPaste } from '../../state/conversation/draft';
import { selectChatId, selectDraftOfOpenChat, selectSending } from '../../state/conversation/selectors';
import { useDraftTokens } from '../../state/conversation/useDraftTokens';
import {
  selectConnection,
  selectEngineState,
  selectLoadedContext,
  selectLoadedModel,
} from '../../state/engine/selectors';
import { selectIsAnswering } from '../../state/stream/selectors';
import { selectFocusComposer } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Tooltip } from '../../ui/Tooltip';
import { ComposerFoot } from './ComposerFoot';
import { PastedCard } from './PastedCard';
import { sendBlock } from './sendBlock';
import { useAutoHeight } from './useAutoHeight';

export function Composer() {
  const draft = useApp(selectDraftOfOpenChat);
  const chatId = useApp(selectChatId);
  const answering = useApp(selectIsAnswering(chatId));
  const { conversation } = useActions();
  const field = useRef<HTMLTextAreaElement>(null);
  const joined = joinDraft(draft);
  const counted = useDraftTokens(joined, answering);
  const context = useApp(selectLoadedContext);
  const contextSize = context?.nCtx ?? null;
  const trained = useApp(selectLoadedModel)?.nCtxTrain ?? null;
  const block = sendBlock({
    connection: useApp(selectConnection).phase,
    engine: useApp(selectEngineState),
    empty: isEmptyDraft(draft),
    sending: useApp(selectSending),
    tokens: counted.stale ? null : counted.tokens,
    contextSize,
    trainedContext: context?.rope.kind === 'model' ? trained : null,
  });
  const focusRequest = useApp(selectFocusComposer);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another chat, or a command, moves the focus here
  useEffect(() => field.current?.focus(), [focusRequest, chatId]);
  useAutoHeight(field, draft.text);

  function send(): void {
    if (!block && !answering) void conversation.send();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  }

  function onPaste(event: ClipboardEvent): void {
    const text = event.clipboardData.getData('text/plain');
    if (text.length < longPaste) return;
    event.preventDefault();
    conversation.addPasted(text);
  }

  return (
    <form
      aria-label="Message"
      className="composer rounded-2xl border border-line-strong bg-raised shadow-card transition-colors focus-within:border-accent/50"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {draft.pasted.length > 0 && (
        <ul className="flex flex-wrap gap-2 px-3 pt-3" aria-label="Pasted texts">
          {draft.pasted.map((part) => (
            <PastedCard key={part.id} text={part.text} onRemove={() => conversation.removePasted(part.id)} />
          ))}
        </ul>
      )}
      <div className="flex items-end gap-2 py-2 pr-2 pl-4">
        <textarea
          ref={field}
          rows={1}
          value={draft.text}
          data-testid="composer"
          aria-label="Your message"
          aria-describedby="composer-status"
          placeholder={draft.pasted.length > 0 ? 'Ask about the text' : 'Ask something, or paste a long text'}
          onChange={(event) => conversation.setDraftText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className="max-h-[38vh] min-h-8 flex-1 resize-none bg-transparent py-1 text-base outline-none"
        />
        {answering ? (
          <Tooltip label="Stop the answer" keys="Esc">
            <button
              type="button"
              data-testid="stop"
              aria-label="Stop the answer"
              onClick={() => void conversation.stop()}
              className="flex size-8 shrink-0 items-center justify-center rounded-lg bg-ink text-paper transition-opacity hover:opacity-85"
            >
              <Square className="size-3 fill-current" aria-hidden="true" />
            </button>
          </Tooltip>
        ) : (
          <Tooltip label={block?.reason || 'Send'} keys={block?.reason ? undefined : 'Enter'}>
            <button
              type="submit"
              data-testid="send"
              aria-label="Send"
              aria-disabled={block !== null || undefined}
              disabled={block !== null}
              className="flex size-8 shrink-0 items-center justify-center rounded-lg bg-accent text-on-accent transition-colors hover:bg-accent-strong disabled:bg-line disabled:text-ink-3"
            >
              <ArrowUp className="size-4" aria-hidden="true" />
            </button>
          </Tooltip>
        )}
      </div>
      <ComposerFoot block={block} counted={counted} contextSize={contextSize} answering={answering} />
    </form>
  );
}
