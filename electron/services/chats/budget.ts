/** What a draft would take of the context, before it is sent: the exact prompt, counted by the loaded model. */

import { type PromptBudget, releasedOf } from '../../contract/chats';
import type { OperationInput, OperationOutput } from '../../contract/contract';
import type { AttachmentPart } from '../../contract/lib/attachments';
import { givenIn, noTools, resultOf, type ToolRound } from '../../contract/tools/tools';
import type { DocumentStore } from '../documents/documentStore';
import type { DocumentCounts } from '../documents/documentTexts';
import type { ChatStore } from './chatStore';
import { promptBranch } from './promptBranch';
import {
  asRead,
  type CountingEngine,
  type Prepared,
  type PromptSource,
  type Question,
  type Questions,
} from './promptBuilder';
import type { Recall } from './recall';

export class BudgetService {
  constructor(
    private readonly chats: ChatStore,
    private readonly engine: CountingEngine,
    private readonly questions: Questions,
    private readonly counts: DocumentCounts,
    private readonly store: DocumentStore,
    private readonly recall: Pick<Recall, 'before'>,
  ) {}

  async budget({ chatId, leafId, draft, attachments }: OperationInput<'turns.budget'>): Promise<PromptBudget> {
    const chat = chatId === null ? null : await this.chats.open(chatId);
    const before = await this.recall.before({ chat, parentId: leafId, text: draft, attachments });
    const question = { chat, branch: chat ? promptBranch(chat, leafId) : [], text: before + draft, attachments };
    const { fitted, unfilled, fewer } = await this.questions.prepare(question);
    const briefed = question.branch.find(({ stands }) => stands)?.stands;
    const { total, branch } = fitted;
    const bare = chat?.tools.chosen.length ? await this.questions.total({ ...chat, tools: noTools }, branch) : total;
    const asked = branch.at(-1);
    const { byDocument, ...parts } = await this.parts(
      this.questions.systemPrompt(chat),
      branch.slice(0, -1).map(asRead),
      asked ?? { role: 'user', text: '', attachments: [] },
    );
    const contextSize = this.engine.contextSize();
    const reserve = this.questions.reserve();
    const over = Math.max(0, total + reserve - contextSize);
    const fits = over === 0 && unfilled === null;
    return {
      ...{ ...withTemplate(parts, bare), tools: total - bare, total, reserve, contextSize, fits, over, byDocument },
      ...(await this.leaving(question, fitted)),
      ...(unfilled === null ? {} : { unfilled }),
      ...(briefed === undefined ? {} : { briefed }),
      ...(fewer === null ? {} : { fewer }),
      ...(fits ? {} : { remedies: await this.questions.remedies(question) }),
    };
  }

  /** What goes for this question, and the price of it. */
  private async leaving({ chat, branch }: Question, fitted: Prepared['fitted']): Promise<Partial<PromptBudget>> {
    const released = fitted.released - releasedOf(branch);
    const earlier = fitted.branch.slice(0, -1);
    const count = (some: readonly PromptSource[]) => this.questions.total(chat, some);
    const readAgain =
      fitted.kept < earlier.length ? (await count(earlier)) - (await count(earlier.slice(0, fitted.kept))) : 0;
    return {
      ...(fitted.leftOut > 0 ? { leftOut: fitted.leftOut } : {}),
      ...(released > 0 ? { released } : {}),
      ...(readAgain > 0 ? { readAgain } : {}),
    };
  }

  async countDocument(
    documentId: string,
    part: AttachmentPart = { kind: 'whole' },
  ): Promise<OperationOutput<'documents.countTokens'>> {
    const { name } = await this.store.get(documentId);
    const tokens = await this.counts.block({ documentId, name, part });
    return { tokens, sections: part.kind === 'whole' ? await this.counts.sections(documentId) : null };
  }

  private async parts(systemPrompt: string, branch: readonly PromptSource[], question: PromptSource) {
    const attached = [
      ...branch
        .flatMap(({ attachments, rounds }) => [...attachments, ...givenIn(rounds)])
        .map((attachment) => ({ attachment, inBranch: true })),
      ...question.attachments.map((attachment) => ({ attachment, inBranch: false })),
    ];
    const byDocument: PromptBudget['byDocument'] = [];
    for (const { attachment, inBranch } of attached) {
      const tokens = await this.counts.block(attachment);
      const { documentId, part } = attachment;
      const words = part.kind === 'passages' ? part.words : undefined;
      byDocument.push({ documentId, tokens, inBranch, ...(words === undefined ? {} : { words }) });
    }
    const written = branch.flatMap(({ text, rounds = [] }) => [text, ...rounds.flatMap(textsOf)]);
    const texts = [systemPrompt.trim() === '' ? '' : systemPrompt, question.text, ...written];
    const [system = 0, message = 0, ...history] = await this.engine.countTexts(texts);
    const documents = sum(byDocument.map(({ tokens }) => tokens));
    return { system, message, documents, history: sum(history), byDocument };
  }
}

/** What stands in the prompt of it, without the marks of the template. */
function textsOf({ text, calls }: ToolRound): string[] {
  return [text, ...calls.flatMap((call) => [call.arguments, resultOf(call)])];
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
