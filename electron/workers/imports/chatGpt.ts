/**
 * Chats of ChatGPT's export: `conversations.json`, or parts of it (`conversations-000.json`), a list of objects with a tree of
 * nodes in `mapping`. OpenAI documents no schema; the fields are those that "ChatGPT Data Export Format and Parsing"
 * (github.com/mitkury/chatgpt-export-parser, docs/chatgpt-data-export-format.md) and docs/formats.md of
 * github.com/TomzxCode/llm-conversations-viewer describe. An answer is several nodes in a row: thinking, tools, words.
 */

import { z } from 'zod';
import {
  anything,
  type ForeignChat,
  type ForeignNode,
  fenced,
  list,
  missing,
  momentOf,
  nothingLost,
  objects,
  text,
  whatever,
} from './chatTree';

const partSchema = z.union([z.string(), z.object({ content_type: text, asset_pointer: text, text })]);

const messageSchema = z.object({
  author: z.object({ role: text }),
  create_time: whatever,
  recipient: z.string().catch('all'),
  content: z.object({
    content_type: text,
    parts: list,
    text,
    language: text,
    thoughts: objects(z.object({ summary: text, content: text })),
  }),
  metadata: z
    .object({
      is_visually_hidden_from_conversation: z.boolean().catch(false),
      model_slug: text,
      attachments: objects(z.object({ id: text, name: text })),
      content_references: objects(z.object({ matched_text: text, alt: text })),
      user_context_message_data: z
        .object({ about_user_message: text, about_model_message: text })
        .optional()
        .catch(undefined),
    })
    .partial()
    .catch({}),
});
type GptMessage = z.infer<typeof messageSchema>;

const nodeSchema = z.object({ message: whatever, parent: z.string().nullable().catch(null), children: list });
const chatSchema = z.object({
  title: text,
  id: text,
  conversation_id: text,
  create_time: whatever,
  update_time: whatever,
  mapping: z.record(z.string(), z.unknown()),
  current_node: z.string().nullable().catch(null),
  is_starred: z.boolean().nullable().catch(null),
});

/** Throws on what is no such chat. */
export function readChatGpt(value: unknown): ForeignChat {
  const chat = chatSchema.parse(value);
  const mapping = new Map(
    Object.entries(chat.mapping).flatMap(([key, node]) => {
      const { data } = nodeSchema.safeParse(node);
      return data ? [[key, data] as const] : [];
    }),
  );
  const reader = new Reader();
  const order = inTreeOrder(mapping, ({ children }) => children);
  const nodes = order.map(([key, { message, parent }]) => ({ ...reader.read(message), key, parent }));
  return {
    app: 'chatgpt',
    id: chat.conversation_id || chat.id || [...mapping.keys()].join(' '),
    title: chat.title,
    createdAt: momentOf(chat.create_time),
    updatedAt: momentOf(chat.update_time),
    pinned: chat.is_starred === true,
    systemPrompt: [...new Set(reader.systemPrompts)].join('\n\n'),
    nodes,
    current: chat.current_node,
    lost: reader.lost,
  };
}

/** Siblings in the order that their parent names. */
export function inTreeOrder<N>(
  nodes: ReadonlyMap<string, N>,
  childrenOf: (node: N) => readonly unknown[],
): [string, N][] {
  const places = new Map<unknown, number>();
  for (const node of nodes.values()) for (const child of childrenOf(node)) places.set(child, places.size);
  return [...nodes].sort(([a], [b]) => (places.get(a) ?? -1) - (places.get(b) ?? -1));
}

type Content = Pick<ForeignNode, 'role' | 'text' | 'thinking' | 'at' | 'model'>;
const hidden: Content = { role: null, text: '' };

class Reader {
  readonly lost = nothingLost();
  readonly systemPrompts: string[] = [];

  read(value: unknown): Content {
    if (value === null || value === undefined) return hidden;
    const { data } = messageSchema.safeParse(value);
    if (!data) {
      this.lost.others += 1;
      return hidden;
    }
    const { metadata } = data;
    if (data.content.content_type === 'user_editable_context') return this.takeInstructions(data);
    if (data.author.role === 'system') {
      const words = wordsOf(data).trim();
      if (words !== '' && !metadata.is_visually_hidden_from_conversation) this.systemPrompts.push(words);
      return hidden;
    }
    if (metadata.is_visually_hidden_from_conversation) return hidden;
    const said = data.author.role === 'user' ? this.ofPerson(data) : this.ofModel(data);
    return { ...said, at: momentOf(data.create_time), model: metadata.model_slug ?? '' };
  }

  /** "Custom instructions" */
  private takeInstructions({ metadata }: GptMessage): Content {
    const told = metadata.user_context_message_data;
    const words = [told?.about_user_message, told?.about_model_message].filter((one) => one?.trim());
    if (words.length > 0) this.systemPrompts.push(words.join('\n\n'));
    return hidden;
  }

  private ofPerson(message: GptMessage): Content {
    const shown = new Set(message.content.parts.map((part) => fileIdOf(partSchema.safeParse(part).data)));
    const files = (message.metadata.attachments ?? []).filter(({ id }) => !shown.has(id));
    this.lost.files += files.length;
    const lines = files.map(({ name }) => missing('File', name));
    return { role: 'user', text: [...lines, this.words(message)].filter(Boolean).join('\n\n') };
  }

  private ofModel(message: GptMessage): Content {
    const { content, recipient, author } = message;
    switch (content.content_type) {
      case 'thoughts': {
        const thoughts = content.thoughts.map(({ summary, content: words }) =>
          [summary, words].filter(Boolean).join('\n'),
        );
        return { role: 'assistant', text: '', thinking: thoughts.join('\n\n') };
      }
      case 'reasoning_recap':
        return hidden;
      case 'code':
        if (recipient === 'python' || recipient === 'all') return this.block(content.text, content.language, 'python');
        return this.tool(message);
      case 'execution_output':
        return this.block(content.text, 'text');
      case 'text':
        return author.role === 'assistant' && recipient === 'all'
          ? { role: 'assistant', text: this.words(message) }
          : this.tool(message);
      case 'multimodal_text':
        return author.role === 'assistant' ? { role: 'assistant', text: this.words(message) } : this.ofTool(message);
      default:
        return this.tool(message);
    }
  }

  /** Pictures that it made; text that it read is for the model alone. */
  private ofTool(message: GptMessage): Content {
    const pictures = message.content.parts.filter((part) => fileIdOf(partSchema.safeParse(part).data) !== '');
    if (pictures.length === 0) return this.tool(message);
    return { role: 'assistant', text: this.words({ ...message, content: { ...message.content, parts: pictures } }) };
  }

  private block(code: string, language: string, usual = ''): Content {
    const named = language === '' || language === 'unknown' ? usual : language;
    return { role: 'assistant', text: code.trim() === '' ? '' : fenced(code, named) };
  }

  /** A document of the canvas is brought along; other calls and results are not. */
  private tool(message: GptMessage): Content {
    if (message.recipient === 'canmore.create_textdoc') {
      const { name, type, content } = canvasOf(wordsOf(message));
      if (content !== '')
        return { role: 'assistant', text: `[Canvas: ${name}]\n${fenced(content, type.replace(/^code\//, ''))}` };
    }
    this.lost.tools += 1;
    return hidden;
  }

  private words(message: GptMessage): string {
    const parts = message.content.parts.map((part) => partSchema.safeParse(part).data);
    const spoken = parts.some((part) => typeof part === 'object' && part.content_type === 'audio_transcription');
    const lines = parts.map((part) => this.part(part, message, spoken)).filter((line) => line !== '');
    return withLinks(lines.join('\n\n'), message.metadata.content_references ?? []);
  }

  private part(part: z.infer<typeof partSchema> | undefined, message: GptMessage, spoken: boolean): string {
    if (typeof part === 'string') return part;
    if (part?.content_type === 'audio_transcription') return part.text;
    if (part?.content_type === 'image_asset_pointer') {
      this.lost.pictures += 1;
      const id = fileIdOf(part);
      return missing('Picture', message.metadata.attachments?.find((one) => one.id === id)?.name || id);
    }
    if (part && /audio/.test(part.content_type)) {
      this.lost.sounds += 1;
      return spoken ? '' : missing('Sound', '');
    }
    this.lost.others += 1;
    return '';
  }
}

function wordsOf({ content }: GptMessage): string {
  return content.parts.filter((part) => typeof part === 'string').join('\n\n') || content.text;
}

/** `file-service://file-AbC`, `sediment://file_0123` */
function fileIdOf(part: z.infer<typeof partSchema> | undefined): string {
  return typeof part === 'object' ? (part.asset_pointer.split('://').at(-1) ?? '') : '';
}

function canvasOf(json: string): { name: string; type: string; content: string } {
  try {
    const { name, type, content } = anything.parse(JSON.parse(json));
    return { name: text.parse(name), type: text.parse(type), content: text.parse(content) };
  } catch {
    return { name: '', type: '', content: '' };
  }
}

/** Marks of quotations are letters of a private range around names of search results; `alt` is the link that was shown. */
function withLinks(words: string, references: readonly { matched_text: string; alt: string }[]): string {
  const linked = references
    .filter(({ matched_text }) => matched_text.startsWith('\ue200'))
    .reduce((all, { matched_text, alt }) => all.replaceAll(matched_text, () => alt), words);
  return linked.replace(/\ue200[^\ue200\ue201]*\ue201/g, '');
}
