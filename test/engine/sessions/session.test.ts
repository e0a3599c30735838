/** The KV cache between answers: prefix reuse, and sessions on disk, also damaged ones. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { differenceOf } from '@/electron/engine/native/sessionFile';
import type { ChatMessage } from '@/electron/engine/native/types';
import { SessionKeeper } from '@/electron/engine/sessions/keeper';
import { writeAdapter } from '../adapter';
import {
  answer,
  contextOptions,
  filler,
  greedy,
  loadTiny,
  question,
  randomFrom,
  refusal,
  request,
  temporaryFolder,
  tinyContext,
} from '../support';

describe('prefix reuse', () => {
  it('evaluates only what is new in the next turn', async () => {
    const { model, context } = await tinyContext();
    const first = question() as ChatMessage[];
    const one = await answer(context, first);
    expect(one.result.cachedTokens).toBe(0);
    const next: ChatMessage[] = [
      ...first,
      { role: 'assistant', content: one.result.text },
      { role: 'user', content: 'Who lit the harbour lamp?' },
    ];
    const two = await answer(context, next);
    // the end of the first answer is new: its last token was not evaluated, then come the marks of the template
    expect(two.result.cachedTokens).toBe(one.result.contextUsed);
    expect(two.result.promptTokens).toBe((await model.chatTokens(next)).length);

    const fresh = await model.createContext(contextOptions());
    expect((await answer(fresh, next)).result.text).toBe(two.result.text);
  });

  it('evaluates at least one token, and forgets what differs', async () => {
    const { model, context } = await tinyContext();
    const tokens = model.tokenize(filler(10));
    const one = await answer(context, tokens);
    const same = await answer(context, tokens);
    expect(same.result.cachedTokens).toBe(tokens.length - 1);
    expect(same.result.text).toBe(one.result.text);
    const changed = tokens.slice();
    changed[20] = (changed[20] ?? 0) + 1;
    expect((await answer(context, changed)).result.cachedTokens).toBe(20);
    context.clear();
    expect(context.contextUsed).toBe(0);
    expect((await answer(context, tokens)).result.cachedTokens).toBe(0);
  });
});

describe('sessions', () => {
  const types = ['f16', 'turbo4', 'turbo3'];
  const pairs = [
    ...types.flatMap((typeK) => types.map((typeV) => ({ typeK, typeV }))),
    { typeK: 'turbo4_tcq', typeV: 'turbo3_tcq' },
  ];
  /** one measurement for all pairs */
  let measured: Promise<Uint8Array> | null = null;

  it('belongs to the adapters and scales that it was made with, and one that another scale made is refused', async () => {
    const model = await loadTiny();
    const lora = writeAdapter(temporaryFolder());
    const of = (...scales: number[]) =>
      model.createContext(contextOptions({ nCtx: 512, adapters: scales.map((scale) => ({ model: lora, scale })) }));
    const [none, off, half, whole] = [await of(), await of(0), await of(0.5), await of(1)];
    const tokens = model.tokenize(filler(12));
    await answer(half, tokens);
    const file = path.join(temporaryFolder(), 'session');
    await half.saveSession(file);
    for (const other of [none, whole]) {
      const failed = await refusal(other.loadSession(file));
      expect(failed).toMatchObject({ code: 'data-corrupt', message: expect.stringContaining('saved with "adapters ') });
      expect(differenceOf(half.sessionLabel, other.sessionLabel)).toMatch(/other LoRA adapters, or with other scales/);
    }
    expect(await (await of(0.5)).loadSession(file)).toBeGreaterThan(tokens.length - 1);
    // as without: it changes nothing
    expect(off.sessionLabel).toBe(none.sessionLabel);
    const byOption = contextOptions({ nCtx: 512, core: ['--lora', lora] });
    const [first, second] = [await model.createContext(byOption), await model.createContext(byOption)];
    expect(first.sessionLabel).not.toBe(second.sessionLabel);
  });

  it.each(pairs)(
    'K $typeK, V $typeV, centred or not: 64 greedy tokens after restoring are those without',
    async (pair) => {
      const model = await loadTiny();
      measured ??= model.calibrate({ text: filler(60), maxTokens: 256, positions: 512, threads: 1 });
      const calibration = await measured;
      const tokens = model.tokenize(filler(12));
      const more = Int32Array.from([...tokens, ...model.tokenize(' In the beginning')]);
      // without the grammar, which has no end, the model may end early
      const long = greedy({ maxTokens: 64, grammar: 'root ::= [a-z ] root' });
      const centrable = pair.typeK !== 'f16' || pair.typeV !== 'f16';
      for (const centred of centrable ? [false, true] : [false]) {
        model.attachCalibration(centred ? calibration : null);
        const file = path.join(temporaryFolder(), 'session.bin');
        const context = await model.createContext(contextOptions({ nCtx: 512, ...pair }));
        expect(context.effective.centring.k || context.effective.centring.v).toBe(centred);
        await answer(context, tokens, greedy({ maxTokens: 4 }));
        const used = context.contextUsed;
        expect(await context.saveSession(file)).toBe(fs.statSync(file).size);
        expect(fs.readdirSync(path.dirname(file))).toEqual(['session.bin']);
        const without = await answer(context, more, long);
        expect(without.result.answerTokens).toBe(64);
        await context.dispose();
        const other = await model.createContext(contextOptions({ nCtx: 512, ...pair }));
        expect(await other.loadSession(file)).toBe(used);
        expect(other.contextUsed).toBe(used);
        const restored = await answer(other, more, long);
        expect(restored.result.text).toBe(without.result.text);
        expect(restored.result.cachedTokens).toBe(without.result.cachedTokens);
        expect(restored.result.cachedTokens / tokens.length).toBeGreaterThan(0.95);
      }
    },
  );

  it('the label says what a session must agree in, and the tokens are those of the chat', async () => {
    const { model, context } = await tinyContext();
    const turbo = await model.createContext(contextOptions({ typeV: 'turbo3' }));
    expect(context.sessionLabel).toMatch(/^model [0-9a-f]+\nK f16\nV f16\ncentred [0-9a-f]+\nRoPE model 1\nflash 1\n/);
    expect(context.sessionLabel).toMatch(/\nllama.cpp [0-9a-f]{7,}\ncells [0-9a-f]{16}\n$/);
    expect(turbo.sessionLabel).toBe(context.sessionLabel.replace('V f16', 'V turbo3'));
    expect(context.rewinds).toBe(true);
    expect(context.tokens()).toEqual(new Int32Array());
    const messages = question() as ChatMessage[];
    const running = answer(context, messages);
    expect(() => context.tokens()).toThrow('at work');
    await running;
    const prompt = await model.chatTokens(messages);
    expect(context.tokens().subarray(0, prompt.length)).toEqual(prompt);
    expect(context.tokens().length).toBe(context.contextUsed);
  });

  it('refuses damaged files and files of other caches, and the context still works', async () => {
    const model = await loadTiny();
    const folder = temporaryFolder();
    const file = path.join(folder, 'session.bin');
    const context = await model.createContext(contextOptions());
    const whole = await answer(context, question());
    await context.saveSession(file);
    const good = fs.readFileSync(file);

    const refuse = async (name: string, data: Uint8Array, code = 'data-corrupt') => {
      const damaged = path.join(folder, name);
      fs.writeFileSync(damaged, data);
      expect(await refusal(context.loadSession(damaged)), name).toMatchObject({ code });
    };
    const flipped = Buffer.from(good);
    flipped[good.length >> 1] = (flipped[good.length >> 1] ?? 0) ^ 1;
    await refuse('flipped bit', flipped);
    await refuse('cut', good.subarray(0, -100));
    await refuse('cut in front', good.subarray(64));
    await refuse('longer', Buffer.concat([good, Buffer.alloc(8)]));
    await refuse('text', Buffer.from('not a session'));
    await refuse('empty', Buffer.alloc(0));
    expect(await refusal(context.loadSession(path.join(folder, 'none')))).toMatchObject({ code: 'not-found' });
    expect(await refusal(context.saveSession(path.join(folder, 'no', 'folder')))).toMatchObject({
      code: 'storage-failed',
    });

    const turbo = await model.createContext(contextOptions({ typeK: 'turbo4', typeV: 'turbo4' }));
    const error = await refusal(turbo.loadSession(file));
    expect(error).toMatchObject({ code: 'data-corrupt', message: expect.stringContaining('turbo4') });
    const small = await model.createContext(contextOptions({ nCtx: 256 }));
    const long = await answer(context, model.tokenize(filler(40)), greedy({ maxTokens: 1 }));
    expect(long.result.contextUsed).toBeGreaterThan(256);
    await context.saveSession(file);
    expect(await refusal(small.loadSession(file))).toMatchObject({ code: 'context-full' });

    expect((await answer(context, question())).result.text).toBe(whole.result.text);
  });
});

/** native/addon/model/Fingerprint.cpp in other words: 8 bytes at a time, the last ones filled up with zeros */
function checksumOf(data: Buffer): bigint {
  const padded = Buffer.concat([data, Buffer.alloc(-data.length & 7)]);
  let state = 0x9e3779b97f4a7c15n;
  for (let at = 0; at < padded.length; at += 8) {
    state = ((state ^ padded.readBigUInt64LE(at)) * 0xff51afd7ed558ccdn) & 0xffffffffffffffffn;
    state ^= state >> 32n;
  }
  return state;
}

describe('the file of a session', () => {
  async function written() {
    const { model, context } = await tinyContext({ nCtx: 256, typeK: 'turbo4', typeV: 'turbo3' });
    await answer(context, model.tokenize(filler(3)), greedy({ maxTokens: 2 }));
    const file = path.join(temporaryFolder(), 'session.bin');
    return { model, context, file, names: () => fs.readdirSync(path.dirname(file)) };
  }

  it('has the parts, the lengths and the checksum of every version that writes CNCTKV02', async () => {
    const { context, file } = await written();
    await context.saveSession(file);
    const data = fs.readFileSync(file);
    const footer = data.subarray(-40);
    const [state, checkpoints, label] = [0, 8, 16].map((at) => Number(footer.readBigUInt64LE(at)));
    expect(footer.toString('latin1', 32)).toBe('CNCTKV02');
    expect([checkpoints, label]).toEqual([0, context.sessionLabel.length]);
    expect(data.subarray(state, -40).toString()).toBe(context.sessionLabel);
    expect(footer.readBigUInt64LE(24)).toBe(checksumOf(data.subarray(0, -40)));
    expect([data.toString('latin1', 0, 4), data.readUInt32LE(8)]).toEqual(['qsgg', context.contextUsed]);
  });

  it('is refused when its bytes are those of no session, though its checksum is right', async () => {
    const { model, context, file } = await written();
    await context.saveSession(file);
    const data = fs.readFileSync(file);
    data.fill(0xff, 16, 4096);
    data.writeBigUInt64LE(checksumOf(data.subarray(0, -40)), data.length - 16);
    fs.writeFileSync(file, data);
    const other = await model.createContext(contextOptions({ nCtx: 256, typeK: 'turbo4', typeV: 'turbo3' }));
    expect(await refusal(other.loadSession(file))).toMatchObject({ code: 'data-corrupt' });
    expect(other.contextUsed).toBe(0);
    expect(other.tokens()).toEqual(new Int32Array());
  });

  it('stopped: a save leaves no file, a load leaves the context as it is', async () => {
    const { model, context, file, names } = await written();
    const stopped = AbortSignal.abort();
    expect(await refusal(context.saveSession(file, stopped))).toMatchObject({ code: 'cancelled' });
    expect(names()).toEqual([]);
    await context.saveSession(file);
    const used = context.contextUsed;
    await answer(context, model.tokenize(filler(5)), greedy({ maxTokens: 2 }));
    const more = context.tokens();
    expect(more.length).toBeGreaterThan(used);
    expect(await refusal(context.loadSession(file, stopped))).toMatchObject({ code: 'cancelled' });
    expect(context.tokens()).toEqual(more);
  });

  it('saved twice at once is whole, and nothing else is left', async () => {
    const { context, file, names } = await written();
    const saves = await Promise.allSettled([context.saveSession(file), context.saveSession(file)]);
    expect(saves.map(({ status }) => status)).toContain('fulfilled');
    expect(names()).toEqual(['session.bin']);
    expect(await context.loadSession(file)).toBe(context.contextUsed);
  });
});

const asked: ChatMessage[] = [{ role: 'user', content: `${filler(14)}What strikes once an hour?` }];
const places = 50;

it(`a session with flipped bits and cuts at ${places} random places: the answer is the right one, and it is removed`, async () => {
  const { model, context } = await tinyContext({ nCtx: 512, typeK: 'turbo4', typeV: 'turbo3' });
  const loaded = { model, context };
  const good = temporaryFolder();
  const keeper = (folder: string, notices: string[] = []) => {
    const made = new SessionKeeper({ notice: (text) => notices.push(text), diskRoom: async () => 1e12 });
    return made.configure({ folder, enabled: true, minTokens: 64, maxBytes: 1e9 }).then(() => made);
  };
  const prepare = async (folder: string, notices: string[] = []) => {
    context.clear();
    const made = await keeper(folder, notices);
    const restored = await made.prepare(
      loaded,
      request({ chatId: 'a', messages: asked }),
      new AbortController().signal,
      () => undefined,
    );
    return { made, restored };
  };

  const first = await prepare(good);
  const short = greedy({ maxTokens: 8 });
  const expected = (await answer(context, asked, short)).result.text;
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
    expect((await answer(context, asked, short)).result.text, what).toBe(expected);
    expect(await made.list(loaded), what).toHaveLength(restored ? 1 : 0);
    if (!restored) expect(fs.readdirSync(folder), what).toEqual([]);
  }
});
