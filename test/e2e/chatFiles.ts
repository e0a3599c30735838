/** Chats as an earlier run of the app would have left them, for tests, pictures and measurements. */
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

interface ChatFile {
  id: string;
  title: string;
  /** days ago */
  age?: number;
  pinned?: boolean;
  folder?: string;
}

/** Messages whose id begins with `a` are answers. */
export function writeChat(dataDir: string, title: string, parts: readonly MessagePart[]): Promise<WrittenChat> {
  return write(dataDir, { id: title.toLowerCase().replace(/[^a-z]+/g, '-'), title }, parts);
}

/** `texts`: question, answer, question, and so on. */
export async function writeChats(dataDir: string, chats: readonly (ChatFile & { texts: string[] })[]): Promise<void> {
  for (const { texts, ...chat } of chats) {
    const id = (n: number) => `${n % 2 === 0 ? 'q' : 'a'}-${chat.id}-${n}`;
    const parts = texts.map((text, n) => ({ id: id(n), parentId: n === 0 ? null : id(n - 1), text }));
    await write(dataDir, chat, parts);
  }
}

async function write(dataDir: string, chat: ChatFile, parts: readonly MessagePart[]): Promise<WrittenChat> {
  const { id, title, age = 0, pinned, folder } = chat;
  const at = Date.now() - age * 86_400_000;
  const messages = parts.map((part, index) => ({ ...blank(part.id, index), createdAt: at + index, ...part }));
  const records = [
    { type: 'chat', at, id, title },
    ...messages.map((message) => ({ type: 'message', at: message.createdAt, message })),
    ...(pinned ? [{ type: 'pin', at, pinned }] : []),
    ...(folder ? [{ type: 'folder', at, folder }] : []),
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

/** For pictures. */
export const sampleLibrary = [
  {
    id: 'lease',
    title: 'The lease',
    pinned: true,
    folder: 'House',
    texts: [
      'When is the deposit due, and when is it returned?',
      'The deposit of 1,800 is due on 3 May. It is returned within thirty days after the keys were handed over.',
    ],
  },
  { id: 'notice', title: 'Notice periods', age: 1, folder: 'House', texts: ['How long?', 'Three months.'] },
  {
    id: 'bill',
    title: 'Heating bill',
    age: 9,
    folder: 'House',
    texts: ['May it be kept from my deposit?', 'In part.'],
  },
  { id: 'agreement', title: 'Supplier agreement', age: 1, folder: 'Work', texts: ['Is a deposit asked for?', 'No.'] },
  { id: 'linker', title: 'What is a linker?', age: 1, texts: ['What is a linker?', 'It joins object files.'] },
];

const formulas = [
  'For a circle of radius $r$ the area is $A = \\pi r^2$ and the way round it \\(U = 2\\pi r\\). A plate of that size costs $5 to $10.',
  '\\[\n\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2} \\qquad \\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}\n\\]',
  '| Shape | Area | Way round |\n| --- | --- | --- |\n| Circle | $\\pi r^2$ | $2\\pi r$ |\n| Square | $a^2$ | $4a$ |',
  '```python\nimport math\n\ndef area(radius: float) -> float:\n    return math.pi * radius**2  # price "$5"\n```',
].join('\n\n');

/** What answers can hold, for pictures. */
export function writeSampleChat(dataDir: string): Promise<WrittenChat> {
  return writeChat(dataDir, 'Circles', [
    { id: 'q1', parentId: null, text: 'How does the area of a circle grow?' },
    {
      ...{ id: 'a1', parentId: 'q1' },
      text: 'The area grows with the radius. A circle of twice the radius is twice as large.\n\nSo a plate that is a little larger holds a little more.',
    },
    {
      ...{ id: 'a2', parentId: 'q1', thinking: 'Area is pi times the square of the radius.' },
      text: 'The area grows with the square of the radius. A circle of twice the radius is four times as large.\n\nSo a plate that is a little larger holds much more.',
    },
    { id: 'q2', parentId: 'a2', text: 'Write it as formulas, please.' },
    { id: 'a3', parentId: 'q2', text: formulas },
  ]);
}
