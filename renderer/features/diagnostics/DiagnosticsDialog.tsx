/** The text of a bug report: read it, copy it. Nothing is sent from here. */

import { type ReactNode, useEffect, useState } from 'react';
import { selectDiagnosticsOpen, selectThirdPartyOpen } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { useCopy } from '../../ui/hooks';

export function DiagnosticsDialog() {
  const open = useApp(selectDiagnosticsOpen);
  const { engine, ui } = useActions();
  const { copied, copy } = useCopy();
  return (
    <Dialog
      title="Diagnostics"
      description="For a bug report. It holds no chats, no prompts, no file paths and no names; nothing is sent anywhere."
      open={open}
      onOpenChange={ui.setDiagnostics}
      className="max-w-[46rem]"
      testId="diagnostics"
    >
      <LoadedText
        load={engine.diagnostics}
        waiting="Collecting…"
        failed="The report could not be made. Close this window for the reason."
        testId="diagnostics-text"
      >
        {(text) => (
          <div className="flex justify-between gap-2 border-t border-line px-5 py-3">
            <Button onClick={() => ui.setThirdParty(true)} data-testid="third-party-open">
              Third-party notices…
            </Button>
            <Button
              tone="primary"
              disabled={text === null}
              onClick={() => text !== null && copy(text)}
              data-testid="diagnostics-copy"
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          </div>
        )}
      </LoadedText>
    </Dialog>
  );
}

// A long text of the services in a dialog: it scrolls, and keyboard and mouse can select it.

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

function LoadedText({ load, waiting, failed, testId, children }: LoadedTextProps) {
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

// Whose work is in the app, and under which licenses.

export function ThirdPartyDialog() {
  const open = useApp(selectThirdPartyOpen);
  const { engine, ui } = useActions();
  return (
    <Dialog
      title="Third-party notices"
      description="The software, fonts and data of others in this app, with their licenses."
      open={open}
      onOpenChange={ui.setThirdParty}
      className="max-w-[46rem]"
      testId="third-party"
    >
      <LoadedText
        load={engine.thirdPartyNotices}
        waiting="Loading…"
        failed="The notices could not be read. Close this window for the reason."
        testId="third-party-text"
      />
    </Dialog>
  );
}
