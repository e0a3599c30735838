import { describe, expect, it } from 'vitest';
import { highlight } from '@/renderer/features/chat/markdown/highlight';

describe('highlight', () => {
  const kinds = (code: string, language: string) =>
    highlight(code, language)
      .filter((token) => token.kind !== 'plain')
      .map((token) => `${token.kind}:${token.text}`);

  it('loses nothing of the code, whatever it is', () => {
    const odd = 'a = "unclosed\n\'x /* open `t $1} \\ # -- <!-- 0x1F 1e9 ünïcode 𝕏';
    for (const language of ['js', 'python', 'sql', 'html', 'json', '', 'made-up']) {
      expect(
        highlight(odd, language)
          .map((token) => token.text)
          .join(''),
      ).toBe(odd);
    }
  });

  it('knows comments, strings, numbers, keywords and calls', () => {
    expect(kinds('def f(x): # note', 'python')).toEqual(['keyword:def', 'name:f', 'comment:# note']);
    expect(kinds('return "a\\"b" + 1.5 // end', 'ts')).toEqual([
      'keyword:return',
      'string:"a\\"b"',
      'number:1.5',
      'comment:// end',
    ]);
    expect(kinds('SELECT 1 -- x', 'sql')).toEqual(['keyword:SELECT', 'number:1', 'comment:-- x']);
  });

  it('leaves plain and very long text alone', () => {
    expect(highlight('if x', 'text')).toEqual([{ kind: 'plain', text: 'if x' }]);
    expect(highlight('if '.repeat(30_000), 'js')).toHaveLength(1);
  });
});
