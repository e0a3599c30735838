/** Formulas and code in an answer. */
import { describe, expect, it } from 'vitest';
import { renderFormula } from '@/renderer/features/chat/markdown/Formula';
import { highlight } from '@/renderer/features/chat/markdown/Highlighted';
import { withFormulas } from '@/renderer/features/chat/markdown/Markdown';

const written = (text: string) => withFormulas(text).text;
const untouched = (text: string) => expect(withFormulas(text)).toEqual({ text, found: false });

describe('withFormulas', () => {
  it('leaves prices and shell variables alone', () => {
    untouched('It costs $5, or $20,000 and $30,000 with everything.');
    untouched('From $5 to $10 a month; US$6, 7$.');
    untouched('Between $5 and 10$ a day, $5/month or 60$.');
    untouched('Set $HOME and $PATH, then $USER.');
    untouched('Escaped: \\$x^2\\$ stays.');
  });

  it('reads formulas between single dollar signs, and the signs of LaTeX', () => {
    expect(written('Let $x$ be $a + b$.')).toBe('Let $$x$$ be $$a + b$$.');
    expect(written('so $E = mc^2$, and $\\alpha_1$.')).toBe('so $$E = mc^2$$, and $$\\alpha_1$$.');
    expect(written('costs $5 where $n^2$ grows')).toBe('costs $5 where $$n^2$$ grows');
    expect(written('Where \\(f(x)\\) is')).toBe('Where $$f(x)$$ is');
    expect(written('\\[\n\\int_0^1 x\\,dx\n\n= \\tfrac12\n\\]')).toBe('$$\n\\int_0^1 x\\,dx\n= \\tfrac12\n$$');
    expect(written('1. first\n   \\[ a \\]')).toBe('1. first\n   $$\n   a\n   $$');
    expect(written('a list: \\[x\\] here')).toBe('a list: $$x$$ here');
  });

  it('sets what stands on a line of its own apart, and keeps the rest in the line', () => {
    expect(written('$$ a = b $$')).toBe('$$\na = b\n$$');
    expect(withFormulas('in $$a$$ line')).toEqual({ text: 'in $$a$$ line', found: true });
    expect(written('$$\na\n\\\\[2pt] b\n$$')).toBe('$$\na\n\\\\[2pt] b\n$$');
  });

  it('touches no code, and waits for the end of a formula that is still being written', () => {
    untouched('`$x^2$` and ``\\(a\\)``');
    untouched('```tex\n$x^2$ \\[ a \\]\n```');
    untouched('~~~\n$x_1$\n');
    expect(written('```\n$a^2$\n```\n$b^2$')).toBe('```\n$a^2$\n```\n$$b^2$$');
    untouched('and so \\[ \\frac{1}{2');
    untouched('and so $x^');
  });
});

describe('renderFormula', () => {
  it('writes MathML for screen readers beside the drawing', () => {
    expect(renderFormula('\\frac{a}{b}', false)).toMatch(/<math.*<mfrac>/s);
    expect(renderFormula('\\frac{a}{', true)).toBeNull();
  });

  it('gives a model neither links nor images nor markup, and ends what grows without end', () => {
    const tries = [
      '\\href{https://example.com}{x}',
      '\\includegraphics{https://example.com/x.png}',
      '\\htmlClass{a}{b}',
    ];
    for (const tex of tries) expect(renderFormula(tex, false) ?? '').not.toMatch(/href=|<img|class="a"/);
    expect(renderFormula('\\text{<img src=x onerror=alert(1)>}', false)).not.toContain('<img');
    expect(renderFormula('\\def\\a{\\a\\a}\\a', false)).toBeNull();
    expect(renderFormula('x'.repeat(10_000), false)).toBeNull();
  });

  it('leaves alone what would hold up the page: very many cells, and short text that becomes megabytes', () => {
    const matrix = (cells: string) => renderFormula(`\\begin{matrix}${cells}\\end{matrix}`, true);
    expect(matrix('1&0&0\\\\'.repeat(100))).toContain('<mtable');
    for (const cells of ['&'.repeat(500), 'x\\\\'.repeat(500), 'x\\cr '.repeat(500)]) expect(matrix(cells)).toBeNull();
    expect(renderFormula(`\\text{${'é'.repeat(2000)}}`, false)).toBeNull();
  });
});

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
