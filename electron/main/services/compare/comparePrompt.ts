/** What every column reads, as the engine is given it: texts in place of ids. */
import type { ComparePrompt } from '../../../shared/compare';
import type { CompareTask } from '../../../shared/engineContract';
import { ConcertinaError } from '../../../shared/errors';
import { branchTo } from '../chatLog';
import type { ChatStore } from '../chatStore';
import { type BlockOf, buildPrompt, type PromptSource, systemPromptOf } from '../prompt';
import { titleFrom } from '../titles';

export interface ResolvedPrompt extends Pick<CompareTask, 'prompt' | 'material'> {
  /** of a run that a person did not name */
  title: string;
}

export interface PromptParts {
  chats: Pick<ChatStore, 'open'>;
  blockOf: BlockOf;
  /** of chats that have none of their own */
  systemPrompt: string;
}

/** Rejects with `not-found` when the chat or a document is gone, `bad-request` when there is no question. */
export async function resolvePrompt(prompt: ComparePrompt, parts: PromptParts): Promise<ResolvedPrompt> {
  const untitled = 'Comparison';
  if (prompt.kind === 'text') {
    const { text } = prompt;
    const title = titleFrom(text) ?? untitled;
    if (prompt.asIs) return { prompt: { text }, material: text, title };
    return { ...(await fromSources([question(text)], parts)), title };
  }
  if (prompt.kind === 'documents') {
    const source = { ...question(prompt.question), attachments: prompt.attachments };
    const resolved = await fromSources([source], parts);
    const blocks = await Promise.all(prompt.attachments.map(parts.blockOf));
    return { ...resolved, material: blocks.join(''), title: titleFrom(prompt.question) ?? untitled };
  }
  const chat = await parts.chats.open(prompt.chatId);
  const branch = branchTo(chat, prompt.leafId ?? chat.leafId);
  while (branch.at(-1)?.role === 'assistant') branch.pop();
  if (branch.length === 0) {
    throw new ConcertinaError(
      'bad-request',
      'This chat has no question yet.',
      'Ask something first, or type a prompt.',
    );
  }
  const systemPrompt = systemPromptOf(chat, parts);
  return { ...(await fromSources(branch, { ...parts, systemPrompt })), title: chat.title };
}

async function fromSources(sources: PromptSource[], { systemPrompt, blockOf }: PromptParts) {
  const messages = await buildPrompt(systemPrompt, sources, blockOf);
  const words = messages.filter(({ role }) => role !== 'system').map(({ content }) => content);
  return { prompt: { messages }, material: words.join('\n\n') };
}

function question(text: string): PromptSource {
  return { role: 'user', text, attachments: [] };
}
