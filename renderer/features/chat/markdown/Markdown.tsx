/**
 * Markdown of answers. Every element is ours: links leave only through the app, images are never fetched, and raw HTML
 * is shown as the text that it is (no rehype-raw), so nothing of a model's output becomes markup by itself.
 */
import { type ComponentProps, isValidElement, lazy, type ReactElement, Suspense, use, useMemo } from 'react';
import remarkMath from 'remark-math';
import { type Components, type PluginConfig, Streamdown } from 'streamdown';
import { useActions } from '../../../state/useApp';
import { Citation, InCitation } from './Citation';
import { CodeBlock } from './CodeBlock';
import type { CitedDocument } from './citations';
import { citePlugin, isCitation } from './citePlugin';
import { withFormulas } from './math';

const Formula = lazy(() => import('./Formula'));

const components = {
  a: Link,
  img: ({ alt, src }: ComponentProps<'img'>) => (
    <span className="text-ink-3">
      [image{alt ? `: ${alt}` : ''}
      {typeof src === 'string' ? ` · ${src.slice(0, 80)}` : ''}]
    </span>
  ),
  pre: Pre,
  inlineCode: InlineCode,
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

type Plugins = ComponentProps<typeof Streamdown>['rehypePlugins'];

const noPlugins: never[] = [];

/** `Formula` draws what the parser has found; so no plugin for the second step. */
const mathPlugin: PluginConfig = {
  math: {
    name: 'katex',
    type: 'math',
    remarkPlugin: [remarkMath, { singleDollarTextMath: false }],
    rehypePlugin: () => undefined,
  },
};

interface MarkdownProps {
  text: string;
  streaming: boolean;
  documents: readonly CitedDocument[];
}

export default function Markdown({ text, streaming, documents }: MarkdownProps) {
  const source = useMemo(() => withFormulas(text), [text]);
  const plugins = useMemo<Plugins>(
    () => (documents.length > 0 ? [[citePlugin, { names: documents.map(({ name }) => name) }]] : noPlugins),
    [documents],
  );
  return (
    <Streamdown
      className={streaming ? 'prose-c prose-live' : 'prose-c'}
      mode={streaming ? 'streaming' : 'static'}
      // by the letters of each block; code stays left to right
      dir="auto"
      parseIncompleteMarkdown={streaming}
      components={components}
      plugins={source.found ? mathPlugin : undefined}
      rehypePlugins={plugins}
      controls={false}
      linkSafety={{ enabled: false }}
    >
      {source.text}
    </Streamdown>
  );
}

/** Below the title of the chat, whatever level an answer begins with; `data-level` keeps the size. */
function heading(Tag: 'h2' | 'h3', level: number) {
  return ({ dir, children }: ComponentProps<'h2'>) => (
    <Tag dir={dir} data-level={level}>
      {children}
    </Tag>
  );
}

function Link({ href, children }: ComponentProps<'a'>) {
  const { ui } = useActions();
  const inCitation = use(InCitation);
  if (inCitation) return <>{children}</>;
  if (isCitation(href)) return <Citation href={href}>{children}</Citation>;
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
  const text = textOf(code ? code.props.children : children).replace(/\n$/, '');
  if (language === 'math') return <LazyFormula tex={text} display />;
  return <CodeBlock code={text} language={language} />;
}

function InlineCode({ className, children }: ComponentProps<'code'>) {
  if (className?.includes('math-inline')) return <LazyFormula tex={textOf(children)} display={false} />;
  return <code dir="ltr">{children}</code>;
}

function LazyFormula(props: ComponentProps<typeof Formula>) {
  return (
    <Suspense fallback={<code dir="ltr">{props.tex}</code>}>
      <Formula {...props} />
    </Suspense>
  );
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
