/** A document that several chats begin with: its cells are saved once, and what follows them in a chat goes behind them. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, contextOptions, filler, greedy, loadTiny, refusal, temporaryFolder } from '../support';

// without the grammar, which has no end, the model may end early
const long = greedy({ maxTokens: 64, grammar: 'root ::= [a-z ] root' });

describe('a stretch of cells', () => {
  it.each(['f16', 'q8_0', 'turbo4', 'turbo3'])(
    '%s: a beginning and what follows it, each saved alone, give the tokens of what was read',
    async (type) => {
      const model = await loadTiny();
      const options = contextOptions({ nCtx: 1024, typeK: type, typeV: type });
      const tokens = model.tokenize(filler(30));
      const at = 250;
      const folder = temporaryFolder();
      const [first, rest] = [path.join(folder, 'first'), path.join(folder, 'rest')];
      const read = await model.createContext(options);
      expect(read.sharesCells).toBe(true);
      await answer(read, tokens, greedy({ maxTokens: 4 }));
      const held = read.tokens();
      await read.saveSession(first, undefined, { from: 0, to: at });
      await read.saveSession(rest, undefined, { from: at, to: held.length });
      const whole = await read.saveSession(path.join(folder, 'whole'));
      const parts = fs.statSync(first).size + fs.statSync(rest).size;
      expect(parts / whole).toBeLessThan(1.05);
      const more = Int32Array.from([...tokens, ...model.tokenize(' In the beginning')]);
      const expected = await answer(read, more, long);
      expect(expected.result.answerTokens).toBe(64);

      const restored = await model.createContext(options);
      expect(await restored.loadSession(first)).toBe(at);
      expect(await restored.loadSession(rest, undefined, at)).toBe(held.length - at);
      expect(restored.tokens()).toEqual(held);
      const again = await answer(restored, more, long);
      expect(again.result.text).toBe(expected.result.text);
      expect(again.result.cachedTokens).toBe(expected.result.cachedTokens);

      // another text goes on from the same beginning, as it does in the context that has read it
      const other = Int32Array.from([
        ...tokens.subarray(0, at),
        ...model.tokenize(' The lamp of the harbour was red.'),
      ]);
      const reread = await answer(read, other, long);
      restored.clear();
      await restored.loadSession(first);
      const shared = await answer(restored, other, long);
      expect(shared.result.cachedTokens).toBe(at);
      expect(shared.result.text).toBe(reread.result.text);
    },
  );

  it('is refused where it does not follow, and the context keeps what it has', async () => {
    const model = await loadTiny();
    const folder = temporaryFolder();
    const [first, rest] = [path.join(folder, 'first'), path.join(folder, 'rest')];
    const context = await model.createContext(contextOptions());
    const tokens = model.tokenize(filler(30));
    const { result } = await answer(context, tokens, greedy({ maxTokens: 4 }));
    await context.saveSession(first, undefined, { from: 0, to: 200 });
    await context.saveSession(rest, undefined, { from: 200, to: 300 });
    for (const stretch of [
      { from: 200, to: 200 },
      { from: 0, to: context.contextUsed + 1 },
    ]) {
      const saved = context.saveSession(path.join(folder, 'none'), undefined, stretch);
      expect(await refusal(saved)).toMatchObject({ code: 'bad-request' });
    }
    expect(fs.readdirSync(folder).sort()).toEqual(['first', 'rest']);

    const other = await model.createContext(contextOptions());
    expect(await refusal(other.loadSession(rest, undefined, 200))).toMatchObject({ code: 'bad-request' });
    expect(await refusal(other.loadSession(rest))).toMatchObject({ code: 'data-corrupt' });
    expect(other.contextUsed).toBe(0);
    await other.loadSession(first);
    // its cells are those of a beginning
    expect(await refusal(other.loadSession(first, undefined, 200))).toMatchObject({ code: 'data-corrupt' });
    expect(other.tokens()).toEqual(tokens.subarray(0, 200));
    await other.loadSession(rest, undefined, 200);
    expect(other.contextUsed).toBe(300);
    const again = await answer(other, tokens, greedy({ maxTokens: 4 }));
    expect(again.result).toMatchObject({ cachedTokens: 300, text: result.text });
  });
});
