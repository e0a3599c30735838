/** The text of a bug report: read it, copy it. Nothing is sent from here. */
import { selectDiagnosticsOpen } from '../../state/ui/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { useCopy } from '../../ui/hooks';
import { LoadedText } from './LoadedText';

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
