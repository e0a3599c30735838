/** Chats that a test finds there, as if an earlier run of the app had left them. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export interface ChatFile {
  id: string;
  title: string;
  /** days ago */
  age?: number;
  pinned?: boolean;
  folder?: string;
  /** question, answer, question, and so on */
  texts?: string[];
}

export async function writeChats(dataDir: string, chats: readonly ChatFile[]): Promise<void> {
  const folder = path.join(dataDir, 'chats');
  await mkdir(folder, { recursive: true });
  for (const chat of chats) {
    const log = recordsOf(chat).map((record) => `${JSON.stringify(record)}\n`);
    await writeFile(path.join(folder, `${chat.id}.jsonl`), log.join(''));
  }
}

function recordsOf({ id, title, age = 0, pinned, folder, texts = [] }: ChatFile): object[] {
  const at = Date.now() - age * 86_400_000;
  const messages = texts.map((text, n) => ({
    id: `${id}-${n}`,
    parentId: n === 0 ? null : `${id}-${n - 1}`,
    role: n % 2 === 0 ? 'user' : 'assistant',
    text,
    createdAt: at,
    stopReason: n % 2 === 0 ? null : 'end-of-turn',
  }));
  return [
    { type: 'chat', at, id, title },
    ...messages.map((message) => ({ type: 'message', at, message })),
    ...(pinned ? [{ type: 'pin', at, pinned }] : []),
    ...(folder ? [{ type: 'folder', at, folder }] : []),
  ];
}

/** For pictures. */
export const sampleLibrary: ChatFile[] = [
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
