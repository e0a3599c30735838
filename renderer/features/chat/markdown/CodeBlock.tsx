import { memo, useMemo } from 'react';
import { CopyButton } from '../CopyButton';
import { highlight } from './highlight';

export const CodeBlock = memo(function CodeBlock({ code, language }: { code: string; language: string }) {
  const tokens = useMemo(() => highlight(code, language), [code, language]);
  return (
    <figure
      dir="ltr"
      className="code-block overflow-hidden rounded-lg border border-line bg-code"
      data-testid="code-block"
    >
      <figcaption className="flex h-8 items-center justify-between border-b border-line pr-1 pl-3.5 text-xs text-ink-3">
        {language || 'text'}
        <CopyButton text={code} label="Copy code" />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard */}
      <pre className="overflow-x-auto px-3.5 py-3 font-mono text-[0.8125rem] leading-[1.6]" tabIndex={0}>
        <code>
          {tokens.map((token, i) =>
            token.kind === 'plain' ? (
              token.text
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: tokens of one text, in their order
              <span key={i} className={`syntax-${token.kind}`}>
                {token.text}
              </span>
            ),
          )}
        </code>
      </pre>
    </figure>
  );
});
