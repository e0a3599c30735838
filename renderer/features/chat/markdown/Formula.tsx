/** One formula. Loaded with the first one that an answer holds: KaTeX, its style sheet and its fonts. */

import { t } from '@lingui/core/macro';
import 'katex/dist/katex.min.css';
import katex from 'katex';
import { memo, useMemo } from 'react';

// TeX to HTML and MathML. A formula comes from a model: no links, no images, no macros that grow without end, no giant boxes.

const limits = { trust: false, maxExpand: 200, maxSize: 20, strict: 'ignore' } as const;
const longest = 4000;
/** of a matrix, empty ones too: each becomes some 600 characters of HTML */
const mostCells = 400;
/** what a browser lays out in a fraction of a second */
const longestHtml = 400_000;

/** Null: half a formula, while it is written, none at all, or one that would hold up the page. */
export function renderFormula(tex: string, displayMode: boolean): string | null {
  if (tex.length > longest || (tex.match(/&|\\\\|\\cr/g)?.length ?? 0) > mostCells) return null;
  try {
    const html = katex.renderToString(tex, { ...limits, displayMode, throwOnError: true });
    return html.length > longestHtml ? null : html;
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
      aria-label={t`Formula`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard
      tabIndex={0}
      // biome-ignore lint/security/noDangerouslySetInnerHtml: see above
      dangerouslySetInnerHTML={{ __html: html }}
    />
  );
});

export default Formula;
