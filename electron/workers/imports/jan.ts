/**
 * Chats of Jan: a folder for each in `threads/`, with `thread.json` (title, assistant) and `messages.jsonl` (a message a line), as
 * docs/docs/specs/threads.md and messages.md of github.com/janhq/jan describe them. The messages alone are enough.
 */

import { z } from 'zod';
import {
  attachedText,
  type ForeignChat,
  type ForeignNode,
  list,
  missing,
  momentOf,
  nothingLost,
  objects,
  text,
  whatever,
  withoutThinkTags,
} from './chatTree';

const wordsSchema = z.union([z.string(), z.object({ value: text }).transform(({ value }) => value)]).catch('');

const messageSchema = z.object({
  id: text,
  thread_id: z.string().min(1),
  role: text,
  content: z.union([z.string(), objects(z.object({ type: text, text: wordsSchema }))]).catch([]),
  created_at: whatever,
  attachments: list,
  metadata: z
    .object({ tool_calls: list, inline_file_contents: objects(z.object({ name: text, content: text })) })
    .partial()
    .catch({}),
});
type JanMessage = z.infer<typeof messageSchema>;

const threadSchema = z.object({
  id: z.string().min(1),
  title: text,
  created: whatever,
  updated: whatever,
  assistants: objects(z.object({ instructions: text, model: z.object({ id: text }).catch({ id: '' }) })),
});

/** Gathers what belongs together, in whatever order the files come. */
export class JanThreads {
  /** of threads that have messages */
  private readonly messages = new Map<string, JanMessage[]>();
  private readonly threads = new Map<string, z.infer<typeof threadSchema>>();

  /** Throws on what is no message. */
  addMessage(value: unknown): void {
    const message = messageSchema.parse(value);
    const others = this.messages.get(message.thread_id);
    if (others) others.push(message);
    else this.messages.set(message.thread_id, [message]);
  }

  /** Throws on what is no thread. */
  addThread(value: unknown): void {
    const thread = threadSchema.parse(value);
    this.threads.set(thread.id, thread);
  }

  /** A thread without messages is a chat without messages. */
  read(): ForeignChat[] {
    const ids = new Set([...this.messages.keys(), ...this.threads.keys()]);
    return [...ids].map((id) => this.readThread(id));
  }

  private readThread(id: string): ForeignChat {
    const thread = this.threads.get(id);
    const assistant = thread?.assistants[0];
    const messages = inOrder(this.messages.get(id) ?? []);
    const reader = new Reader();
    const system = messages.find(({ role }) => role === 'system');
    return {
      app: 'jan',
      id,
      title: thread?.title ?? '',
      createdAt: momentOf(thread?.created),
      updatedAt: momentOf(thread?.updated),
      systemPrompt: assistant?.instructions || (system && reader.read(system).text) || '',
      nodes: messages.map((message, index) => ({
        ...reader.read(message),
        key: message.id || String(index),
        parent: index === 0 ? null : messages[index - 1]?.id || String(index - 1),
        at: momentOf(message.created_at),
        model: message.role === 'assistant' ? (assistant?.model.id ?? '') : '',
      })),
      lost: reader.lost,
    };
  }
}

/** By time where all say one: versions of Jan write the newest first. A message that was written again counts once, as it is last. */
function inOrder(messages: readonly JanMessage[]): JanMessage[] {
  const byId = new Map(messages.map((message, index) => [message.id || index, message]));
  const each = [...byId.values()];
  const times = each.map(({ created_at }) => momentOf(created_at));
  if (times.some((at) => at === null)) return each;
  return each
    .map((message, n) => ({ message, at: times[n] ?? 0 }))
    .sort((a, b) => a.at - b.at)
    .map(({ message }) => message);
}

class Reader {
  readonly lost = nothingLost();

  read({ role, content, attachments, metadata }: JanMessage): Pick<ForeignNode, 'role' | 'text' | 'thinking'> {
    const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const inline = metadata.inline_file_contents ?? [];
    const files = inline.map(({ name, content: words }) => attachedText(name, words));
    const calls = parts.filter(({ type }) => type === 'tool_call').length;
    this.lost.tools += Math.max(calls, metadata.tool_calls?.length ?? 0);
    const absent = Math.max(0, attachments.length - inline.length);
    this.lost.files += absent;
    const marks = Array.from({ length: absent }, () => missing('File', ''));
    const words = parts.filter(({ type }) => type !== 'reasoning').map((part) => this.part(part));
    const said = [...files, ...marks, ...words].filter((one) => one.trim() !== '').join('\n\n');
    if (role !== 'assistant') return { role: role === 'user' ? 'user' : null, text: said };
    const thinking = parts.filter(({ type }) => type === 'reasoning').map((part) => part.text);
    const tagged = withoutThinkTags(said);
    return { role, text: tagged.text, thinking: [...thinking, tagged.thinking].filter(Boolean).join('\n\n') };
  }

  private part({ type, text: words }: { type: string; text: string }): string {
    if (type === 'text') return words;
    if (type === 'image_url' || type === 'image' || type === 'image_file') {
      this.lost.pictures += 1;
      return missing('Picture', '');
    }
    if (type === 'file' || type === 'pdf') {
      this.lost.files += 1;
      return missing('File', words);
    }
    if (type !== 'tool_call' && type !== 'tool_result') this.lost.others += 1;
    return '';
  }
}
