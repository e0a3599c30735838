/** All answers to one question beside each other, with the words that differ from the shown one. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import type { Message } from '../../../electron/contract/chats';
import { selectChat } from '../../state/lib/openChat';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { StatsTable } from './StatsLine';

interface CompareAnswersProps {
  /** the answer that is shown; the others are held against it */
  message: Message;
  onClose: () => void;
}

export default function CompareAnswers({ message, onClose }: CompareAnswersProps) {
  const { conversation } = useActions();
  const messages = useApp(selectChat)?.messages;
  const answers = useMemo(
    () => messages?.filter(({ role, parentId }) => role === 'assistant' && parentId === message.parentId) ?? [],
    [messages, message.parentId],
  );
  const compared = useMemo(
    () =>
      new Map(
        answers.map((answer) => [answer.id, answer.id === message.id ? null : compareWords(message.text, answer.text)]),
      ),
    [answers, message],
  );
  const only = answers.length === 2 ? answers.find(({ id }) => id !== message.id) : undefined;

  function show(id: string): void {
    onClose();
    if (id !== message.id) void conversation.selectBranch(id);
  }

  return (
    <Dialog
      title={t`Compare answers`}
      description={
        only
          ? t`${answers.length} answers to the same question. Marked words are not in the other one.`
          : t`${answers.length} answers to the same question. Marked words are not in the shown one.`
      }
      open
      onOpenChange={(open) => !open && onClose()}
      className="w-[calc(100%-2rem)] max-w-6xl"
      testId="compare"
    >
      <section
        className="flex min-h-0 gap-px overflow-auto rounded-b-xl bg-line max-md:flex-col"
        aria-label={t`Answers`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
        tabIndex={0}
      >
        {answers.map((answer, index) => (
          <Column
            key={answer.id}
            answer={answer}
            name={t`Version ${index + 1}`}
            shown={answer.id === message.id}
            pieces={piecesOf(answer, message.id, compared, only?.id)}
            onShow={() => show(answer.id)}
          />
        ))}
      </section>
    </Dialog>
  );
}

/** Null: could not be compared. The shown answer has marks only where there is one other. */
function piecesOf(
  { id, text }: Message,
  shownId: string,
  compared: ReadonlyMap<string, Compared | null>,
  onlyOther: string | undefined,
): Piece[] | null {
  if (id !== shownId) return compared.get(id)?.right ?? null;
  return onlyOther === undefined ? [{ text, own: false }] : (compared.get(onlyOther)?.left ?? null);
}

interface ColumnProps {
  answer: Message;
  name: string;
  shown: boolean;
  pieces: Piece[] | null;
  onShow: () => void;
}

function Column({ answer, name, shown, pieces, onShow }: ColumnProps) {
  return (
    <article
      aria-label={name}
      className="flex min-w-72 flex-1 flex-col bg-raised px-5 py-4 max-md:min-w-0 max-md:flex-none"
    >
      <h3 className="flex min-h-7 items-center gap-2 text-sm font-medium">
        {name}
        {shown && (
          <span className="text-xs font-normal text-ink-3">
            <Trans>shown in the chat</Trans>
          </span>
        )}
        {!shown && (
          <Button size="small" className="ms-auto" onClick={onShow}>
            <Trans>Show in the chat</Trans>
          </Button>
        )}
      </h3>
      {pieces === null && (
        <p className="mt-2 text-xs text-ink-3">
          <Trans>Too different to mark the words.</Trans>
        </p>
      )}
      <p dir="auto" className="lines-auto mt-2 mb-4 flex-1 text-sm leading-relaxed break-words whitespace-pre-wrap">
        {answer.text === '' && (
          <span className="text-ink-3">
            <Trans>No text.</Trans>
          </span>
        )}
        {(pieces ?? [{ text: answer.text, own: false }]).map(({ text, own }, i) =>
          own ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces of one text, in their order
            <mark key={i} className="rounded-xs bg-brass/35 text-ink">
              {text}
            </mark>
          ) : (
            text
          ),
        )}
      </p>
      <div className="border-t border-line pt-3">
        <StatsTable message={answer} />
      </div>
    </article>
  );
}

// Words that two answers do not share.

export interface Piece {
  text: string;
  /** not in the other answer */
  own: boolean;
}

export interface Compared {
  left: Piece[];
  right: Piece[];
}

/** Longer than this nobody waits; two long answers without a common word would take minutes. */
const longestMs = 400;

/** Null: the two are too different to be compared in the time. */
export function compareWords(left: string, right: string): Compared | null {
  const changes = diffWordsWithSpace(left, right, { timeout: longestMs });
  if (!changes) return null;
  return {
    left: changes.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, own: removed })),
    right: changes.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, own: added })),
  };
}
