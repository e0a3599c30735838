/** The text of a bug report: read it, copy it. Nothing is sent from here. */
import { useEffect, useState } from 'react';
import { selectDiagnosticsOpen } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { useCopy } from '../../ui/useCopy';

export function DiagnosticsDialog() {
  const open = useApp(selectDiagnosticsOpen);
  const { ui } = useActions();
  return (
    <Dialog
      title="Diagnostics"
      description="For a bug report. It holds no chats, no prompts, no file paths and no names; nothing is sent anywhere."
      open={open}
      onOpenChange={ui.setDiagnostics}
      className="max-w-[46rem]"
      testId="diagnostics"
    >
      <Report />
    </Dialog>
  );
}

function Report() {
  const [text, setText] = useState<string | null>(null);
  const { engine } = useActions();
  const { copied, copy } = useCopy();

  useEffect(() => {
    let shown = true;
    void engine.diagnostics().then((next) => shown && setText(next));
    return () => {
      shown = false;
    };
  }, [engine]);

  return (
    <>
      <pre
        data-testid="diagnostics-text"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to reach what scrolls
        tabIndex={0}
        className="min-h-40 flex-1 overflow-auto px-5 py-3 font-mono text-xs leading-relaxed whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]"
      >
        {text ?? 'Collecting…'}
      </pre>
      <div className="flex justify-end gap-2 border-t border-line px-5 py-3">
        <Button
          tone="primary"
          disabled={text === null}
          onClick={() => text !== null && copy(text)}
          data-testid="diagnostics-copy"
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      </div>
    </>
  );
}
