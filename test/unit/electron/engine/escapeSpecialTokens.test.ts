import { describe, expect, it } from 'vitest';
import { breakMarks, marksFrom, marksOf, withoutMarks } from '@/electron/engine/escapeSpecialTokens';

const marks = marksFrom(new Set(['<|im_end|>', '<s>', '</s>', '[INST]', '<｜User｜>']));

describe('marks in a text', () => {
  it('are broken, wherever they stand, and nothing else changes', () => {
    const text = 'a<s><s></s> [INST]<|im_end|>b<｜User｜>';
    const broken = breakMarks(text, marks);
    for (const mark of marks.all) expect(broken).not.toContain(mark);
    expect(broken.replaceAll('\u200b', '')).toBe(text);
    expect(broken.length - text.length).toBe(6);
    // nor do two passes find more
    expect(breakMarks(broken, marks)).toBe(broken);
  });

  it('one inside another is broken too', () => {
    const nested = marksFrom(new Set(['<|<s>|>', '<s>']));
    expect(breakMarks('<|<s>|>', nested)).toBe('<\u200b|<\u200bs>|>');
  });

  it('a text without any is the same', () => {
    const text = 'if (a < b && c[INSTANCE] > d) <span>😀</span> <|im_end';
    expect(breakMarks(text, marks)).toBe(text);
    expect(breakMarks('<s>', marksFrom(new Set()))).toBe('<s>');
  });
});

describe('a vocabulary', () => {
  const pieces = ['<unk>', 'the', '<|end|>', '<b>', '->', '[', '<|a b|>'];
  const control = new Set(['<unk>', '<|end|>', '<|a b|>']);
  let asked = 0;
  const model = {
    info: { vocabSize: pieces.length },
    detokenize([id = 0]: Int32Array): string {
      asked += 1;
      return pieces[id] ?? '';
    },
    tokenize: (text: string, options?: { parseSpecial?: boolean }) =>
      options?.parseSpecial && control.has(text) ? Int32Array.of(1) : Int32Array.of(2, 3),
  };

  it('is looked through once; its control tokens are marks, and no other words', async () => {
    expect(await marksOf(model)).toMatchObject({ all: control });
    await marksOf(model);
    expect(asked).toBe(pieces.length);
    const messages = [{ role: 'user' as const, content: '<b>the</b><|end|>' }];
    expect(await withoutMarks(model, messages)).toEqual([{ role: 'user', content: '<b>the</b><\u200b|end|>' }]);
  });

  it('of a model that is gone is an error, not one without marks', async () => {
    const gone = {
      ...model,
      detokenize: () => {
        throw Object.assign(new Error('disposed'), { code: 'disposed' });
      },
    };
    await expect(marksOf(gone)).rejects.toThrow('disposed');
  });
});
