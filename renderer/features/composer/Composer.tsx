/** The field for the next question, and its documents. It keeps both until the services have taken them. */
import { ArrowUp, Square } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { selectBudget, selectBudgetStale } from '../../state/budget/selectors';
import { selectChatId, selectDraftOfOpenChat, selectSending } from '../../state/conversation/selectors';
import { selectConnection, selectEngineState } from '../../state/engine/selectors';
import { useAskBudget } from '../../state/lib/useAskBudget';
import { selectIsAnswering } from '../../state/stream/selectors';
import { selectFocusComposer } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Tooltip } from '../../ui/Tooltip';
import { AttachButton } from './AttachButton';
import { BudgetBar } from './BudgetBar';
import { ComposerFoot } from './ComposerFoot';
import { DocumentCards } from './DocumentCards';
import { FirstActions } from './FirstActions';
import { NoFitCard } from './NoFitCard';
import { pasteOf } from './paste';
import { type SendBlock, type SendFacts, sendBlock } from './sendBlock';
import { useAutoHeight } from './useAutoHeight';

export function Composer() {
  const { text, documents } = useApp(selectDraftOfOpenChat);
  const chatId = useApp(selectChatId);
  const answering = useApp(selectIsAnswering(chatId));
  const actions = useActions();
  const field = useRef<HTMLTextAreaElement>(null);
  const facts = useSendFacts();
  const block = sendBlock(facts);
  // what does not fit can still be read part by part
  const refused = sendBlock({ ...facts, empty: false, fits: null });
  const focusRequest = useApp(selectFocusComposer);

  useAskBudget(answering);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chat, or a command, moves the focus here
  useEffect(() => field.current?.focus(), [focusRequest, chatId]);
  useAutoHeight(field, text);

  /** With documents a question that does not fit is found out before it leaves the field. */
  async function send(): Promise<void> {
    if (block || answering) return;
    await sendIfFits();
  }

  async function sendIfFits(): Promise<void> {
    if (documents.length > 0 && !(await actions.budget.fits())) return;
    await actions.conversation.send();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  }

  function onPaste(event: ClipboardEvent): void {
    const pasted = pasteOf(event.clipboardData);
    if (!pasted) return;
    event.preventDefault();
    if ('files' in pasted) void actions.documents.attachFiles(pasted.files);
    else void actions.documents.attachText(pasted.text);
  }

  return (
    <form
      aria-label="Message"
      className="composer rounded-2xl border border-line-strong bg-raised shadow-card transition-colors focus-within:border-accent/50"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {!answering && <NoFitCard />}
      <DocumentCards />
      {!answering && <FirstActions reason={refused?.reason ?? null} onAsk={sendIfFits} />}
      <div className="flex items-end gap-2 py-2 pr-2 pl-4">
        <AttachButton />
        <textarea
          dir="auto"
          ref={field}
          rows={1}
          value={text}
          data-testid="composer"
          aria-label="Your message"
          aria-describedby="composer-status"
          placeholder={documents.length > 0 ? 'Ask about the text' : 'Ask something, paste a long text or drop a file'}
          onChange={(event) => actions.conversation.setDraftText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className="max-h-[38vh] min-h-8 flex-1 resize-none bg-transparent py-1 text-base outline-none"
        />
        {answering ? <StopButton /> : <SendButton block={block} />}
      </div>
      {!answering && <BudgetBar />}
      <ComposerFoot block={block} answering={answering} />
    </form>
  );
}

function useSendFacts(): SendFacts {
  const { text, documents } = useApp(selectDraftOfOpenChat);
  const stale = useApp(selectBudgetStale);
  const budget = useApp(selectBudget);
  return {
    connection: useApp(selectConnection).phase,
    engine: useApp(selectEngineState),
    empty: text.trim() === '',
    sending: useApp(selectSending),
    documents,
    fits: stale ? null : (budget?.fits ?? null),
    unfilled: budget?.unfilled ?? null,
  };
}

function StopButton() {
  const { conversation } = useActions();
  return (
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
  );
}

function SendButton({ block }: { block: SendBlock | null }) {
  return (
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
  );
}
