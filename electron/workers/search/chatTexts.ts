/** What can be found in a chat, out of its log. A line that cannot be read costs nothing but itself; the chat store mends it. */
import { fold } from '../../contract/textSearch';

export interface FoundMessage {
  id: string;
  role: 'user' | 'assistant';
  text: string;
  folded: string;
}

interface LogLine {
  type?: unknown;
  id?: unknown;
  text?: unknown;
  message?: { id?: unknown; role?: unknown; text?: unknown; attachments?: { name?: unknown }[] };
}

/** Texts of all branches in the order of their writing, names of attached documents before the words of their message. */
export function messagesOf(log: string): FoundMessage[] {
  const texts = new Map<string, { role: 'user' | 'assistant'; names: string; text: string }>();
  for (const line of linesOf(log)) {
    const { type, message } = line;
    const id = String(type === 'message' ? message?.id : line.id);
    const known = texts.get(id);
    if (type === 'message' && message && !known) {
      const role = message.role === 'user' ? 'user' : 'assistant';
      texts.set(id, { role, names: namesOf(message.attachments), text: String(message.text ?? '') });
    } else if (type === 'partial' && known) known.text += String(line.text ?? '');
    else if (type === 'final' && known) known.text = String(message?.text ?? known.text);
  }
  return [...texts].map(([id, { role, names, text }]) => {
    const whole = names === '' ? text : `${names}\n${text}`;
    return { id, role, text: whole, folded: fold(whole) };
  });
}

function* linesOf(log: string): Generator<LogLine> {
  for (let start = 0; start < log.length; ) {
    const end = log.indexOf('\n', start);
    const line = log.slice(start, end === -1 ? undefined : end);
    start = end === -1 ? log.length : end + 1;
    try {
      const value: unknown = JSON.parse(line);
      if (value !== null && typeof value === 'object') yield value;
    } catch {
      // half a line at the end: it is being written
    }
  }
}

function namesOf(attachments: unknown): string {
  if (!Array.isArray(attachments)) return '';
  return attachments.map((one: { name?: unknown }) => String(one?.name ?? '')).join(', ');
}
