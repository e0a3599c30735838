/**
 * Chats of Claude's export: `conversations.json`, a list of objects with `chat_messages`. Anthropic documents no schema; the fields
 * are those that readers of it describe (github.com/withLinda/claude-conversation-exporter, socketteer/Claude-Conversation-Exporter).
 * Messages name their parent in newer exports, which makes them a tree; in older ones they are a list.
 */

import { z } from 'zod';
import {
  anything,
  attachedText,
  type ForeignChat,
  type ForeignNode,
  fenced,
  missing,
  momentOf,
  nothingLost,
  objects,
  text,
  whatever,
} from './chatTree';

const messageSchema = z.object({
  uuid: text,
  sender: text,
  text,
  whatever,
  content: objects(z.object({ type: text, text, thinking: text, title: text, name: text, input: anything })),
  created_at: whatever,
  parent_message_uuid: z.string().nullable().catch(null),
  attachments: objects(z.object({ file_name: text, extracted_content: text })),
  files: objects(z.object({ file_name: text, file_kind: text })),
});
type ClaudeMessage = z.infer<typeof messageSchema>;

const chatSchema = z.object({
  uuid: text,
  name: text,
  model: text,
  created_at: whatever,
  updated_at: whatever,
  is_starred: z.boolean().nullable().catch(null),
  current_leaf_message_uuid: z.string().nullable().catch(null),
  chat_messages: z.array(z.unknown()),
});

const pictureName = /\.(?:png|jpe?g|gif|webp|bmp|heic|avif)$/i;

/** Throws on what is no such chat. */
export function readClaude(value: unknown): ForeignChat {
  const chat = chatSchema.parse(value);
  const reader = new Reader();
  const messages = chat.chat_messages.flatMap((one, index) => {
    const { data } = messageSchema.safeParse(one);
    if (!data) reader.lost.others += 1;
    return data ? [{ ...data, key: data.uuid || String(index) }] : [];
  });
  const isTree = messages.some(({ parent_message_uuid }) => parent_message_uuid !== null);
  const nodes = messages.map((message, index) => ({
    ...reader.read(message),
    key: message.key,
    parent: isTree ? message.parent_message_uuid : (messages[index - 1]?.key ?? null),
    at: momentOf(message.created_at),
    model: message.sender === 'assistant' ? chat.model : '',
  }));
  return {
    app: 'claude',
    id: chat.uuid || messages.map(({ key }) => key).join(' '),
    title: chat.name,
    createdAt: momentOf(chat.created_at),
    updatedAt: momentOf(chat.updated_at),
    pinned: chat.is_starred === true,
    nodes,
    current: chat.current_leaf_message_uuid ?? messages.at(-1)?.key ?? null,
    lost: reader.lost,
  };
}

class Reader {
  readonly lost = nothingLost();

  read(message: ClaudeMessage): Pick<ForeignNode, 'role' | 'text' | 'thinking'> {
    const { sender, content } = message;
    const thinking = content.filter(({ type }) => type === 'thinking').map((part) => part.thinking);
    const words = content.map((part) => this.part(part)).filter((one) => one.trim() !== '');
    // `text` has a sentence of the app in the place of each part that is no text
    const said = words.length > 0 || content.some(({ type }) => type !== 'text') ? words : [message.text];
    return {
      role: sender === 'human' ? 'user' : sender === 'assistant' ? 'assistant' : null,
      text: [...this.attached(message), ...said].filter(Boolean).join('\n\n'),
      thinking: thinking.join('\n\n'),
    };
  }

  private attached({ attachments, files }: ClaudeMessage): string[] {
    const texts = attachments.map(({ file_name, extracted_content }) => {
      if (extracted_content.trim() !== '') return attachedText(file_name, extracted_content);
      this.lost.files += 1;
      return missing('File', file_name);
    });
    const extracted = new Set(attachments.map(({ file_name }) => file_name));
    const others = files.filter(({ file_name }) => !extracted.has(file_name));
    return [...texts, ...others.map((file) => this.file(file))];
  }

  private file({ file_name, file_kind }: ClaudeMessage['files'][number]): string {
    const isPicture = file_kind === 'image' || pictureName.test(file_name);
    this.lost[isPicture ? 'pictures' : 'files'] += 1;
    return missing(isPicture ? 'Picture' : 'File', file_name);
  }

  private part({ type, text: words, title, name, input }: ClaudeMessage['content'][number]): string {
    switch (type) {
      case 'text':
        return words;
      case 'voice_note':
        return [title, words].filter(Boolean).join('\n\n');
      case 'thinking':
      case 'redacted_thinking':
      case 'token_budget':
        return '';
      case 'tool_use': {
        const artifact = name === 'artifacts' ? text.parse(input.content) : '';
        if (artifact.trim() === '') break;
        const heading = text.parse(input.title) || text.parse(input.id);
        return `[Artifact: ${heading}]\n${fenced(artifact, text.parse(input.language))}`;
      }
      case 'tool_result':
        break;
      case 'image':
        this.lost.pictures += 1;
        return missing('Picture', '');
      default:
        this.lost.others += 1;
        return '';
    }
    // a call and its result are one step
    if (type === 'tool_use') this.lost.tools += 1;
    return '';
  }
}
