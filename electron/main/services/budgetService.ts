/** What a draft would take of the context, before it is sent: the exact prompt, counted by the loaded model. */
import type { Attachment, AttachmentPart } from '../../shared/attachments';
import { type PromptBudget, reserveOf } from '../../shared/budget';
import type { OperationInput, OperationOutput } from '../../shared/contract';
import type { PromptMessage } from '../../shared/engineContract';
import type { Settings } from '../../shared/settings';
import { branchTo } from './chatLog';
import type { ChatStore } from './chatStore';
import type { DocumentStore } from './documents/documentStore';
import type { DocumentTexts } from './documents/documentTexts';
import { type RollSource, rollBranch } from './overflow';
import { buildPrompt, type PromptSource, systemPromptOf } from './prompt';

/** What a budget needs of the engine; `EngineService` is one. */
export interface CountingEngine {
  /** of the prompt that the chat template makes of them */
  countTokens(messages: PromptMessage[]): Promise<{ tokens: number }>;
  /** of each text, as it stands inside a prompt */
  countTexts(texts: string[]): Promise<number[]>;
  contextSize(): number;
}

export class BudgetService {
  constructor(
    private readonly chats: ChatStore,
    private readonly engine: CountingEngine,
    private readonly store: DocumentStore,
    private readonly texts: DocumentTexts,
    private readonly settings: () => Settings,
  ) {}

  async budget({ chatId, leafId, draft, attachments }: OperationInput<'turns.budget'>): Promise<PromptBudget> {
    const { documents, overflow } = this.settings();
    const chat = chatId === null ? null : await this.chats.open(chatId);
    const systemPrompt = systemPromptOf(chat, this.settings());
    const all = chat ? branchTo(chat, leafId) : [];
    const blockOf = (attachment: Attachment) => this.texts.block(attachment);
    const contextSize = this.engine.contextSize();
    const reserve = reserveOf(documents.reserve, contextSize);
    const whole: (PromptSource & RollSource)[] = [...all, { role: 'user', text: draft, attachments }];
    const count = async (some: PromptSource[]) => {
      const messages = await buildPrompt(systemPrompt, some, blockOf);
      return messages.length === 0 ? 0 : (await this.engine.countTokens(messages)).tokens;
    };
    const rolled = overflow === 'roll' ? await rollBranch(whole, count, contextSize - reserve) : null;
    const sources: PromptSource[] = rolled?.branch ?? whole;
    const branch = sources.slice(0, -1);
    const attached = sources.flatMap((source, index) =>
      source.attachments.map((attachment) => ({ attachment, inBranch: index < branch.length })),
    );
    const blocks = await Promise.all(attached.map(({ attachment }) => blockOf(attachment)));
    const total = await count(sources);
    const texts = [systemPrompt.trim() === '' ? '' : systemPrompt, draft, ...blocks, ...branch.map(({ text }) => text)];
    const [system = 0, message = 0, ...rest] = await this.engine.countTexts(texts);
    const byDocument = attached.map(({ attachment, inBranch }, index) => ({
      documentId: attachment.documentId,
      tokens: rest[index] ?? 0,
      inBranch,
    }));
    const counted = {
      system,
      message,
      documents: sum(rest.slice(0, blocks.length)),
      history: sum(rest.slice(blocks.length)),
    };
    const over = Math.max(0, total + reserve - contextSize);
    const leftOut = rolled?.leftOut || undefined;
    return {
      ...withTemplate(counted, total),
      total,
      reserve,
      contextSize,
      byDocument,
      fits: over === 0,
      over,
      leftOut,
    };
  }

  async countDocument(
    documentId: string,
    part: AttachmentPart = { kind: 'whole' },
  ): Promise<OperationOutput<'documents.countTokens'>> {
    const { name } = await this.store.get(documentId);
    const block = await this.texts.block({ documentId, name, part });
    const sections = part.kind === 'whole' ? await this.texts.sections(documentId) : null;
    const [tokens = 0, ...each] = await this.engine.countTexts([block, ...(sections ?? [])]);
    return { tokens, sections: sections && each };
  }
}

type Parts = Pick<PromptBudget, 'system' | 'documents' | 'history' | 'message'>;

/**
 * The template takes what the parts leave. Parts that are counted alone can come to a token more than in their place,
 * where the words at a border become one token: then the largest part gives it.
 */
function withTemplate(parts: Parts, total: number): Parts & { template: number } {
  const template = total - parts.system - parts.documents - parts.history - parts.message;
  if (template >= 0) return { ...parts, template };
  const names = Object.keys(parts) as (keyof Parts)[];
  const largest = names.reduce((best, name) => (parts[name] > parts[best] ? name : best));
  return { ...parts, [largest]: parts[largest] + template, template: 0 };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
