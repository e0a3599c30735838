/**
 * Chats of Open WebUI (Settings → Data → Export chats, or one chat as JSON): a list of objects whose `chat` has a tree in
 * `history.messages`, by id. The fields are those of `src/lib/types` and `backend/open_webui/utils/middleware.py` of
 * github.com/open-webui/open-webui. Thinking, tools and code stand in an answer's text as blocks `<details type="...">`.
 */

import { z } from 'zod';
import { inTreeOrder } from './chatGpt';
import {
  anything,
  attachedText,
  type ForeignChat,
  list,
  missing,
  momentOf,
  nothingLost,
  objects,
  text,
  whatever,
  withoutThinkTags,
} from './chatTree';

const fileSchema = z.object({
  type: text,
  name: text,
  content_type: text,
  file: z
    .object({ filename: text, data: z.object({ content: text }).catch({ content: '' }) })
    .optional()
    .catch(undefined),
});

const messageSchema = z.object({
  id: text,
  parentId: z.string().nullable().catch(null),
  childrenIds: list,
  role: text,
  content: z.union([z.string(), objects(z.object({ type: text, text }))]).catch(''),
  reasoning_content: text,
  timestamp: whatever,
  model: text,
  modelName: text,
  files: objects(fileSchema),
});
type WebUiMessage = z.infer<typeof messageSchema>;

const innerSchema = z.object({
  id: text,
  title: text,
  system: text,
  params: anything,
  timestamp: whatever,
  history: z
    .object({ messages: anything, currentId: z.string().nullable().catch(null) })
    .optional()
    .catch(undefined),
  messages: list,
});

const chatSchema = z.object({
  id: text,
  title: text,
  created_at: whatever,
  updated_at: whatever,
  pinned: z.boolean().nullable().catch(null),
  chat: innerSchema,
});

/** Throws on what is no such chat. */
export function readOpenWebUi(value: unknown): ForeignChat {
  // older versions export what is inside alone
  const outer = chatSchema.safeParse(value).data;
  const inner = outer?.chat ?? innerSchema.required({ history: true }).parse(value);
  const reader = new Reader();
  const messages = reader.messagesOf(inner);
  const system = [...messages.values()].filter(({ role }) => role === 'system').map(({ content }) => content);
  const prompts = [inner.params.system, inner.system, ...system];
  return {
    app: 'openwebui',
    id: outer?.id || inner.id || [...messages.keys()].join(' '),
    title: outer?.title || inner.title,
    createdAt: momentOf(outer?.created_at) ?? momentOf(inner.timestamp),
    updatedAt: momentOf(outer?.updated_at),
    pinned: outer?.pinned === true,
    systemPrompt: prompts.find((one): one is string => typeof one === 'string' && one.trim() !== '') ?? '',
    nodes: inTreeOrder(messages, ({ childrenIds }) => childrenIds).map(([key, message]) => ({
      ...reader.read(message),
      key,
      parent: message.parentId,
      at: momentOf(message.timestamp),
      model: message.role === 'assistant' ? message.modelName || message.model : '',
    })),
    current: inner.history?.currentId ?? null,
    lost: reader.lost,
  };
}

class Reader {
  readonly lost = nothingLost();

  /** By id; a list, as it is without a history, goes on from one to the next. */
  messagesOf({ history, messages }: z.infer<typeof innerSchema>): Map<string, WebUiMessage> {
    const tree = Object.entries(history?.messages ?? {});
    const known = (tree.length > 0 ? tree : messages.map((one, index) => [String(index), one] as const)).flatMap(
      ([key, one]) => {
        const { data } = messageSchema.safeParse(one);
        if (!data) this.lost.others += 1;
        return data ? [[key, data] as const] : [];
      },
    );
    if (tree.length > 0) return new Map(known);
    return new Map(known.map(([key, one], index) => [key, { ...one, parentId: known[index - 1]?.[0] ?? null }]));
  }

  read(message: WebUiMessage) {
    const { role, content } = message;
    const files = message.files.map((file) => this.file(file));
    const said = typeof content === 'string' ? content : content.map((part) => this.part(part)).join('\n\n');
    if (role === 'user') return { role: 'user' as const, text: [...files, said].filter(Boolean).join('\n\n') };
    if (role !== 'assistant') return { role: null, text: '' };
    const { text: words, thinking } = this.withoutDetails(said);
    const tagged = withoutThinkTags(words);
    return {
      role: 'assistant' as const,
      text: [...files, tagged.text].filter(Boolean).join('\n\n'),
      thinking: [message.reasoning_content, ...thinking, tagged.thinking].filter(Boolean).join('\n\n'),
    };
  }

  private part({ type, text: words }: { type: string; text: string }): string {
    if (type === 'text') return words;
    if (type === 'image_url') this.lost.pictures += 1;
    else this.lost.others += 1;
    return type === 'image_url' ? missing('Picture', '') : '';
  }

  private file({ type, name, content_type, file }: z.infer<typeof fileSchema>): string {
    const words = file?.data.content ?? '';
    const shown = name || file?.filename || '';
    if (words.trim() !== '') return attachedText(shown, words);
    const isPicture = type === 'image' || content_type.startsWith('image/');
    this.lost[isPicture ? 'pictures' : 'files'] += 1;
    return missing(isPicture ? 'Picture' : 'File', shown);
  }

  /** Blocks of thinking are taken out, those of code opened; of tools the number is kept. Other `<details>` are the answer's own. */
  private withoutDetails(words: string): { text: string; thinking: string[] } {
    const thinking: string[] = [];
    const kept: string[] = [];
    let from = 0;
    for (const { 0: tag, 1: type, index } of words.matchAll(
      /<details type="(reasoning|tool_calls|code_interpreter)"[^>]*>/g,
    )) {
      if (index < from) continue;
      const end = words.indexOf('</details>', index);
      kept.push(words.slice(from, index));
      from = end < 0 ? words.length : end + '</details>'.length;
      const inner = words
        .slice(index + tag.length, end < 0 ? undefined : end)
        .replace(/^\s*<summary>[^<]*<\/summary>/, '');
      if (type === 'reasoning') thinking.push(unescaped(inner).replace(/^> ?/gm, '').trim());
      else if (type === 'code_interpreter') kept.push(inner);
      else this.lost.tools += 1;
    }
    kept.push(words.slice(from));
    return { text: kept.join(''), thinking };
  }
}

const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'", amp: '&' };

function unescaped(words: string): string {
  return words.replace(/&(lt|gt|quot|#x27|#39|amp);/g, (_, name: string) => entities[name] ?? '');
}
