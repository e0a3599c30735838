/**
 * Chats of LM Studio: `~/.lmstudio/conversations/*.conversation.json`, one each. LM Studio documents no schema ("File format: JSON",
 * lmstudio.ai/docs/app/basics/chat); the fields are those that readers of it have (github.com/YorkieDev/lm-studio-conversation-converter,
 * mixbits/LMStudio-JSON2plaintext). Each message has `versions`: the selected one goes on, the others end where they are.
 */

import { z } from 'zod';
import {
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

const contentSchema = z.object({ type: text, text, fileIdentifier: text, fileType: text, name: text });
const content = objects(contentSchema);

const stepSchema = z.object({
  type: text,
  stepIdentifier: text,
  content,
  style: z.object({ type: text }).catch({ type: '' }),
  genInfo: z.object({ identifier: text, indexedModelIdentifier: text }).partial().catch({}),
});

const versionSchema = z.object({
  role: text,
  content,
  steps: objects(stepSchema),
  senderInfo: z.object({ senderName: text }).catch({ senderName: '' }),
});
type Version = z.infer<typeof versionSchema>;

const chatSchema = z.object({
  name: text,
  pinned: z.boolean().catch(false),
  createdAt: whatever,
  userLastMessagedAt: whatever,
  assistantLastMessagedAt: whatever,
  systemPrompt: text,
  messages: z.array(z.unknown()),
  perChatPredictionConfig: z
    .object({ fields: objects(z.object({ key: text, value: whatever })) })
    .optional()
    .catch(undefined),
});

const placeSchema = z.object({ versions: list, currentlySelected: z.number().int().catch(0) });

/** Throws on what is no such chat. */
export function readLmStudio(value: unknown): ForeignChat {
  const chat = chatSchema.parse(value);
  const createdAt = momentOf(chat.createdAt);
  const reader = new Reader();
  const nodes: ForeignNode[] = [];
  const systemPrompts = [
    chat.systemPrompt,
    text.parse(chat.perChatPredictionConfig?.fields.find(({ key }) => key === 'llm.prediction.systemPrompt')?.value),
  ];
  let parent: string | null = null;
  for (const [index, place] of chat.messages.entries()) {
    const { versions, selected } = reader.versionsOf(place);
    const above: string | null = parent;
    for (const [which, version] of versions.entries()) {
      const node: ForeignNode = { ...reader.read(version), key: `${index}.${which}`, parent: above };
      if (version.role === 'system') systemPrompts.push(node.text);
      nodes.push(node);
      if (which === selected) parent = node.key;
    }
  }
  // the name of the file is the app's, and a copy has another
  const first = nodes.find(({ role }) => role === 'user')?.text ?? '';
  const times = [chat.userLastMessagedAt, chat.assistantLastMessagedAt, createdAt].map((at) => momentOf(at) ?? 0);
  return {
    app: 'lmstudio',
    id: `${createdAt ?? ''} ${first}`,
    title: chat.name,
    createdAt,
    updatedAt: Math.max(...times) || null,
    pinned: chat.pinned,
    systemPrompt: systemPrompts.find((one) => one.trim() !== '') ?? '',
    nodes,
    current: parent,
    lost: reader.lost,
  };
}

class Reader {
  readonly lost = nothingLost();

  versionsOf(place: unknown): { versions: Version[]; selected: number } {
    const { data } = placeSchema.safeParse(place);
    const versions = data?.versions.flatMap((one) => versionSchema.safeParse(one).data ?? []) ?? [];
    if (!data || versions.length < data.versions.length) this.lost.others += 1;
    return { versions, selected: Math.max(0, Math.min(data?.currentlySelected ?? 0, versions.length - 1)) };
  }

  read(version: Version): Pick<ForeignNode, 'role' | 'text' | 'thinking' | 'at' | 'model'> {
    const steps = version.steps.filter(({ type }) => type === 'contentBlock');
    // a step has one of them, or both
    const requests = steps.flatMap((step) => step.content).filter(({ type }) => type === 'toolCallRequest');
    const statuses = version.steps.filter(({ type }) => type === 'toolStatus');
    this.lost.tools += Math.max(requests.length, statuses.length);
    const isThinking = ({ style }: z.infer<typeof stepSchema>) => style.type === 'thinking';
    const own = this.words(version.content);
    const blocks = steps.filter((step) => !isThinking(step)).map((step) => this.words(step.content));
    const thinking = steps.filter(isThinking).map((step) => this.words(step.content));
    const said = [own, ...blocks].filter((one) => one.trim() !== '').join('\n\n');
    const role = version.role === 'user' || version.role === 'assistant' ? version.role : null;
    const tagged = role === 'assistant' ? withoutThinkTags(said) : { text: said, thinking: '' };
    const info = steps.find(({ genInfo }) => genInfo.identifier)?.genInfo;
    return {
      role,
      text: tagged.text,
      thinking: [...thinking, tagged.thinking].filter(Boolean).join('\n\n'),
      // "1735689600000-0.42"
      at: momentOf(/^\d{13}(?=-)/.exec(steps[0]?.stepIdentifier ?? '')?.[0]),
      model: role === 'assistant' ? info?.identifier || version.senderInfo.senderName : '',
    };
  }

  private words(parts: z.infer<typeof content>): string {
    const lines: string[] = [];
    for (const { type, text: words, fileIdentifier, fileType, name } of parts) {
      if (type === 'text') lines.push(words);
      else if (type === 'file') {
        const isPicture = fileType === 'image';
        this.lost[isPicture ? 'pictures' : 'files'] += 1;
        lines.unshift(`${missing(isPicture ? 'Picture' : 'File', name || fileIdentifier)}\n\n`);
      } else if (type !== 'toolCallRequest' && type !== 'toolCallResult') this.lost.others += 1;
    }
    return lines.join('');
  }
}
