/** What the model reads in place of the oldest messages: shown, changed and undone in their place; and one that is being written. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronDown, LoaderCircle, ScrollText, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import type { Recalled } from '../../../electron/contract/chats';
import type { Brief } from '../../../electron/contract/lib/brief';
import { limits } from '../../../electron/contract/limits';
import { selectChat } from '../../state/lib/openChat';
import { countText } from '../../state/lib/partText';
import { selectIsUnfolded, selectMaking } from '../../state/slices/briefs';
import { selectBudget } from '../../state/slices/budget';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { areaClass } from '../../ui/Field';
import { briefCostText, formatCount } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { Progress } from '../../ui/Progress';
import { useRowState } from './rowState';

export function BriefCard({ brief }: { brief: Brief }) {
  const [editing, setEditing] = useRowState(`${brief.id} editing`, false);
  const unfolded = useApp(selectIsUnfolded(brief.id));
  const { briefs } = useActions();
  const title = t`Brief of the first ${formatCount(brief.messages)} messages`;
  return (
    <section
      aria-label={title}
      data-testid="brief"
      className="mt-2 mb-5 rounded-xl border border-dashed border-line-strong bg-panel px-4 py-3"
    >
      <p className="flex flex-wrap items-baseline gap-x-2 text-sm">
        <ScrollText className="size-4 shrink-0 self-center text-accent" aria-hidden="true" />
        <span className="font-medium text-ink">{title}</span>
        <span className="text-xs text-ink-3 tabular-nums">{factsOf(brief)}</span>
      </p>
      {editing ? (
        <EditBrief brief={brief} onDone={() => setEditing(false)} />
      ) : (
        <>
          <p
            dir="auto"
            className="lines-auto mt-2 max-h-64 overflow-y-auto text-sm break-words whitespace-pre-wrap text-ink-2"
            // it scrolls
            // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
            tabIndex={0}
            data-testid="brief-text"
          >
            {brief.text}
          </p>
          <p className="mt-2 text-xs text-ink-3">
            <Trans>The model reads this in place of these messages. They stay in the chat and in its search.</Trans>
          </p>
          <div className="mt-2 flex flex-wrap gap-1.5">
            <Button
              size="small"
              aria-expanded={unfolded}
              onClick={() => briefs.unfold(unfolded ? null : brief.id)}
              data-testid="brief-unfold"
            >
              {unfolded ? t`Hide the messages` : t`Show the messages`}
            </Button>
            <Button size="small" className="needs-idle" onClick={() => setEditing(true)} data-testid="brief-edit">
              <Trans>Edit</Trans>
            </Button>
            <Button
              size="small"
              className="needs-idle"
              title={t`The model reads the messages again, with the next question.`}
              onClick={() => void briefs.remove(brief)}
              data-testid="brief-undo"
            >
              <Trans>Undo: use the messages again</Trans>
            </Button>
          </div>
        </>
      )}
    </section>
  );
}

function factsOf({ tokens, replaced, edited, modelName }: Brief): string {
  const [short, long] = [formatCount(tokens), formatCount(replaced)];
  if (edited) return t`${short} tokens in place of ${long}, changed by you`;
  if (modelName) return t`${short} tokens in place of ${long}, written by ${modelName}`;
  return t`${short} tokens in place of ${long}`;
}

function EditBrief({ brief, onDone }: { brief: Brief; onDone: () => void }) {
  const [text, setText] = useRowState(`${brief.id} edited`, brief.text);
  const behind = useApp(selectBudget)?.history ?? null;
  const { briefs } = useActions();
  const changed = text.trim() !== '' && text.trim() !== brief.text;

  async function save(): Promise<void> {
    if (await briefs.edit(brief.id, text.trim())) onDone();
  }

  return (
    <form
      className="mt-2 grid gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <textarea
        dir="auto"
        aria-label={t`Text of the brief`}
        data-testid="brief-field"
        className={areaClass}
        rows={8}
        maxLength={limits.maxBrief}
        // The person asked to edit: the field is what they want next.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p className="me-auto text-xs text-ink-3" data-testid="brief-price">
          {behind === null
            ? t`After a change the chat is read again from here, with the next question.`
            : t`After a change about ${formatCount(behind)} tokens are read again, with the next question.`}
        </p>
        <Button
          size="small"
          tone="quiet"
          onClick={() => {
            setText(brief.text);
            onDone();
          }}
        >
          <Trans>Cancel</Trans>
        </Button>
        <Button size="small" tone="primary" type="submit" disabled={!changed} data-testid="brief-save">
          <Trans>Save</Trans>
        </Button>
      </div>
    </form>
  );
}

/** Above the composer: a brief that is being written, or why there is none. */
export function BriefMaking({ chatId }: { chatId: string }) {
  const making = useApp(selectMaking(chatId));
  const { briefs } = useActions();
  const [shown, setShown] = useState(false);
  if (!making) return null;
  const { plan, read, text, end } = making;
  if (end) {
    return (
      <div
        role="alert"
        data-testid="brief-problem"
        className="rise mb-2 flex items-center gap-2 rounded-xl bg-warn-soft px-3.5 py-2.5 text-sm text-ink"
      >
        <TriangleAlert className="size-4 shrink-0 text-warn" aria-hidden="true" />
        <span className="min-w-0 flex-1 break-words">
          <Trans>No brief was made.</Trans> {end.problem}
        </span>
        <Button size="small" tone="quiet" onClick={() => briefs.forget(chatId)}>
          <Trans>Close</Trans>
        </Button>
      </div>
    );
  }
  const what = t`Shortening the first ${formatCount(plan.messages)} messages to a brief`;
  return (
    <section
      aria-label={what}
      data-testid="brief-making"
      className="rise mb-2 grid gap-1.5 rounded-xl border border-dashed border-line-strong bg-panel px-3.5 py-2.5 text-sm"
    >
      <div className="flex items-center gap-2">
        <LoaderCircle className="size-4 shrink-0 animate-spin text-accent" aria-hidden="true" />
        <p role="status" className="min-w-0 flex-1 text-ink">
          {what}
        </p>
        <Button size="small" onClick={() => briefs.cancel(chatId)} data-testid="brief-cancel">
          <Trans>Cancel</Trans>
        </Button>
      </div>
      {text === '' ? (
        <Progress label={t`Reading`} share={read} />
      ) : (
        <Written text={text} shown={shown} onShow={setShown} />
      )}
      <p className="text-xs text-ink-3">
        {briefCostText(plan)} <Trans>What you send meanwhile waits for it.</Trans>
      </p>
    </section>
  );
}

function Written({ text, shown, onShow }: { text: string; shown: boolean; onShow: (shown: boolean) => void }) {
  return (
    <button
      type="button"
      aria-expanded={shown}
      onClick={() => onShow(!shown)}
      className={shown ? 'text-start text-xs break-words text-ink-2' : 'truncate text-start text-xs text-ink-2'}
    >
      {shown ? text : text.slice(-200)}
    </button>
  );
}

/** characters of a stretch that are shown of it */
const firstWords = 160;

/** What came back of the messages that a brief stands for, above the question that it fits; each leads to its message. */
export function RecalledChip({ recalled }: { recalled: readonly Recalled[] }) {
  const chat = useApp(selectChat);
  const { conversation } = useActions();
  const [open, setOpen] = useState(false);
  const count = countText(recalled.length, 'passage');
  return (
    <div className="mb-1.5 max-w-[88%]">
      <Popover
        label={t`From earlier in this chat`}
        align="end"
        className="max-h-96 w-80 p-2"
        open={open}
        onOpenChange={setOpen}
        trigger={
          <button
            type="button"
            data-testid="recalled"
            className="flex max-w-full items-center gap-1.5 rounded-full border border-line bg-raised px-2.5 py-1 text-xs text-ink-2 transition-colors hover:border-accent/60 hover:text-ink aria-expanded:border-accent/60"
          >
            <ScrollText className="size-3.5 shrink-0 text-accent" aria-hidden="true" />
            <span className="truncate font-medium">
              <Trans>From earlier in this chat</Trans>
            </span>
            <span className="shrink-0 text-ink-3">{count}</span>
            <ChevronDown className="size-3 shrink-0" aria-hidden="true" />
          </button>
        }
      >
        <p className="mb-1 border-b border-line px-2 pt-1 pb-2 text-xs text-ink-2">
          <Trans>These stretches of the shortened messages fit the question best. The model read them before it.</Trans>
        </p>
        <ol className="text-sm">
          {recalled.map(({ messageId, start, end }) => {
            const message = chat?.messages.find(({ id }) => id === messageId);
            return (
              <li key={`${messageId} ${start}`}>
                <button
                  type="button"
                  data-testid="recalled-part"
                  className="w-full rounded-md px-2 py-1 text-start text-ink hover:bg-hover"
                  onClick={() => {
                    setOpen(false);
                    if (chat) void conversation.showMessage(chat.id, messageId, '');
                  }}
                >
                  <span className="block">{message?.role === 'user' ? t`Your question` : t`Answer`}</span>
                  <span dir="auto" className="line-clamp-2 text-xs break-words text-ink-3">
                    {message?.text.slice(start, Math.min(end, start + firstWords))}
                  </span>
                </button>
              </li>
            );
          })}
        </ol>
      </Popover>
    </div>
  );
}
