/** A long text of the services in a dialog: it scrolls, and keyboard and mouse can select it. */
import { type ReactNode, useEffect, useState } from 'react';

interface LoadedTextProps {
  /** null: it could not be had, which has been reported; must be the same function from render to render */
  load: () => Promise<string | null>;
  waiting: string;
  /** what stands there when it could not be had */
  failed: string;
  testId: string;
  /** below the text; null: it is not there yet */
  children?: (text: string | null) => ReactNode;
}

export function LoadedText({ load, waiting, failed, testId, children }: LoadedTextProps) {
  /** undefined: still on its way */
  const [text, setText] = useState<string | null>();

  useEffect(() => {
    let shown = true;
    void load().then((next) => shown && setText(next));
    return () => {
      shown = false;
    };
  }, [load]);

  return (
    <>
      <pre
        data-testid={testId}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to reach what scrolls
        tabIndex={0}
        className="min-h-40 flex-1 overflow-auto px-5 py-3 font-mono text-xs leading-relaxed whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]"
      >
        {text === undefined ? waiting : (text ?? failed)}
      </pre>
      {children?.(text ?? null)}
    </>
  );
}
