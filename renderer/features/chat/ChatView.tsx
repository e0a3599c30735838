/** The middle of the window: messages or the welcome, what went wrong, and below them the composer. */
import { LoaderCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { selectChat, selectOpeningId } from '../../state/conversation/selectors';
import { selectFormerBuiltIn } from '../../state/models/selectors';
import { selectFindOpen } from '../../state/ui/selectors';
import { useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { FindBar } from './FindBar';
import { MessageList } from './MessageList';
import { ProblemBanner } from './ProblemBanner';
import { Welcome } from './Welcome';

export function ChatView({ composer }: { composer: ReactNode }) {
  const chat = useApp(selectChat);
  const findOpen = useApp(selectFindOpen);
  const opening = useApp(selectOpeningId) !== null;
  const formerBuiltIn = useApp(selectFormerBuiltIn);

  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      {chat && chat.messages.length > 0 ? <MessageList key={chat.id} chat={chat} /> : <Welcome />}
      {findOpen && chat && chat.messages.length > 0 && <FindBar key={`find ${chat.id}`} chat={chat} />}
      {opening && (
        <p
          role="status"
          className="absolute top-3 left-1/2 flex -translate-x-1/2 items-center gap-2 rounded-full bg-raised px-3 py-1 text-xs text-ink-2 shadow-pop"
        >
          <LoaderCircle className="size-3.5 animate-spin" aria-hidden="true" />
          Opening the chat
        </p>
      )}
      <div className="mx-auto w-full max-w-3xl px-4 pb-3 sm:px-6">
        {chat && chat.damagedLines > 0 && (
          <Banner
            tone="warn"
            title={
              chat.damagedLines === 1
                ? 'A damaged entry of this chat could not be read.'
                : `${chat.damagedLines} damaged entries of this chat could not be read.`
            }
            className="mb-2"
          >
            {chat.damagedLines === 1 ? 'It was' : 'They were'} set aside; all other messages are here.
          </Banner>
        )}
        {formerBuiltIn !== null && (
          <p className="mb-2 text-center text-xs text-ink-3" role="status" data-testid="former-model">
            {formerBuiltIn} is no longer built in. The new built-in model answers from here on.
          </p>
        )}
        <ProblemBanner />
        {composer}
      </div>
    </div>
  );
}
