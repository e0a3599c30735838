/**
 * Code in its colors, by the grammars of highlight.js: regular expressions alone, so the page's policy needs neither eval
 * nor WebAssembly. Loaded with the first block of code that an answer holds.
 */

import { common, createLowlight } from 'lowlight';
import { memo, type ReactNode, useMemo } from 'react';

type Nodes = ReturnType<typeof lowlight.highlight>['children'];

const lowlight = createLowlight(common);
/** UTF-16 units; a block is colored again with each word that arrives */
const longest = 60_000;

/** The code in parts, some of them with class names `syntax-*` (prose.css); null: no grammar knows it. */
export function highlight(code: string, language: string): Nodes | null {
  if (code.length > longest || !lowlight.registered(language)) return null;
  return lowlight.highlight(language, code, { prefix: 'syntax-' }).children;
}

const Highlighted = memo(function Highlighted({ code, language }: { code: string; language: string }) {
  const nodes = useMemo(() => highlight(code, language), [code, language]);
  return nodes ? shown(nodes) : code;
});

function shown(nodes: Nodes): ReactNode[] {
  return nodes.map((node, i) => {
    if (node.type !== 'element') return node.type === 'text' ? node.value : null;
    const names = node.properties.className as string[];
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text, in their order
      <span key={i} className={names.join(' ')}>
        {shown(node.children)}
      </span>
    );
  });
}

export default Highlighted;
