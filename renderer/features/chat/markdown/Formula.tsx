/** One formula. Loaded with the first one that an answer holds: KaTeX, its style sheet and its fonts. */

import 'katex/dist/katex.min.css';
import katex from 'katex';
import { memo, useMemo } from 'react';

// TeX to HTML and MathML. A formula comes from a model: no links, no images, no macros that grow without end, no giant boxes.

const limits = { trust: false, maxExpand: 200, maxSize: 20, strict: 'ignore' } as const;
const longest = 8000;

/** Null: half a formula, while it is written, or none at all. */
export function renderFormula(tex: string, displayMode: boolean): string | null {
  if (tex.length > longest) return null;
  try {
    return katex.renderToString(tex, { ...limits, displayMode, throwOnError: true });
  } catch {
    return null;
  }
}

const Formula = memo(function Formula({ tex, display }: { tex: string; display: boolean }) {
  const html = useMemo(() => renderFormula(tex, display), [tex, display]);
  // Half a formula, while it is written, or one that is none: as the model wrote it.
  if (html === null) return <code dir="ltr">{tex}</code>;
  // biome-ignore lint/security/noDangerouslySetInnerHtml: KaTeX escapes all text, and may write neither links nor scripts (trust: false)
  if (!display) return <span dir="ltr" className="formula" dangerouslySetInnerHTML={{ __html: html }} />;
  return (
    <section
      dir="ltr"
      className="formula-block"
      aria-label="Formula"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
      tabIndex={0}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: see above
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
});

export default Formula;
