/** A step of the markdown renderer: makes links of what points into a document. `Citation` shows them, or the bare words. */
import { type Citation, citationsIn, namedNearest, type Piece, shortestQuote } from './citations';

export interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

/** What is to be a link: a stretch of a run, in UTF-16 units of its text. */
interface Span {
  start: number;
  end: number;
  href: string;
}

const prefix = '#cite:';
/** Nothing is linked inside of these. */
const untouched = new Set(['code', 'pre', 'a']);
/** What stands in a line of text, as Markdown makes it; everything else parts one run from the next. */
const inline = new Set(['a', 'br', 'code', 'del', 'em', 'img', 'input', 'strong', 'sub', 'sup']);

/** A paragraph that is set as a quotation. `cites`: the words before it, or a page beside it, say that it is one. */
interface SetQuote {
  cites: boolean;
}

/** @param names of the documents: with several, a page is of the one that is named nearest in the same paragraph */
export function citePlugin({ names }: { names: readonly string[] }) {
  return (tree: Node): void => {
    const text = textOf(tree);
    let place = 0;
    walk(tree, null);

    function walk(node: Node, quote: SetQuote | null): void {
      if (!node.children) return;
      let before = '';
      node.children = runsOf(node.children).flatMap((run) => {
        const [only] = run;
        const words = run.map(textOf).join('').trim();
        const introduced = before.endsWith(':');
        before = words || before;
        if (!only || isInline(only)) return linked(run, node.tagName === 'p' ? quote : null);
        if (untouched.has(only.tagName ?? '')) place += textOf(only).length;
        else if (only.tagName === 'blockquote') walk(only, { cites: introduced || namesPage(words) });
        else walk(only, only.tagName === 'p' ? quote : null);
        return run;
      });
    }

    function linked(run: Node[], quote: SetQuote | null): Node[] {
      const at = place;
      const words = run.map(textOf).join('');
      place += words.length;
      const named = (start: number) => (names.length > 1 ? namedNearest(text, at + start, names) : null);
      return spansOf(run, words, quote, named).reduce((nodes, span) => withLink(nodes, 0, span), run);
    }
  };
}

function namesPage(words: string): boolean {
  return citationsIn(words).some(({ cites }) => cites?.kind === 'page');
}

/** Children in their order: neighbors of one line of text together, each other one alone. */
function runsOf(children: readonly Node[]): Node[][] {
  const runs: Node[][] = [];
  for (const child of children) {
    const last = runs.at(-1);
    if (last?.[0] && isInline(last[0]) && isInline(child)) last.push(child);
    else runs.push([child]);
  }
  return runs;
}

function isInline({ type, tagName }: Node): boolean {
  return type === 'text' || inline.has(tagName ?? '');
}

/** A citation may hold emphasis, links and code, and go on in the next line; marks that are code begin and end none. */
function spansOf(
  run: readonly Node[],
  words: string,
  quote: SetQuote | null,
  namedAt: (start: number) => number | null,
): Span[] {
  const read = run.map(withoutCode).join('').replaceAll('\n', ' ');
  const pieces = citationsIn(read);
  const spans: Span[] = [];
  const add = (start: number, end: number, cites: Citation) =>
    spans.push({ start, end, href: prefix + encodeURIComponent(JSON.stringify({ cites, named: namedAt(start) })) });
  const set = quote && !pieces.some(({ cites }) => cites?.kind === 'quote') ? setWords(pieces) : null;
  if (quote && set) {
    const cites = { kind: 'quote', words: words.slice(set.start, set.end).replaceAll('\n', ' ') } as const;
    add(set.start, set.end, quote.cites ? cites : { ...cites, own: true });
  }
  let end = 0;
  for (const { text, cites } of pieces) {
    const start = end;
    end += text.length;
    // as they stand, code too, but for the marks around them
    if (cites?.kind === 'quote')
      add(start, end, { ...cites, words: words.slice(start + 1, end - 1).replaceAll('\n', ' ') });
    else if (cites) add(start, end, cites);
  }
  return spans;
}

/** "Note: ...", "Tip: ..." */
const remark = /^[\p{L} ]{2,24}:\s/u;
/** "(", "- R-intro.pdf, ", "Source: ": what leads over to the page that a quotation is from */
const source = /(?:\s(?:[–—]|--?)\s?\S.{0,80}|[\s([–—-]+|\s\p{L}+:\s*)$/u;

/** The words of a paragraph that is set as a quotation, without the source that it names; null: a remark, or too few. */
function setWords(pieces: readonly Piece[]): { start: number; end: number } | null {
  const [first] = pieces;
  if (!first || first.cites || remark.test(first.text)) return null;
  const start = first.text.length - first.text.trimStart().length;
  const end = first.text.replace(source, '').trimEnd().length;
  return end - start < shortestQuote ? null : { start, end };
}

/** As long as the text of the node. */
function withoutCode(node: Node): string {
  if (node.tagName === 'code') return '\0'.repeat(textOf(node).length);
  return node.type === 'text' ? (node.value ?? '') : (node.children ?? []).map(withoutCode).join('');
}

/**
 * Puts a link around a stretch of the nodes, the first of which begins at `from`. Where it begins or ends in the midst of
 * an emphasis that it does not lie in, the words stay words.
 */
function withLink(nodes: Node[], from: number, span: Span): Node[] {
  const before: Node[] = [];
  const inside: Node[] = [];
  const after: Node[] = [];
  let at = from;
  for (const [index, node] of nodes.entries()) {
    const start = at;
    at += textOf(node).length;
    if (at <= span.start) before.push(node);
    else if (start >= span.end) after.push(node);
    else if (node.type === 'text') {
      const value = node.value ?? '';
      const first = Math.max(0, span.start - start);
      if (first > 0) before.push({ ...node, value: value.slice(0, first) });
      inside.push({ ...node, value: value.slice(first, span.end - start) });
      if (at > span.end) after.push({ ...node, value: value.slice(span.end - start) });
    } else if (start >= span.start && at <= span.end && !(start === span.start && at === span.end)) {
      inside.push(node);
    } else if (start <= span.start && at >= span.end && !untouched.has(node.tagName ?? '')) {
      return nodes.with(index, { ...node, children: withLink(node.children ?? [], start, span) });
    } else return nodes;
  }
  const link = { type: 'element', tagName: 'a', properties: { href: span.href }, children: inside };
  return [...before, link, ...after];
}

function textOf(node: Node): string {
  return node.type === 'text' ? (node.value ?? '') : (node.children ?? []).map(textOf).join('');
}

export function isCitation(href: string | undefined): href is string {
  return href?.startsWith(prefix) ?? false;
}

/** Null: an address of another kind. */
export function readHref(href: string | undefined): { cites: Citation; named: number | null } | null {
  if (!isCitation(href)) return null;
  try {
    return JSON.parse(decodeURIComponent(href.slice(prefix.length)));
  } catch {
    return null;
  }
}
