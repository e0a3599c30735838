/** The answer that is being written. */
import type { Message } from '../../../electron/shared/chats';
import { LiveSummary } from './LiveSummary';
import { LiveText } from './LiveText';

export function LiveAnswer({ message }: { message: Message }) {
  return message.summary ? <LiveSummary message={message} summary={message.summary} /> : <LiveText message={message} />;
}
