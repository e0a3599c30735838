import { memo } from 'react';
import type { Message } from '../../../electron/shared/chats';
import { AssistantMessage } from './AssistantMessage';
import { UserMessage } from './UserMessage';

export interface RowProps {
  message: Message;
  /** place among the branches that start here, flat so that the memo below can compare it */
  index: number;
  count: number;
  previousId: string | null;
  nextId: string | null;
  /** what an answer can cite, as `documentsAlong` writes it */
  documents: string;
  /** as `releasedAlong` tells it */
  released: number;
}

/** Finished messages keep their object, so a long chat renders only the row that changed. */
export const MessageRow = memo(function MessageRow(props: RowProps) {
  return props.message.role === 'user' ? <UserMessage {...props} /> : <AssistantMessage {...props} />;
});
