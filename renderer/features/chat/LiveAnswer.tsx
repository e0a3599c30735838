/** The answer that is being written. */
import type { Message } from '../../../electron/contract/chats';
import { LiveSummary } from './LiveSummary';
import { LiveText } from './LiveText';

export function LiveAnswer({ message }: { message: Message }) {
  return message.summary ? <LiveSummary message={message} summary={message.summary} /> : <LiveText message={message} />;
}
