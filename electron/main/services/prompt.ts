/** The messages that the model sees for an answer: the system prompt and the branch, as chat templates accept them. */
import type { Message } from '../../shared/chats';
import type { PromptMessage } from '../../shared/engineContract';

/**
 * Templates expect the roles to take turns. An answer without text (it failed, or was stopped at once) is left out, and
 * two questions that then follow each other become one message.
 */
export function buildPrompt(systemPrompt: string, branch: readonly Message[], draft = ''): PromptMessage[] {
  const prompt: PromptMessage[] = [];
  if (systemPrompt.trim() !== '') prompt.push({ role: 'system', content: systemPrompt });
  for (const { role, text } of branch) append(prompt, role, text);
  append(prompt, 'user', draft);
  return prompt;
}

function append(prompt: PromptMessage[], role: PromptMessage['role'], content: string): void {
  if (content === '') return;
  const last = prompt.at(-1);
  if (last?.role === role) last.content = `${last.content}\n\n${content}`;
  else prompt.push({ role, content });
}
