/** A branch as prompts have it: a brief stands in place of the oldest messages, where one was made of them. */

import type { Chat, Message, Recalled } from '../../contract/chats';
import { type Brief, briefOn, coveredBy } from '../../contract/lib/brief';
import type { ToolRound } from '../../contract/tools/tools';
import { branchTo } from './chatLog';

/** A message, or a brief. `stands`: of a brief, in place of so many messages. */
export type BranchMessage = Message & { stands?: number };

/** so many of the last turns are never shortened */
const keptTurns = 2;

/** From the first message to `leafId`. */
export function promptBranch(chat: Chat, leafId: string | null): BranchMessage[] {
  const path = branchTo(chat, leafId);
  const brief = briefOn(path, chat.briefs);
  return brief ? withBrief(path, brief) : path;
}

/** With what was written and called so far of the answer to the question that it ends in. */
export function withRounds(branch: readonly BranchMessage[], rounds: readonly ToolRound[]): BranchMessage[] {
  return branch.map((message, i) => (i === branch.length - 1 ? { ...message, rounds: [...rounds] } : message));
}

/** Messages with documents stay before it. Like them, it is never left out when the context is full. */
function withBrief(path: readonly BranchMessage[], brief: Pick<Brief, 'id' | 'throughId' | 'text' | 'createdAt'>) {
  const covered = coveredBy(path, brief.throughId);
  const place = path.findIndex(({ id }) => id === brief.throughId) + 1;
  const stand: BranchMessage = {
    ...{ id: brief.id, parentId: null, role: 'user', text: briefText(brief.text), attachments: [], thinking: '' },
    ...{ createdAt: brief.createdAt, stopReason: null, error: null, stats: null, modelName: '', stands: covered.size },
  };
  // what earlier answers went without is counted from the first message
  const behind = path.slice(place).map((message): BranchMessage => {
    const { leftOut = 0, ...rest } = message;
    const left = leftOut - covered.size;
    return leftOut === 0 ? message : { ...rest, ...(left > 0 && { leftOut: left }) };
  });
  const texts = path.filter(({ id }) => covered.has(id));
  const full = behind.map((message) =>
    message.recalled ? { ...message, text: recalledText(texts, message.recalled) + message.text } : message,
  );
  return [...path.slice(0, place).filter(({ id }) => !covered.has(id)), stand, ...full];
}

/** As it stands before the words of a question. @param messages those that stretches may be of; others are left out */
export function recalledText(messages: readonly Message[], recalled: readonly Recalled[]): string {
  const lines = recalled.flatMap(({ messageId, start, end }) => {
    const message = messages.find(({ id }) => id === messageId);
    const words = message?.text.slice(start, end).trim();
    return message && words ? [`[${message.role === 'user' ? 'I wrote' : 'You wrote'}] ${words}`] : [];
  });
  return lines.length === 0 ? '' : `From earlier in this conversation:\n${lines.join('\n')}\n\n`;
}

/** As it stands before the first question that the model reads in full. */
function briefText(text: string): string {
  return `This is a brief of what we wrote before:\n\n${text.trim()}`;
}

/** Last messages of the turns that a brief may reach to, the first turn first: all but the last ones, and none with documents. */
export function reachesOf(path: readonly BranchMessage[]): string[] {
  const turns: BranchMessage[][] = [];
  for (const message of path) {
    const last = turns.at(-1);
    if (message.role === 'user' || !last) turns.push([message]);
    else last.push(message);
  }
  return turns
    .slice(0, -keptTurns)
    .filter((turn) => turn.every(({ attachments, stands }) => attachments.length === 0 && !stands))
    .flatMap((turn) => turn.at(-1)?.id ?? []);
}

/** As it would be with the longest brief that the model may write; null: there is nothing to shorten. */
export function shortened(path: readonly BranchMessage[], share: number): BranchMessage[] | null {
  const throughId = reachesOf(path).at(-1);
  if (throughId === undefined) return null;
  const covered = coveredBy(path, throughId);
  const texts = path.filter(({ id }) => covered.has(id)).map(({ text }) => text);
  const text = texts.join('\n').slice(0, Math.ceil(texts.join('\n').length * share));
  return withBrief(path, { id: 'brief', throughId, text, createdAt: 0 });
}
