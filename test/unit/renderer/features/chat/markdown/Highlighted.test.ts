import { describe, expect, it } from 'vitest';
import { highlight } from '@/renderer/features/chat/markdown/Highlighted';

describe('highlight', () => {
  type Nodes = NonNullable<ReturnType<typeof highlight>>;
  const textOf = (nodes: Nodes): string =>
    nodes.map((node) => (node.type === 'element' ? textOf(node.children) : 'value' in node ? node.value : '')).join('');
  const kinds = (code: string, language: string) =>
    highlight(code, language)?.flatMap((node) =>
      node.type === 'element' ? [`${(node.properties.className as string[])[0]}:${textOf(node.children)}`] : [],
    );

  it('loses nothing of the code, whatever it is', () => {
    const odd = 'a = "unclosed\n\'x /* open `t $1} \\ # -- <!-- 0x1F 1e9 ünïcode 𝕏';
    for (const language of ['js', 'python', 'sql', 'html', 'json', 'bash', 'c++']) {
      expect(textOf(highlight(odd, language) ?? [])).toBe(odd);
    }
  });

  it('knows comments, strings, numbers, keywords and names', () => {
    expect(kinds('def f(): # note', 'python')).toEqual([
      'syntax-keyword:def',
      'syntax-title:f',
      'syntax-comment:# note',
    ]);
    expect(kinds('return "a\\"b" + 1.5 // end', 'ts')).toEqual([
      'syntax-keyword:return',
      'syntax-string:"a\\"b"',
      'syntax-number:1.5',
      'syntax-comment:// end',
    ]);
    expect(kinds('SELECT 1 -- x', 'SQL')).toEqual(['syntax-keyword:SELECT', 'syntax-number:1', 'syntax-comment:-- x']);
  });

  it('leaves very long text alone, and languages that it does not know', () => {
    for (const language of ['', 'made-up', 'constructor']) expect(highlight('if x', language)).toBeNull();
    expect(highlight('if '.repeat(30_000), 'js')).toBeNull();
  });
});
