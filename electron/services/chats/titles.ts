/**
 * Names chats by the model while nothing is asked. Until then, and where the model has no good title, a chat is named by the
 * beginning of its question; what a person called it stays.
 */

import type { Chat, Message } from '../../contract/chats';
import type { Settings } from '../../contract/settings';
import type { EngineService } from '../engine/engineService';
import type { Logger } from '../lib/logger';
import type { ChatStore } from './chatStore';
import { promptBranch } from './promptBranch';
import { chatOptions, type Questions } from './promptBuilder';

/**
 * Models with fewer parameters are not asked. The built-in one is: of the chats of test/engine/generate/aside.test.ts it
 * gives none a title. Those that follow such a request begin at about this size.
 */
const leastParameters = 250e6;
const mostTokens = 32;
const request =
  'Write a title for this conversation so far: two to six words, in the language of my first message. ' +
  'Reply with the title alone, without quotation marks.';

type TitlesEngine = Pick<EngineService, 'rested' | 'aside' | 'status'>;

export class ChatTitles {
  /** chats for which the model was asked, whatever it said: once in a run of the app */
  private readonly asked = new Set<string>();

  constructor(
    private readonly chats: Pick<ChatStore, 'open' | 'entitle'>,
    private readonly engine: TitlesEngine,
    private readonly questions: Pick<Questions, 'promptBefore'>,
    private readonly settings: () => Pick<Settings, 'titles'>,
    log: Logger,
  ) {
    engine.rested.on(() => void this.name().catch((error) => log.warn(`A chat was not named: ${String(error)}`)));
  }

  /** The chat whose text the context holds, if it is still named by its question. */
  private async name(): Promise<void> {
    const { state, model, contextChat } = this.engine.status();
    if (this.settings().titles !== 'model' || state !== 'ready' || !model || contextChat === null) return;
    if (model.parameters < leastParameters || this.asked.has(contextChat)) return;
    const chat = await this.chats.open(contextChat);
    if (chat.namedBy !== 'question') return;
    const branch = finishedBranch(chat);
    if (!branch) return;
    const messages = [
      ...(await this.questions.promptBefore(chat, branch)),
      { role: 'user' as const, content: request },
    ];
    const text = await this.engine.aside({ messages, ...chatOptions(chat), maxTokens: mostTokens });
    // something was asked in the meantime: when it is quiet again
    if (text === null) return;
    this.asked.add(chat.id);
    const title = titleIn(text, textOf(branch));
    if (title !== null) await this.chats.entitle(chat.id, title);
  }
}

/** The shown branch, if it ends in an answer that came to its end by itself; one that may go on keeps the context as it is. */
function finishedBranch(chat: Chat): Message[] | null {
  const branch = promptBranch(chat, chat.leafId);
  const last = branch.at(-1);
  const ended = last?.stopReason === 'end-of-turn' || last?.stopReason === 'stop-string';
  // a summary was read part by part: its documents stand in no prompt
  return ended && branch.every(({ summary }) => !summary) ? branch : null;
}

function textOf(branch: readonly Message[]): string {
  return branch.map(({ text }) => text).join('\n');
}

// What of an answer is a title.

const mostWords = 8;
const mostCharacters = 80;
/** of scripts that are written without blanks between words */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const scripts = [
  ...['Latin', 'Cyrillic', 'Greek', 'Arabic', 'Hebrew', 'Devanagari', 'Bengali', 'Tamil', 'Thai', 'Hangul'],
  ...['Hiragana', 'Katakana', 'Han', 'Armenian', 'Georgian', 'Ethiopic', 'Khmer', 'Lao'],
].map((name) => new RegExp(`\\p{Script=${name}}`, 'u'));

/** null: it is none, and the question says more. @param chat its text, whose letters the title has */
export function titleIn(answer: string, chat: string): string | null {
  const title = withoutFrame(answer.trim());
  const words = title.split(/\s+/).length;
  const isLong = unspaced.test(title) ? [...title].length >= 2 : words >= 2;
  const wrong =
    !isLong ||
    words > mostWords ||
    [...title].length > mostCharacters ||
    // several lines, markup, marks of thinking and of templates, quotations
    /[\n<>{}[\]|`*_#"“”„«»]/.test(title) ||
    // a sentence, or a label in place of a title
    /[.!:。！：]$|[.!?。！？]\s/.test(title) ||
    /^(?:-|(?:sure|here|okay|ok|i|sorry|title|titel|título|titre)\b)/i.test(title) ||
    !/\p{L}/u.test(title) ||
    scripts.some((script) => script.test(title) && !script.test(chat));
  return wrong ? null : title;
}

/** What models put around a title: a word for what it is, quotation marks, a mark of emphasis, a full stop. */
function withoutFrame(answer: string): string {
  let title = answer.replace(/^(\*\*)?(?:title|titel|título|titre|titolo|标题|タイトル)\s*[:：]\1?\s*/i, '');
  for (const [open, close] of [
    ['**', '**'],
    ['"', '"'],
    ['“', '”'],
    ['„', '“'],
    ['«', '»'],
    ["'", "'"],
  ] as const) {
    if (title.length > 4 && title.startsWith(open) && title.endsWith(close)) {
      title = title.slice(open.length, -close.length).trim();
    }
  }
  return /[^.]\.$/.test(title) ? title.slice(0, -1) : title;
}
