/**
 * The messages that the model sees for an answer: the system prompt and the branch, as chat templates accept them.
 * What was sent once keeps its bytes: the messages of a turn begin with those of the turn before it.
 */
import type { Attachment } from '../../contract/attachments';
import type { Chat, Message } from '../../contract/chats';
import type { PromptMessage } from '../../contract/engineContract';
import type { Settings } from '../../contract/settings';
import { resultsText } from './summaryPrompt';

/** A message, or the draft of one. */
export type PromptSource = Pick<Message, 'role' | 'text' | 'attachments' | 'summary'>;

/** The system prompt of a chat: the one that it began with, or the general one for a chat that is not begun. */
export function systemPromptOf(
  chat: Pick<Chat, 'systemPrompt'> | null,
  settings: Pick<Settings, 'systemPrompt'>,
): string {
  return chat?.systemPrompt ?? settings.systemPrompt;
}

/**
 * What the model reads of a message. Documents that were read part by part are too long for it: it sees the summary, or
 * the parts for as long as there is none.
 */
export function asRead({ role, text, attachments, summary }: PromptSource): PromptSource {
  if (!summary) return { role, text, attachments };
  if (role === 'user') return { role, text, attachments: [] };
  const written = summary.parts.filter((part) => part.text.trim() !== '');
  return { role, text: text || resultsText(written).trim(), attachments };
}

/** Gives the block of an attached document. */
export type BlockOf = (attachment: Attachment) => Promise<string>;

/**
 * Templates expect the roles to take turns. An answer without text (it failed, or was stopped at once) is left out, and
 * two questions that then follow each other become one message. Documents stand before the words of their question.
 */
export async function buildPrompt(
  systemPrompt: string,
  branch: readonly PromptSource[],
  blockOf: BlockOf,
): Promise<PromptMessage[]> {
  const prompt: PromptMessage[] = [];
  if (systemPrompt.trim() !== '') prompt.push({ role: 'system', content: systemPrompt });
  for (const { role, text, attachments } of branch.map(asRead)) {
    let content = '';
    for (const attachment of attachments) content += await blockOf(attachment);
    append(prompt, role, content + text);
  }
  return prompt;
}

function append(prompt: PromptMessage[], role: PromptMessage['role'], content: string): void {
  if (content === '') return;
  const last = prompt.at(-1);
  if (last?.role === role) last.content = `${last.content}\n\n${content}`;
  else prompt.push({ role, content });
}
