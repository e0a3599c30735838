/** All commands and chats by name: type, choose with the arrow keys, Enter. */

import { plural, t } from '@lingui/core/macro';
import { MessageSquare } from 'lucide-react';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import type { ChatSummary } from '../../../electron/contract/chats';
import { type Command, type CommandId, commands } from '../../../electron/contract/lib/commands';
import { fold, searchWords } from '../../../electron/contract/lib/textSearch';
import { selectChatList } from '../../state/slices/chats';
import { selectDialog } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { Dialog } from '../../ui/Dialog';
import { Kbd } from '../../ui/Tooltip';

const mostChats = 30;

export function Palette({ onCommand }: { onCommand: (id: CommandId) => void }) {
  const open = useApp(selectDialog) === 'palette';
  const { ui } = useActions();
  /** what is done when the palette is gone: it may move the focus */
  const chosen = useRef<(() => void) | null>(null);

  return (
    <Dialog
      title={t`Commands and chats`}
      description={t`Type a part of the name. The arrow keys choose, Enter opens.`}
      open={open}
      onOpenChange={(next) => ui.showDialog(next ? 'palette' : null)}
      onClosed={() => {
        chosen.current?.();
        chosen.current = null;
      }}
      // its upper edge stays while the list changes
      className="mt-[12vh] max-w-[34rem]"
      testId="palette"
    >
      <PaletteBody
        onCommand={onCommand}
        onChoose={(action) => {
          chosen.current = action;
          ui.showDialog(null);
        }}
      />
    </Dialog>
  );
}

interface Entry {
  id: string;
  label: string;
  keys?: string | undefined;
  isChat: boolean;
  run: () => void;
}

interface BodyProps {
  onCommand: (id: CommandId) => void;
  onChoose: (action: () => void) => void;
}

function PaletteBody({ onCommand, onChoose }: BodyProps) {
  const chats = useApp(selectChatList) ?? [];
  const { compare, conversation, ui } = useActions();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();

  const found = paletteEntries(query, chats);
  const entries: Entry[] = [
    ...found.commands.map((command) => ({ ...command, isChat: false, run: () => onCommand(command.id) })),
    ...found.chats.map((chat) => ({ id: chat.id, label: chat.title, isChat: true, run: () => openChat(chat.id) })),
  ];
  const current = Math.min(at, entries.length - 1);
  const optionId = (index: number) => `${id}-${index}`;

  function openChat(chatId: string): void {
    compare.close();
    void conversation.open(chatId);
    ui.focusComposer();
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: another one is current, or another list
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [current, query]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && entries.length > 0) {
      event.preventDefault();
      setAt((current + step + entries.length) % entries.length);
    }
    const entry = entries[current];
    if (event.key === 'Enter' && entry) {
      event.preventDefault();
      onChoose(entry.run);
    }
  }

  return (
    <>
      <input
        dir="auto"
        type="text"
        role="combobox"
        data-first-focus
        data-testid="palette-field"
        aria-label={t`Command or chat`}
        aria-expanded
        aria-controls={`${id}-list`}
        aria-activedescendant={entries.length > 0 ? optionId(current) : undefined}
        aria-autocomplete="list"
        placeholder={t`Command or chat`}
        autoComplete="off"
        spellCheck={false}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
        className="border-b border-line bg-transparent px-5 py-3 text-base outline-none"
      />
      <div
        ref={list}
        id={`${id}-list`}
        role="listbox"
        aria-label={t`Commands and chats`}
        className="max-h-[min(24rem,55vh)] min-h-10 overflow-y-auto p-2"
      >
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
          // biome-ignore lint/a11y/useFocusableInteractive: as above; aria-activedescendant names the current one
          <div
            key={entry.id}
            id={optionId(index)}
            role="option"
            aria-selected={index === current}
            data-testid="palette-entry"
            onClick={() => onChoose(entry.run)}
            onMouseMove={() => setAt(index)}
            className={cx(
              'flex h-8 cursor-default items-center gap-2 rounded-md px-3',
              index === current ? 'bg-accent-soft text-ink' : 'text-ink-2',
            )}
          >
            {entry.isChat && <MessageSquare className="size-4 shrink-0 text-ink-3" aria-label={t`Chat:`} />}
            <span dir="auto" className="min-w-0 flex-1 truncate">
              {entry.label}
            </span>
            {entry.keys && <Kbd keys={entry.keys} />}
          </div>
        ))}
      </div>
      <p role="status" className={cx('px-5 pb-4 text-ink-3', entries.length > 0 && 'sr-only')}>
        {plural(entries.length, { 0: 'Nothing has this name.', one: '# found', other: '# found' })}
      </p>
    </>
  );
}

type Named = Pick<ChatSummary, 'id' | 'title' | 'updatedAt'>;

/** Those that have all words of the query, whatever their case; of chats the newest, so many as can be looked through. */
export function paletteEntries<C extends Named>(
  query: string,
  chats: readonly C[],
): { commands: Command[]; chats: C[] } {
  const words = searchWords(query);
  const fits = (text: string) => words.every((word) => fold(text).includes(word));
  return {
    commands: commands.filter(({ id, label }) => id !== 'palette' && fits(label)),
    chats: chats
      .filter(({ title }) => fits(title))
      .sort((a, b) => b.updatedAt - a.updatedAt)
      .slice(0, mostChats),
  };
}
