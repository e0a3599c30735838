/**
 * Markdown of answers. Every element is ours: links leave only through the app, images are never fetched, and raw HTML
 * is shown as the text that it is (no rehype-raw), so nothing of a model's output becomes markup by itself.
 */
import { type ComponentProps, isValidElement, type ReactElement } from 'react';
import { type Components, Streamdown } from 'streamdown';
import { useActions } from '../../state/useApp';
import { CodeBlock } from './CodeBlock';

const components = {
  a: Link,
  img: ({ alt, src }: ComponentProps<'img'>) => (
    <span className="text-ink-3">
      [image{alt ? `: ${alt}` : ''}
      {typeof src === 'string' ? ` · ${src.slice(0, 80)}` : ''}]
    </span>
  ),
  pre: Pre,
  inlineCode: ({ children }: ComponentProps<'code'>) => <code>{children}</code>,
  table: ({ children }: ComponentProps<'table'>) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section className="table-scroll" aria-label="Table" tabIndex={0}>
      <table>{children}</table>
    </section>
  ),
  h1: heading('h2', 1),
  h2: heading('h2', 2),
  h3: heading('h2', 3),
  h4: heading('h3', 4),
  h5: heading('h3', 5),
  h6: heading('h3', 6),
  p: 'p',
  ul: 'ul',
  ol: 'ol',
  li: 'li',
  blockquote: 'blockquote',
  hr: 'hr',
  strong: 'strong',
  thead: 'thead',
  tbody: 'tbody',
  tr: 'tr',
  th: 'th',
  td: 'td',
  sup: 'sup',
  sub: 'sub',
  section: 'section',
} as unknown as Components;

const noPlugins: never[] = [];

export default function Markdown({ text, streaming }: { text: string; streaming: boolean }) {
  return (
    <Streamdown
      className={streaming ? 'prose-c prose-live' : 'prose-c'}
      mode={streaming ? 'streaming' : 'static'}
      parseIncompleteMarkdown={streaming}
      components={components}
      rehypePlugins={noPlugins}
      controls={false}
      linkSafety={{ enabled: false }}
    >
      {text}
    </Streamdown>
  );
}

/** Below the title of the chat, whatever level an answer begins with; `data-level` keeps the size. */
function heading(Tag: 'h2' | 'h3', level: number) {
  return ({ children }: ComponentProps<'h2'>) => <Tag data-level={level}>{children}</Tag>;
}

function Link({ href, children }: ComponentProps<'a'>) {
  const { ui } = useActions();
  const url = httpsUrl(href);
  if (!url) return <span>{children}</span>;
  return (
    <a
      href={url}
      title={url}
      rel="noreferrer"
      onClick={(event) => {
        event.preventDefault();
        void ui.openExternal(url);
      }}
      onAuxClick={(event) => event.preventDefault()}
    >
      {children}
    </a>
  );
}

function Pre({ children }: ComponentProps<'pre'>) {
  const code = isValidElement(children) ? (children as ReactElement<ComponentProps<'code'>>) : null;
  const language = /language-([\w+#.-]+)/.exec(code?.props.className ?? '')?.[1] ?? '';
  return <CodeBlock code={textOf(code ? code.props.children : children).replace(/\n$/, '')} language={language} />;
}

function textOf(node: unknown): string {
  if (typeof node === 'string' || typeof node === 'number') return String(node);
  if (Array.isArray(node)) return node.map(textOf).join('');
  return isValidElement(node) ? textOf((node.props as { children?: unknown }).children) : '';
}

function httpsUrl(href: string | undefined): string | null {
  try {
    const url = new URL(href ?? '');
    return url.protocol === 'https:' ? url.href : null;
  } catch {
    return null;
  }
}
