/** What a comparison is made of, as the engine is given it: texts and model files in place of ids. */
import { msg } from '@lingui/core/runtime-macro';
import { titleFrom } from '../../contract/chatOperations';
import { type Chat, releasedOf, withoutReleased } from '../../contract/chats';
import type { ComparePlan, ComparePrompt, CompareRequest } from '../../contract/compare/compare';
import { modelsOf, requireOne } from '../../contract/compare/models';
import { type CompareTask, templateOptionsOf } from '../../contract/engineContract';
import { ConcertinaError, toErrorPayload } from '../../contract/errors';
import type { Attachment } from '../../contract/lib/attachments';
import type { ModelEntry } from '../../contract/models';
import type { ContextSettings, Settings } from '../../contract/settings';
import type { ChatStore } from '../chats/chatStore';
import { promptBranch } from '../chats/promptBranch';
import { type BlockOf, buildPrompt, type PromptSource, systemPromptOf } from '../chats/promptBuilder';

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
  /** what a check reads */
  checkText(): Promise<string>;
}

/** Counts by the loaded model. */
export interface PromptCounts {
  ofTexts(texts: string[]): Promise<number[]>;
  /** of the prompt whose last message is the question */
  ofBranch(chat: Chat | null, branch: readonly PromptSource[]): Promise<number>;
}

/** What is read as a chat is. */
interface Asked {
  /** null: it begins with the prompt */
  chat: Chat | null;
  sources: PromptSource[];
  asked: ComparePrompt;
}

/** Rejects with `not-found` when the chat or a document is gone, `bad-request` when there is no question. */
export async function resolvePrompt(prompt: ComparePrompt, parts: PromptParts): Promise<ResolvedPrompt> {
  const untitled = 'Comparison';
  if (prompt.kind === 'check') {
    return { prompt: { depth: prompt.depth }, material: await parts.checkText(), title: 'Check', asked: prompt };
  }
  if (prompt.kind === 'text' && prompt.asIs) {
    const { text } = prompt;
    return { prompt: { text }, material: text, title: titleFrom(text) ?? untitled, asked: prompt };
  }
  const { chat, sources, asked } = await askedBy(prompt, parts);
  const systemPrompt = systemPromptOf(chat, parts);
  const resolved = await fromSources(sources, { ...parts, systemPrompt });
  const last = sources.at(-1);
  const title = chat?.title ?? titleFrom(last?.text ?? '') ?? untitled;
  if (prompt.kind !== 'documents') return { ...resolved, title, asked };
  const blocks = await Promise.all((last?.attachments ?? []).map(parts.blockOf));
  return { ...resolved, material: blocks.join(''), title, asked };
}

/** Tokens; rejects as `resolvePrompt` does. */
export async function countPrompt(
  prompt: ComparePrompt,
  parts: Pick<PromptParts, 'chats' | 'fill'>,
  counts: PromptCounts,
): Promise<number> {
  if (prompt.kind === 'check') return prompt.depth;
  if (prompt.kind === 'text' && prompt.asIs) return (await counts.ofTexts([prompt.text]))[0] ?? 0;
  const { chat, sources } = await askedBy(prompt, parts);
  return counts.ofBranch(chat, sources);
}

async function askedBy(
  prompt: Exclude<ComparePrompt, { kind: 'check' }>,
  parts: Pick<PromptParts, 'chats' | 'fill'>,
): Promise<Asked> {
  if (prompt.kind === 'text') return { chat: null, sources: [question(prompt.text)], asked: prompt };
  if (prompt.kind === 'documents') {
    const attachments: Attachment[] = [];
    for (const one of prompt.attachments) {
      const isEmpty = one.part.kind === 'passages' && one.part.passages.length === 0;
      attachments.push(isEmpty ? await parts.fill(one, prompt.question) : one);
    }
    const sources = [{ ...question(prompt.question), attachments }];
    return { chat: null, sources, asked: { ...prompt, attachments } };
  }
  const chat = await parts.chats.open(prompt.chatId);
  const shown = promptBranch(chat, prompt.leafId ?? chat.leafId);
  // as its answer read it
  const branch = withoutReleased(shown, releasedOf(shown));
  while (branch.at(-1)?.role === 'assistant') branch.pop();
  if (branch.length === 0) {
    throw new ConcertinaError(
      'bad-request',
      msg`This chat has no question yet.`,
      msg`Ask something first, or type a prompt.`,
    );
  }
  return { chat, sources: branch, asked: prompt };
}

async function fromSources(sources: PromptSource[], { systemPrompt, blockOf }: PromptParts) {
  const messages = await buildPrompt(systemPrompt, sources, blockOf);
  const words = messages.filter(({ role }) => role !== 'system').map(({ content }) => content);
  return { prompt: { messages }, material: words.join('\n\n') };
}

function question(text: string): PromptSource {
  return { role: 'user', text, attachments: [] };
}

// Its models.

export interface ModelParts {
  pathOf(modelId: string): Promise<string>;
  entries(): Promise<ModelEntry[]>;
  /** as they count for a model */
  settings: (modelId: string) => Settings;
  /** with the paths of the files that these name */
  adapters: (named: ContextSettings['adapters']) => Promise<ContextSettings['adapters']>;
}

/** What the contexts of a model share. */
export async function sharedSettings(
  modelId: string,
  { settings, adapters }: Pick<ModelParts, 'settings' | 'adapters'>,
): Promise<ContextSettings> {
  const { context } = settings(modelId);
  return { ...context, adapters: await adapters(context.adapters) };
}

/** That of the reference first. Rejects where none of them is there. */
export async function resolveModels(request: CompareRequest, parts: ModelParts): Promise<CompareTask['models']> {
  const asked = modelsOf(request);
  const entries = asked.length > 1 ? await parts.entries() : [];
  const found = asked.map(({ modelId }) => entries.find(({ places }) => places.some(({ id }) => id === modelId)));
  const names = namesOf(found);
  const models: CompareTask['models'] = [];
  for (const [index, { modelId, columns }] of asked.entries()) {
    const { template } = parts.settings(modelId);
    const settings = await sharedSettings(modelId, parts);
    const path = await parts.pathOf(modelId).catch((error: unknown) => ({ problem: toErrorPayload(error) }));
    const place = typeof path === 'string' ? { path, problem: null } : { path: '', ...path };
    const own = { name: names[index] ?? '', fileName: found[index]?.fileName ?? '', fingerprint: '', loadMs: null };
    const shown = asked.length > 1 ? own : null;
    models.push({ ...place, columns, shown, settings, ...templateOptionsOf(template) });
  }
  requireOne(models);
  return models;
}

/** A model that is not there is the problem of its own configurations. Rejects where it is the only one. */
export async function planModels(
  { modelId: usual, configurations }: Pick<CompareRequest, 'modelId' | 'configurations'>,
  planOf: (modelId: string, configurations: CompareRequest['configurations']) => Promise<ComparePlan>,
): Promise<ComparePlan> {
  const models = modelsOf({ modelId: usual, configurations, options: { reference: 0 } });
  const columns: ComparePlan['columns'] = [];
  let together: ComparePlan['together'] = { fits: false, budgets: [] };
  for (const { modelId, columns: indices } of models) {
    const own = configurations.filter((_, index) => indices.includes(index));
    const plan = await planOf(modelId, own).catch((error: unknown) => {
      if (models.length === 1) throw error;
      const none = { estimate: null, fits: false, problem: toErrorPayload(error).message, longest: null };
      return { columns: own.map(() => none), together };
    });
    for (const [at, column] of plan.columns.entries()) columns[indices[at] ?? 0] = column;
    // several models take turns in memory
    if (models.length === 1) together = plan.together;
  }
  return { columns, together };
}

/** As the window names them; those that would be called the same by their files, or by numbers. */
function namesOf(entries: readonly (ModelEntry | undefined)[]): string[] {
  const plain = entries.map((entry) =>
    entry ? [entry.info?.name || entry.fileName, entry.info?.quantization].filter(Boolean).join(' ') : 'missing model',
  );
  const files = plain.map((name, index) =>
    plain.indexOf(name) === plain.lastIndexOf(name) ? name : (entries[index]?.fileName ?? name),
  );
  return files.map((name, index) => (files.indexOf(name) === index ? name : `${name} (${index + 1})`));
}
