/**
 * Markdown of answers. Every element is ours: links leave only through the app, images are never fetched, and raw HTML
 * is shown as the text that it is (no rehype-raw), so nothing of a model's output becomes markup by itself.
 */

import { t } from '@lingui/core/macro';
import { CircleQuestionMark } from 'lucide-react';
import {
  type ComponentProps,
  createContext,
  isValidElement,
  lazy,
  memo,
  type ReactElement,
  type ReactNode,
  Suspense,
  use,
  useEffect,
  useMemo,
} from 'react';
import remarkMath from 'remark-math';
import { type Components, type PluginConfig, Streamdown } from 'streamdown';
import { sectionLabel } from '../../../state/lib/sectionLabel';
import { selectCitedSections, selectQuotes } from '../../../state/slices/citations';
import { useActions, useApp } from '../../../state/useApp';
import { CopyButton } from '../../../ui/Button';
import { Menu, MenuItem } from '../../../ui/Menu';
import { Popover } from '../../../ui/Popover';
import { AnswerSources } from './answerSources';
import {
  type CitationTarget,
  type CitedDocument,
  type Citation as Cites,
  doubtfulWords,
  doubtText,
  targetsOf,
} from './citations';
import { citePlugin, isCitation, readHref } from './citePlugin';

const Formula = lazy(() => import('./Formula'));
const Highlighted = lazy(() => import('./Highlighted'));

const components = {
  a: Link,
  img: ({ alt, src }: ComponentProps<'img'>) => (
    <span className="text-ink-3">
      [{t`image`}
      {alt ? `: ${alt}` : ''}
      {typeof src === 'string' ? ` · ${src.slice(0, 80)}` : ''}]
    </span>
  ),
  pre: Pre,
  inlineCode: InlineCode,
  table: ({ children }: ComponentProps<'table'>) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
    <section className="table-scroll" aria-label={t`Table`} tabIndex={0}>
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
        void ui.askToOpen(url);
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

// Words of an answer that lead to a page or a sentence of its documents; where there is none, only the words.

/** True inside a citation that leads somewhere, or nowhere: other links in it are words. */
export const InCitation = createContext(false);

export function Citation({ href, children }: { href: string; children: ReactNode }) {
  const { messageId, documents } = use(AnswerSources);
  const sections = useApp(selectCitedSections);
  const quotes = useApp(selectQuotes(messageId));
  const { citations, documents: actions } = useActions();
  const read = readHref(href);
  const all = read ? targetsOf(read.cites, documents, sections, quotes) : [];
  const doubtful = read && all.length === 0 ? doubtfulWords(read.cites, textOf(children), documents, sections) : null;
  const wanted = read?.cites.kind === 'quote' ? read.cites.words : doubtful;
  useEffect(() => {
    if (wanted !== null) citations.seek(messageId, documents, wanted);
  }, [citations, messageId, documents, wanted]);
  const named = documents[read?.named ?? -1];
  const targets = all.filter(({ documentId }) => documentId === named?.documentId);
  const meant = targets.length > 0 ? targets : all;
  const open = ({ documentId, place }: CitationTarget) => actions.openAt(documentId, place);

  const [first] = meant;
  if (!first) {
    const absent = doubtful !== null && quotes[doubtful] === null;
    return read && absent ? <Doubt cites={read.cites}>{children}</Doubt> : children;
  }
  const words = <InCitation value={true}>{children}</InCitation>;
  if (meant.length === 1) {
    return (
      <button type="button" className="cite" title={titleOf(first)} data-testid="citation" onClick={() => open(first)}>
        {words}
      </button>
    );
  }
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="cite" title={t`In several documents`} data-testid="citation">
          {words}
        </button>
      }
    >
      {meant.map((target) => (
        <MenuItem key={target.documentId} onSelect={() => open(target)}>
          {titleOf(target)}
        </MenuItem>
      ))}
    </Menu>
  );
}

/** Words that claim to come from a document and do not. */
function Doubt({ cites, children }: { cites: Cites; children: ReactNode }) {
  const { documents } = use(AnswerSources);
  const text = doubtText(cites, documents);
  const names = documents.map(({ name }) => name).join(', ');
  return (
    <Popover
      label={text}
      align="start"
      className="max-w-80 p-3.5"
      trigger={
        <button type="button" className="doubt" title={text} data-testid="doubt">
          <InCitation value={true}>{children}</InCitation>
          <CircleQuestionMark aria-hidden="true" />
        </button>
      }
    >
      <p className="font-medium break-words">{text}</p>
      <p className="mt-1 text-ink-2">
        {cites.kind === 'page'
          ? t`The model may have made this page up.`
          : t`These words are set as a quotation, but they do not stand there like this. The model may have changed them or made them up.`}
      </p>
      {documents.length > 1 && <p className="mt-1 text-xs break-words text-ink-3">{t`Looked for in ${names}.`}</p>}
    </Popover>
  );
}

function titleOf({ name, label }: CitationTarget): string {
  return label === '' ? name : `${name}, ${sectionLabel(label)}`;
}

export const CodeBlock = memo(function CodeBlock({ code, language }: { code: string; language: string }) {
  return (
    <figure
      dir="ltr"
      className="code-block overflow-hidden rounded-lg border border-line bg-code"
      data-testid="code-block"
    >
      <figcaption className="flex h-8 items-center justify-between border-b border-line pe-1 ps-3.5 text-xs text-ink-3">
        {language || t`text`}
        <CopyButton text={code} label={t`Copy code`} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <pre className="overflow-x-auto px-3.5 py-3 font-mono text-[0.8125rem] leading-[1.6]" tabIndex={0}>
        <code>
          <Suspense fallback={code}>
            <Highlighted code={code} language={language} />
          </Suspense>
        </code>
      </pre>
    </figure>
  );
});

// Formulas in answers. Models write them in four ways; here all become `$$...$$`, which is the only one that the parser
// is set to read, so that a price never turns into a formula. Code stays as it is.

/** Code first, so that nothing inside it is touched; then what is a formula by its signs. */
const parts = new RegExp(
  [
    /(?<fence>^[ \t>]*(?<mark>`{3,}|~{3,})[^\n]*(?:\n[\s\S]*?(?:^[ \t>]*\k<mark>|$(?![\s\S]))|$(?![\s\S])))/,
    /(?<code>(?<ticks>`+)(?!`)(?:(?!\n\s*\n)[\s\S])*?[^`]\k<ticks>(?!`))/,
    /(?<escaped>\\[\\$])/,
    /(?<lead>^[ \t]*)\$\$(?<ownLine>[^$]+?)\$\$[ \t]*$/,
    /(?<dollars>\$\$[^$]+?\$\$)/,
    /(?<indent>^[ \t]*)\\\[(?<display>[\s\S]+?)\\\]/,
    /\\\[(?<displayInText>[^\n]+?)\\\]/,
    /\\\((?<inline>(?:(?!\n\s*\n)[\s\S])+?)\\\)/,
    /(?<![\w$])\$(?<single>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?![\d$])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gm',
);

/** Formulas in the one notation. The text comes back as the same string when there are none. */
export function withFormulas(text: string): { text: string; found: boolean } {
  if (!text.includes('$') && !text.includes('\\[') && !text.includes('\\(')) return { text, found: false };
  let found = false;
  const written = text.replace(parts, (whole: string, ...rest: unknown[]) => {
    const formula = formulaIn(rest.at(-1) as Record<string, string | undefined>, whole);
    if (formula !== null) found = true;
    return formula ?? whole;
  });
  return { text: found ? written : text, found };
}

function formulaIn(groups: Record<string, string | undefined>, whole: string): string | null {
  const { lead, ownLine, dollars, indent, display, displayInText, inline, single } = groups;
  if (ownLine !== undefined) return block(ownLine, lead ?? '');
  if (display !== undefined) return block(display, indent ?? '');
  if (dollars !== undefined) return whole;
  const words = displayInText ?? inline ?? (single !== undefined && isFormula(single) ? single : null);
  // The signs of a table cell end it, whatever stands around them.
  return words === null ? null : `$$${words.trim()}$$`;
}

/** An empty line would end the formula. */
function block(formula: string, indent: string): string {
  const lines = formula.split('\n').map((line) => line.trim());
  return ['$$', ...lines.filter(Boolean), '$$'].map((line) => indent + line).join('\n');
}

/** Between single dollar signs: signs of a formula, or letters and figures without a word of everyday language. */
export function isFormula(text: string): boolean {
  if (/[\\^_={}<>]/.test(text)) return !/^\d[\d.,]*\s+[a-z]{2,}\s/i.test(text);
  return !/[a-z]{3,}/i.test(text) && !/[a-z]{2,}\s|\s[a-z]{2,}/i.test(text) && !/^[\d.,]+\s*[-–/]\s*$/.test(text);
}
