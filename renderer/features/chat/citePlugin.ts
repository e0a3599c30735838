/** A step of the markdown renderer: makes links of what points into a document. `Citation.tsx` shows them, or the bare words. */
import { type Citation, citationsIn, namedNearest } from './citations';

export interface Node {
  type: string;
  tagName?: string;
  value?: string;
  properties?: Record<string, unknown>;
  children?: Node[];
}

const prefix = '#cite:';
const untouched = new Set(['code', 'pre', 'a']);

/** @param names of the documents: with several, a page is of the one that is named nearest in the same paragraph */
export function citePlugin({ names }: { names: readonly string[] }) {
  return (tree: Node): void => {
    const text = textOf(tree);
    let place = 0;
    walk(tree);

    function walk(node: Node): void {
      node.children = node.children?.flatMap((child) => {
        const at = place;
        if (child.type === 'text') place += child.value?.length ?? 0;
        if (child.type === 'text') return linked(child, at);
        if (untouched.has(child.tagName ?? '')) place += textOf(child).length;
        else walk(child);
        return [child];
      });
    }

    function linked(node: Node, at: number): Node[] {
      const pieces = citationsIn(node.value ?? '');
      if (pieces.length < 2 && !pieces[0]?.cites) return [node];
      let from = at;
      return pieces.map(({ text: words, cites }) => {
        const child = { type: 'text', value: words };
        const named = cites && names.length > 1 ? namedNearest(text, from, names) : null;
        from += words.length;
        return cites ? link(hrefOf(cites, named), child) : child;
      });
    }
  };
}

function link(href: string, child: Node): Node {
  return { type: 'element', tagName: 'a', properties: { href }, children: [child] };
}

function textOf(node: Node): string {
  return node.type === 'text' ? (node.value ?? '') : (node.children ?? []).map(textOf).join('');
}

function hrefOf(cites: Citation, named: number | null): string {
  return prefix + encodeURIComponent(JSON.stringify({ cites, named }));
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
