/** Chats as an earlier run of the app would have left them, for tests and measurements. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AnswerStats, Message } from '@/electron/contract/chats';

export interface WrittenChat {
  id: string;
  title: string;
  messages: Message[];
}

/** @param turns questions, each with its answer; message ids are `q0`, `a0`, `q1`, ... */
export function writeLongChat(dataDir: string, turns: number): Promise<WrittenChat> {
  const messages = Array.from({ length: turns }, (_, turn): MessagePart[] => [
    {
      id: `q${turn}`,
      parentId: turn === 0 ? null : `a${turn - 1}`,
      text: `Question ${turn}: what happens at the ${ordinal(turn)} station of the line?`,
    },
    { id: `a${turn}`, parentId: `q${turn}`, text: answerOf(turn) },
  ]).flat();
  return writeChat(dataDir, 'A very long chat', messages);
}

export type MessagePart = Pick<Message, 'id' | 'parentId' | 'text'> & Partial<Message>;

/** Messages whose id begins with `a` are answers. */
export async function writeChat(dataDir: string, title: string, parts: readonly MessagePart[]): Promise<WrittenChat> {
  const id = title.toLowerCase().replace(/[^a-z]+/g, '-');
  const at = Date.parse('2026-01-05T09:00:00Z');
  const messages = parts.map((part, index) => ({ ...blank(part.id, index), createdAt: at + index * 30_000, ...part }));
  const records = [
    { type: 'chat', at, id, title },
    ...messages.map((message) => ({ type: 'message', at: message.createdAt, message })),
  ];
  await mkdir(path.join(dataDir, 'chats'), { recursive: true });
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  await writeFile(path.join(dataDir, 'chats', `${id}.jsonl`), lines.join(''));
  return { id, title, messages };
}

function blank(id: string, index: number): Omit<Message, 'id' | 'parentId' | 'text' | 'createdAt'> {
  const common = { thinking: '', attachments: [], error: null };
  return id.startsWith('a')
    ? { ...common, role: 'assistant', stopReason: 'end-of-turn', stats: statsOf(index), modelName: 'concertina-small' }
    : { ...common, role: 'user', stopReason: null, stats: null, modelName: '' };
}

const sentence = 'The train waits for the connection from the coast, and the guard writes the delay into the book. ';

/** Lengths and kinds in turn: a line, paragraphs, a list, a table, code. */
export function answerOf(turn: number): string {
  const head = `Station **${turn}** is the ${ordinal(turn)} of the line.`;
  switch (turn % 5) {
    case 0:
      return head;
    case 1:
      return `${head}\n\n${sentence.repeat(4)}\n\n${sentence.repeat(7)}`;
    case 2:
      return `${head}\n\n- ${sentence}\n- ${sentence}\n- ${sentence}\n\n> ${sentence}`;
    case 3:
      return `${head}\n\n| Train | Platform | Delay |\n| --- | --- | --- |\n${'| 4711 | 18 | 3 min |\n'.repeat(5)}`;
    default:
      return `${head}\n\n\`\`\`ts\nexport function delay(train: number): number {\n  // minutes\n  return train % 7;\n}\n\`\`\`\n\n${sentence.repeat(3)}`;
  }
}

function ordinal(turn: number): string {
  const ending = turn % 100 > 10 && turn % 100 < 14 ? 'th' : (['th', 'st', 'nd', 'rd'][turn % 10] ?? 'th');
  return `${turn}${ending}`;
}

function statsOf(turn: number): AnswerStats {
  return {
    ...{ promptTokens: 240 + turn, cachedTokens: 200 + turn, restoredTokens: 0, answerTokens: 90 },
    ...{ ttftMs: 120, promptTokensPerSecond: 610, tokensPerSecond: 48, contextUsed: 330 + turn, contextSize: 8192 },
    ...{ typeK: 'turbo4', typeV: 'turbo4', seed: 1, parts: 1, rereadTokens: 0 },
  };
}
