/** The field for the next question, and its documents. It keeps both until the services have taken them. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ArrowUp, Paperclip, Square } from 'lucide-react';
import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';
import type { LiveStats } from '../../../electron/contract/engine';
import type { DraftDocument } from '../../state/appState';
import { questionHint, useBeyondSenses } from '../../state/lib/media';
import { pathTo } from '../../state/lib/messageTree';
import { longPaste, selectChat, selectChatId, selectDraftOfOpenChat, selectSending } from '../../state/lib/openChat';
import { budgetKey, selectBudget, selectBudgetStale } from '../../state/slices/budget';
import { selectCheckedDepth } from '../../state/slices/compare';
import { selectDraftDocuments, selectLocked } from '../../state/slices/documents';
import {
  selectCanAnswer,
  selectConnection,
  selectEngineState,
  selectHeadless,
  selectLoadedContext,
  selectResting,
  waitsFor,
} from '../../state/slices/engine';
import { readingRate, selectIsAnswering, selectPhase } from '../../state/slices/live';
import { selectFocusComposer } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { useFileInput } from '../../ui/Field';
import { formatCount, typesText } from '../../ui/format';
import { useAutoHeight } from '../../ui/hooks';
import { keyLabel, Tooltip } from '../../ui/Tooltip';
import { BudgetBar, BudgetMeter, leavingText } from './BudgetBar';
import { DocumentCards } from './DocumentCard';
import { FirstActions } from './FirstActions';
import { NoFitCard } from './NoFitCard';
import { ShelfButton } from './ShelfItems';
import { type SendBlock, type SendFacts, sendBlock } from './sendBlock';

/** `tools`: beside the other buttons. */
export function Composer({ tools }: { tools?: ReactNode }) {
  const { text, documents } = useApp(selectDraftOfOpenChat);
  const chatId = useApp(selectChatId);
  const answering = useApp(selectIsAnswering(chatId));
  const actions = useActions();
  const field = useRef<HTMLTextAreaElement>(null);
  const facts = useSendFacts();
  // what follows the answer that is being written is not counted yet: it may fit when its turn comes
  const block = sendBlock(answering ? { ...facts, fits: null } : facts);
  // what does not fit can still be read part by part
  const refused = sendBlock({ ...facts, empty: false, fits: null });
  const focusRequest = useApp(selectFocusComposer);

  useAskBudget(answering);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chat, or a command, moves the focus here
  useEffect(() => field.current?.focus(), [focusRequest, chatId]);
  useAutoHeight(field, text);

  /** With documents a question that does not fit is found out before it leaves the field. */
  async function send(): Promise<void> {
    if (block) return;
    if (answering) await actions.conversation.send();
    else await sendIfFits();
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
      aria-label={t`Message`}
      className="composer rounded-2xl border border-line-strong bg-raised shadow-card transition-colors focus-within:border-accent/50"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {/* however much it is, and however low the window, the field stays in view */}
      <div className="max-h-[max(8rem,calc(100vh-15rem))] overflow-y-auto">
        {!answering && <NoFitCard />}
        <DocumentCards />
        <Several />
        {!answering && <FirstActions reason={refused?.reason ?? null} onAsk={sendIfFits} />}
      </div>
      <div className="flex items-end gap-2 py-2 pe-2 ps-4">
        <AttachButton />
        <ShelfButton />
        {tools}
        <textarea
          dir="auto"
          ref={field}
          rows={1}
          value={text}
          data-testid="composer"
          aria-label={t`Your message`}
          aria-describedby="composer-status"
          placeholder={documents.length > 0 ? askAbout(documents) : t`Ask something, paste a long text or drop a file`}
          onChange={(event) => actions.conversation.setDraftText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className="max-h-[38vh] min-h-8 flex-1 resize-none bg-transparent py-1 text-base outline-none"
        />
        {(!answering || !facts.empty) && <SendButton block={block} waits={answering} />}
        {answering && <StopButton />}
      </div>
      {!answering && <BudgetBar />}
      <BeyondCheck />
      <ComposerFoot block={block} answering={answering} written={!facts.empty} />
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
    resting: useApp(selectResting),
    empty: text.trim() === '',
    sending: useApp(selectSending),
    documents,
    locked: useApp(selectLocked),
    beyond: useBeyondSenses(),
    fits: stale ? null : (budget?.fits ?? null),
    unfilled: budget?.unfilled ?? null,
  };
}

function StopButton() {
  const { conversation } = useActions();
  return (
    <Tooltip label={t`Stop the answer`} keys="Esc">
      <button
        type="button"
        data-testid="stop"
        aria-label={t`Stop the answer`}
        onClick={() => void conversation.stop()}
        className="flex size-8 shrink-0 items-center justify-center rounded-lg bg-ink text-paper transition-opacity hover:opacity-85"
      >
        <Square className="size-3 fill-current" aria-hidden="true" />
      </button>
    </Tooltip>
  );
}

/** `waits`: what is sent goes behind the answer that is being written. */
function SendButton({ block, waits }: { block: SendBlock | null; waits: boolean }) {
  const label = waits ? t`Send after this answer` : t`Send`;
  return (
    <Tooltip label={block?.reason || label} keys={block?.reason ? undefined : 'Enter'}>
      <button
        type="submit"
        data-testid="send"
        aria-label={label}
        aria-disabled={block !== null || undefined}
        disabled={block !== null}
        className="flex size-8 shrink-0 items-center justify-center rounded-lg bg-accent text-on-accent transition-colors hover:bg-accent-strong disabled:bg-line disabled:text-ink-3"
      >
        <ArrowUp className="size-4" aria-hidden="true" />
      </button>
    </Tooltip>
  );
}

// Keeps the budget of what is being written current. One component calls it; everyone reads it.

const restMs = 300;

/** `paused`: an answer is being written, and what follows it is not known yet. One count at a time. */
function useAskBudget(paused: boolean): void {
  const { budget } = useActions();
  const key = useApp(budgetKey);
  const able = useApp(selectCanAnswer) && !paused;
  const running = useRef<Promise<unknown>>(Promise.resolve());

  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for the chat, the draft and the model
  useEffect(() => {
    if (!able) return;
    let dropped = false;
    const timer = setTimeout(() => {
      running.current = running.current.then(() => (dropped ? undefined : budget.ask()));
    }, restMs);
    return () => {
      dropped = true;
      clearTimeout(timer);
    };
  }, [able, key, budget]);
}

/** The native dialog where there is one: it names files without reading them. A browser sends what is chosen. */
function AttachButton() {
  const headless = useApp(selectHeadless);
  const { documents, ui } = useActions();
  const { input, ask } = useFileInput((files) => void documents.attachFiles(files), {
    multiple: true,
    'data-testid': 'attach-input',
  });

  async function choose(): Promise<void> {
    if (headless) ask();
    else await documents.attachFromDialog();
    ui.focusComposer();
  }

  return (
    <>
      <IconButton
        label={t`Attach documents`}
        icon={<Paperclip />}
        onClick={() => void choose()}
        data-testid="attach"
        className="-ms-2"
      />
      {headless && input}
    </>
  );
}

interface FootProps {
  block: SendBlock | null;
  answering: boolean;
  written: boolean;
}

/** The line below the field: why nothing can be sent, or how; and the tokens that the next question makes. */
function ComposerFoot({ block, answering, written }: FootProps) {
  const { ui } = useActions();
  const waits = waitsFor(useApp(selectEngineState), useApp(selectResting));
  const reason = statusText(block, waits, useLeaving());
  const now = useAnsweringText();
  const after = block?.reason ?? t`${keyLabel('Enter')} sends the message after it`;

  return (
    <div className="flex min-h-6 items-start justify-between gap-4 px-4 pb-2 text-xs text-ink-3">
      <p id="composer-status" role="status" data-testid="composer-status">
        {answering ? `${now}${written ? ` ${after}.` : ''}` : reason || hintText()}
        {!answering && block?.action === 'models' && (
          <>
            {'. '}
            <button
              type="button"
              onClick={() => ui.setPicker(true)}
              className="font-medium text-accent underline underline-offset-2"
            >
              <Trans>Choose a model</Trans>
            </button>
          </>
        )}
      </p>
      {!answering && <BudgetMeter />}
    </div>
  );
}

/** Only where the types in use were checked with this model, and the prompt is longer than that. */
function BeyondCheck() {
  const depth = useApp(selectCheckedDepth);
  const budget = useApp(selectBudget);
  const context = useApp(selectLoadedContext);
  if (depth === null || !budget || !context || budget.total <= depth) return null;
  const types = typesText(context.typeK.asked, context.typeV.asked);
  return (
    <p role="status" className="px-4 pb-1 text-xs text-ink-3" data-testid="beyond-check">
      <Trans>
        This chat is longer than the {formatCount(depth)} tokens up to which {types} was checked with this model.
      </Trans>
    </p>
  );
}

/** What sending would make leave the prompt. */
function useLeaving(): string | null {
  const budget = useApp(selectBudget);
  const messages = useApp(selectChat)?.messages;
  const rate = useMemo(() => readingRate(messages ?? []), [messages]);
  return budget && leavingText(budget, rate);
}

/** What the answer of the open chat is at, and how it is stopped. */
function useAnsweringText(): string {
  const chat = useApp(selectChat);
  const phase = useApp(selectPhase(chat?.id ?? null));
  const question = useMemo(
    () => chat && pathTo(chat.messages, chat.leafId).findLast(({ role }) => role === 'user'),
    [chat],
  );
  const last = chat?.messages.find(({ id }) => id === chat.leafId);
  const asks = last?.rounds?.at(-1)?.calls.some(({ state }) => state === 'asking') ?? false;
  const now = asks ? t`A call waits for your decision.` : answeringText(phase, question?.attachments.length ?? 0);
  return `${now} ${t`${keyLabel('Esc')} stops.`}`;
}

function answeringText(phase: LiveStats['phase'] | null, documents: number): string {
  if (phase === 'queued') return t`Waiting for another answer.`;
  if (phase !== 'prefill') return t`Writing the answer.`;
  return plural(documents, {
    0: 'Reading, then answering.',
    one: 'Reading the document, then answering.',
    other: 'Reading the documents, then answering.',
  });
}

const many = 4;

/** Beside many cards, what would take many clicks. */
function Several() {
  const documents = useApp(selectDraftDocuments);
  const actions = useActions().documents;
  const failed = documents.filter(({ error }) => error !== null);
  if (documents.length < many) return null;
  function remove(which: readonly DraftDocument[]): void {
    for (const { key } of which) actions.remove(key);
  }
  return (
    <div className="flex flex-wrap gap-1.5 px-3 pt-1.5">
      {failed.length > 0 && failed.length < documents.length && (
        <Button size="small" data-testid="remove-failed" onClick={() => remove(failed)}>
          {plural(failed.length, {
            one: 'Remove the one that could not be read',
            other: 'Remove the # that could not be read',
          })}
        </Button>
      )}
      <Button size="small" tone="quiet" data-testid="remove-documents" onClick={() => remove(documents)}>
        <Trans>Remove all {documents.length} documents</Trans>
      </Button>
    </div>
  );
}

function hintText(): string {
  return t`${keyLabel('Enter')} sends, ${keyLabel('Shift+Enter')} starts a new line`;
}

type Clipboard = Pick<DataTransfer, 'getData' | 'files'>;

/**
 * What of a paste becomes a document; null: it is for the text field. Where there are words they win: a word processor puts
 * a picture of them beside.
 */
export function pasteOf(clipboard: Clipboard): { text: string } | { files: File[] } | null {
  const text = clipboard.getData('text/plain');
  if (text.length > longPaste) return { text };
  return text === '' && clipboard.files.length > 0 ? { files: [...clipboard.files] } : null;
}

function askAbout(documents: Parameters<typeof questionHint>[0]): string {
  const hint = { text: t`Ask about the text`, image: t`Ask about the image`, sound: t`Ask about the sound` };
  return hint[questionHint(documents)];
}

/** For the line below the field. `waits`: what the engine is at. `leaving`: what leaves the prompt if the question is sent. */
function statusText(sending: SendBlock | null, waits: string | null, leaving: string | null): string | null {
  if (sending?.reason) return sending.reason;
  if (waits) return waits;
  return sending === null ? leaving : null;
}
