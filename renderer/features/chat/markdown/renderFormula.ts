/** TeX to HTML and MathML. A formula comes from a model: no links, no images, no macros that grow without end, no giant boxes. */
import katex from 'katex';

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
