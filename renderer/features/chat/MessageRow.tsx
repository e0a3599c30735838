import { memo } from 'react';
import { AssistantMessage } from './AssistantMessage';
import type { RowProps } from './rowState';
import { UserMessage } from './UserMessage';

/** Finished messages keep their object, so a long chat renders only the row that changed. */
export const MessageRow = memo(function MessageRow(props: RowProps) {
  return props.message.role === 'user' ? <UserMessage {...props} /> : <AssistantMessage {...props} />;
});
