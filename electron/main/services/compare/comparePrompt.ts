/** What every column reads, as the engine is given it: texts in place of ids. */
import type { Attachment } from '../../../shared/attachments';
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
  /** with the passages that were looked up, so that it reads the same when it is run again */
  asked: ComparePrompt;
}

export interface PromptParts {
  chats: Pick<ChatStore, 'open'>;
  blockOf: BlockOf;
  /** looks up the passages of an attachment that has none yet */
  fill(attachment: Attachment, question: string): Promise<Attachment>;
  /** of chats that have none of their own */
  systemPrompt: string;
}

/** Rejects with `not-found` when the chat or a document is gone, `bad-request` when there is no question. */
export async function resolvePrompt(prompt: ComparePrompt, parts: PromptParts): Promise<ResolvedPrompt> {
  const untitled = 'Comparison';
  if (prompt.kind === 'text') {
    const { text } = prompt;
    const title = titleFrom(text) ?? untitled;
    if (prompt.asIs) return { prompt: { text }, material: text, title, asked: prompt };
    return { ...(await fromSources([question(text)], parts)), title, asked: prompt };
  }
  if (prompt.kind === 'documents') {
    const attachments: Attachment[] = [];
    for (const one of prompt.attachments) {
      const isEmpty = one.part.kind === 'passages' && one.part.passages.length === 0;
      attachments.push(isEmpty ? await parts.fill(one, prompt.question) : one);
    }
    const resolved = await fromSources([{ ...question(prompt.question), attachments }], parts);
    const blocks = await Promise.all(attachments.map(parts.blockOf));
    const title = titleFrom(prompt.question) ?? untitled;
    return { ...resolved, material: blocks.join(''), title, asked: { ...prompt, attachments } };
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
  return { ...(await fromSources(branch, { ...parts, systemPrompt })), title: chat.title, asked: prompt };
}

async function fromSources(sources: PromptSource[], { systemPrompt, blockOf }: PromptParts) {
  const messages = await buildPrompt(systemPrompt, sources, blockOf);
  const words = messages.filter(({ role }) => role !== 'system').map(({ content }) => content);
  return { prompt: { messages }, material: words.join('\n\n') };
}

function question(text: string): PromptSource {
  return { role: 'user', text, attachments: [] };
}
