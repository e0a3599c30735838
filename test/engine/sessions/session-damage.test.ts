/** Sessions damaged anywhere: the engine lives, the answer is the right one, the session is removed and the person told. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { GenerateRequest } from '@/electron/contract/engineContract';
import { samplingSettingsSchema } from '@/electron/contract/settings';
import type { ChatMessage } from '@/electron/engine/native/types';
import { SessionKeeper } from '@/electron/engine/sessions/keeper';
import { answer, contextOptions, filler, greedy, loadTiny, temporaryFolder } from '../support';

const messages: ChatMessage[] = [{ role: 'user', content: `${filler(14)}What strikes once an hour?` }];
const places = 50;

function request(chatId: string): GenerateRequest {
  const ids = { requestId: 'r', chatId, messageId: 'm' };
  return { ...ids, messages, now: 0, jsonSchema: null, sampling: samplingSettingsSchema.parse({}) };
}

/** the same places at every run */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

it(`survives flipped bits and cuts at ${places} random places`, async () => {
  const model = await loadTiny();
  const context = await model.createContext(contextOptions({ nCtx: 512, typeK: 'turbo4', typeV: 'turbo3' }));
  const loaded = { model, context };
  const good = temporaryFolder();
  const keeper = (folder: string, notices: string[] = []) => {
    const made = new SessionKeeper({ notice: (text) => notices.push(text), diskRoom: async () => 1e12 });
    return made.configure({ folder, enabled: true, minTokens: 64, maxBytes: 1e9 }).then(() => made);
  };
  const prepare = async (folder: string, notices: string[] = []) => {
    context.clear();
    const made = await keeper(folder, notices);
    const restored = await made.prepare(loaded, request('a'), new AbortController().signal, () => undefined);
    return { made, restored };
  };

  const first = await prepare(good);
  const short = greedy({ maxTokens: 8 });
  const expected = (await answer(context, messages, short)).result.text;
  first.made.learn(1000, 50);
  expect(await first.made.keep(loaded)).toBe(true);
  expect((await prepare(good)).restored).toBe(true);

  const names = fs.readdirSync(good);
  expect(names.map((name) => path.extname(name)).sort()).toEqual(['.json', '.kv', '.tokens']);
  const random = randomFrom(7);
  const folder = temporaryFolder();
  for (let place = 0; place < places; place++) {
    fs.rmSync(folder, { recursive: true });
    fs.cpSync(good, folder, { recursive: true });
    const name = names[place % 3] ?? '';
    const data = fs.readFileSync(path.join(folder, name));
    const at = Math.floor(random() * data.length);
    data[at] = (data[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    fs.writeFileSync(path.join(folder, name), place % 2 === 0 ? data : data.subarray(0, at));

    const notices: string[] = [];
    const what = `${path.extname(name)}, byte ${at}`;
    const { made, restored } = await prepare(folder, notices);
    // a changed blank between two words of the JSON is no damage
    if (restored) expect(path.extname(name), what).toBe('.json');
    else expect(notices, what).toEqual([expect.stringContaining('damaged and was removed')]);
    expect((await answer(context, messages, short)).result.text, what).toBe(expected);
    expect(await made.list(loaded), what).toHaveLength(restored ? 1 : 0);
    if (!restored) expect(fs.readdirSync(folder), what).toEqual([]);
  }
});
