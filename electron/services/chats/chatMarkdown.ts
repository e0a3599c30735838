/** A chat as Markdown, to be read by people: title, dates, models, what was used of documents, and the figures of answers. */
import type { Attachment } from '../../contract/attachments';
import type { ExportedChat } from '../../contract/chatFile';
import type { AnswerStats, Message, StopReason } from '../../contract/chats';

/** Names of a document's sections; null: the document is not there any more. */
export type LabelsOf = (documentId: string) => Promise<string[] | null>;

const ends: Record<StopReason, string> = {
  'end-of-turn': '',
  'stop-string': 'ended at a stop string',
  'max-tokens': 'stopped at the token limit',
  'context-full': 'stopped because the context was full',
  cancelled: 'stopped by the person',
  interrupted: 'interrupted',
  error: 'ended with an error',
};

export async function chatMarkdown(chat: ExportedChat, labelsOf: LabelsOf): Promise<string> {
  const models = [...new Set(chat.messages.map(({ modelName }) => modelName).filter(Boolean))];
  const head = [`# ${chat.title}`, '', `- Begun: ${time(chat.createdAt)}`, `- Last change: ${time(chat.updatedAt)}`];
  if (models.length > 0) head.push(`- ${models.length === 1 ? 'Model' : 'Models'}: ${models.join(', ')}`);
  if (chat.folder !== null) head.push(`- Folder: ${chat.folder}`);
  const parts = [head.join('\n')];
  if (chat.systemPrompt) parts.push(`System prompt:\n\n${quoted(chat.systemPrompt)}`);
  const order = depthFirst(chat.messages);
  for (const [index, message] of order.entries()) {
    const parent = order.findIndex(({ id }) => id === message.parentId);
    parts.push(await messageMarkdown(message, index, parent, labelsOf));
  }
  return `${parts.join('\n\n')}\n`;
}

/** `index`, `parent`: places in the file; messages are numbered, so that a branch can say where it goes on from. */
async function messageMarkdown(message: Message, index: number, parent: number, labelsOf: LabelsOf): Promise<string> {
  const who = message.role === 'user' ? 'You' : message.modelName || 'Answer';
  const parts = [`## ${index + 1}. ${who}, ${time(message.createdAt)}`];
  if (index > 0 && parent !== index - 1) {
    parts.push(parent === -1 ? '*A new beginning of the chat.*' : `*Another version: goes on from ${parent + 1}.*`);
  }
  if (message.attachments.length > 0) {
    parts.push((await Promise.all(message.attachments.map((one) => attachmentLine(one, labelsOf)))).join('\n'));
  }
  if (message.thinking !== '') {
    parts.push(`<details><summary>Thinking</summary>\n\n${message.thinking.trim()}\n\n</details>`);
  }
  parts.push(message.text.trim());
  const figures = [message.stats && statsText(message.stats), message.stopReason && ends[message.stopReason]];
  if (figures.some(Boolean)) parts.push(`*${figures.filter(Boolean).join('; ')}*`);
  if (message.error) parts.push(`*Error: ${message.error.message}*`);
  return parts.filter((part) => part !== '').join('\n\n');
}

async function attachmentLine({ documentId, name, part }: Attachment, labelsOf: LabelsOf): Promise<string> {
  if (part.kind === 'whole') return `- Document: ${name} (whole)`;
  if (part.kind === 'passages') {
    const labels = [...new Set(part.passages.map(({ label }) => label))];
    return `- Document: ${name} (passages of ${labels.join(', ')})`;
  }
  const labels = await labelsOf(documentId);
  const used = part.sections.map((index) => labels?.[index] || `section ${index + 1}`);
  return `- Document: ${name} (${used.join(', ')})`;
}

function statsText(stats: AnswerStats): string {
  const types = stats.typeK === stats.typeV ? stats.typeK : `${stats.typeK}/${stats.typeV}`;
  return [
    `${stats.answerTokens} tokens at ${stats.tokensPerSecond.toFixed(1)} tok/s`,
    `first token after ${Math.round(stats.ttftMs)} ms`,
    `${stats.promptTokens} prompt tokens, ${stats.cachedTokens} of them cached`,
    `context ${stats.contextUsed} of ${stats.contextSize}`,
    `cache ${types}`,
    `seed ${stats.seed}`,
  ].join(', ');
}

/** Each branch in one piece. */
function depthFirst(messages: readonly Message[]): Message[] {
  const children = new Map<string | null, Message[]>();
  for (const message of messages) {
    children.set(message.parentId, [...(children.get(message.parentId) ?? []), message]);
  }
  const order: Message[] = [];
  const waiting = [...(children.get(null) ?? [])].reverse();
  for (let message = waiting.pop(); message; message = waiting.pop()) {
    order.push(message);
    waiting.push(...[...(children.get(message.id) ?? [])].reverse());
  }
  return order;
}

function quoted(text: string): string {
  return text.trim().replace(/^/gm, '> ');
}

function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
