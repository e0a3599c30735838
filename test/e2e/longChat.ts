/** A chat of thousands of messages, as a long use of the app would have left it, for tests and measurements. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Message } from '../../electron/shared/chats';

export interface LongChat {
  id: string;
  title: string;
  messages: Message[];
}

/** @param turns questions, each with its answer; message ids are `q0`, `a0`, `q1`, ... */
export async function writeLongChat(dataDir: string, turns: number, title = 'A very long chat'): Promise<LongChat> {
  const id = 'long-chat';
  const at = Date.parse('2026-01-05T09:00:00Z');
  const messages: Message[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const common = { thinking: '', createdAt: at + turn * 60_000, error: null };
    const question = `Question ${turn}: what happens at the ${ordinal(turn)} station of the line?`;
    messages.push({
      ...common,
      ...{ id: `q${turn}`, parentId: turn === 0 ? null : `a${turn - 1}`, role: 'user', text: question },
      ...{ stopReason: null, stats: null, modelName: '' },
    });
    messages.push({
      ...common,
      ...{ id: `a${turn}`, parentId: `q${turn}`, role: 'assistant', text: answerOf(turn) },
      ...{ stopReason: 'end-of-turn', stats: statsOf(turn), modelName: 'concertina-tiny' },
    });
  }
  const records = [
    { type: 'chat', at, id, title },
    ...messages.map((message) => ({ type: 'message', at: message.createdAt, message })),
  ];
  await mkdir(path.join(dataDir, 'chats'), { recursive: true });
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  await writeFile(path.join(dataDir, 'chats', `${id}.jsonl`), lines.join(''));
  return { id, title, messages };
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

function statsOf(turn: number): Message['stats'] {
  return {
    ...{ promptTokens: 240 + turn, cachedTokens: 200 + turn, restoredTokens: 0, answerTokens: 90 },
    ...{ ttftMs: 120, promptTokensPerSecond: 610, tokensPerSecond: 48, contextUsed: 330 + turn, contextSize: 8192 },
    ...{ typeK: 'turbo4', typeV: 'turbo4', seed: 1 },
  };
}
