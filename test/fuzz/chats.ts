/** Logs of chats with changed bytes and lines, read by the store as a start reads them, and written to as an answer is. */
import fs from 'node:fs';
import path from 'node:path';
import { ChatStore } from '@/electron/services/chats/chatStore';
import { pick } from './random.mjs';
import { type Attack, type Edit, edited, type Outcome, outcomeOf, type Random, someEdits } from './target';

type Case = { file: string; edits: Edit[] } | { file: string; lines: string[] };

const kept = path.resolve('test', 'fixtures', 'data-concertina-tiny', 'chats');
const values = [
  'null',
  '-1',
  '1e999',
  '9007199254740993',
  '""',
  '"\\ud800"',
  '[]',
  '{}',
  'true',
  '"../../settings"',
  '"__proto__"',
];

export async function chats(folder: string): Promise<Attack<Case>> {
  const names = fs.readdirSync(kept);
  const log = names.find((name) => name.endsWith('.jsonl')) ?? '';
  const originals = new Map(names.map((name) => [name, fs.readFileSync(path.join(kept, name))]));

  async function run(one: Case): Promise<Outcome> {
    const data = fs.mkdtempSync(path.join(folder, 'data-'));
    const place = path.join(data, 'chats');
    fs.mkdirSync(place);
    for (const [name, bytes] of originals) fs.writeFileSync(path.join(place, name), bytes);
    const changed =
      'lines' in one
        ? Buffer.from(one.lines.join('\n'))
        : edited(originals.get(one.file) ?? Buffer.alloc(0), one.edits);
    fs.writeFileSync(path.join(place, one.file), changed);
    try {
      return await used(data, log.slice(0, -'.jsonl'.length));
    } finally {
      fs.rmSync(data, { recursive: true, force: true });
    }
  }

  return {
    make(random) {
      const file = random(6) ? log : pick(random, names);
      const original = originals.get(file) ?? Buffer.alloc(0);
      if (random(2)) return { file, edits: someEdits(random, original.length) };
      return { file, lines: otherLines(random, original.toString('utf8').split('\n')) };
    },
    run,
    close: async () => undefined,
  };
}

/** Reads all, adds a message, and reads it again in what the next start sees: it is there, whatever the rest has become. */
async function used(data: string, id: string): Promise<Outcome> {
  const open = async () => {
    const store = new ChatStore(path.join(data, 'chats'), path.join(data, 'trash'));
    await store.load();
    return store;
  };
  const store = await open();
  try {
    if (!store.list().some((chat) => chat.id === id)) return { refused: 'not listed' };
    await store.open(id);
    const text = 'What is new?';
    const facts = { modelName: '', attachments: [], stopReason: null, error: null, stats: null };
    const message = { id: 'new-1', parentId: null, role: 'user' as const, text, thinking: '', createdAt: 1, ...facts };
    await store.addMessages(id, [message]);
    await store.close();
    const { messages } = await (await open()).open(id);
    if (!messages.some((there) => there.id === 'new-1' && there.text === text))
      return { problem: 'the message that was added is gone' };
    return { served: true };
  } catch (error) {
    return outcomeOf(error);
  } finally {
    await store.close();
  }
}

/** Lines doubled, left out, swapped, or with another value in the place of one. */
function otherLines(random: Random, lines: string[]): string[] {
  const list = [...lines];
  for (let count = 1 + random(4); count > 0; count--) {
    const at = random(list.length);
    const line = list[at] ?? '';
    const kind = random(6);
    if (kind === 0) list.splice(at, 1);
    else if (kind === 1) list.splice(random(list.length), 0, line);
    else if (kind === 2) list[at] = line.slice(0, random(line.length + 1));
    else if (kind === 3) list.splice(at, 0, pick(random, values));
    else {
      const places = [...line.matchAll(/:("(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|null|true|false|\[\])/g)];
      const place = places[random(Math.max(1, places.length))];
      if (place)
        list[at] = `${line.slice(0, place.index)}:${pick(random, values)}${line.slice(place.index + place[0].length)}`;
    }
  }
  return list;
}
