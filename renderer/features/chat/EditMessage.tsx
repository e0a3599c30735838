import { selectChatId } from '../../state/conversation/selectors';
import { selectIsAnswering } from '../../state/stream/selectors';
import { useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { useRowState } from './rowState';

interface EditMessageProps {
  id: string;
  text: string;
  onCancel: () => void;
  /** false: it was refused, and the words stay in the field */
  onSend: (text: string) => Promise<boolean>;
}

/** The question in other words. It becomes a new branch; the old one stays reachable. */
export function EditMessage({ id, text, onCancel, onSend }: EditMessageProps) {
  const [edited, setEdited] = useRowState(`${id} edited`, text);
  const busy = useApp(selectIsAnswering(useApp(selectChatId)));
  const canSend = !busy && edited.trim() !== '';

  async function submit(): Promise<void> {
    if (canSend && (await onSend(edited))) setEdited(text);
  }

  function cancel(): void {
    setEdited(text);
    onCancel();
  }

  return (
    <form
      className="w-full rounded-2xl border border-line-strong bg-raised p-3 shadow-card"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <textarea
        dir="auto"
        aria-label="Edit your question"
        data-testid="edit-field"
        value={edited}
        // The person asked to edit: the field is what they want next.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        rows={Math.min(14, Math.max(2, edited.slice(0, 4000).split('\n').length))}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            cancel();
          }
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            void submit();
          }
        }}
        className="block w-full resize-y bg-transparent text-base outline-none"
      />
      <div className="mt-2 flex items-center justify-end gap-2">
        <span className="mr-auto text-xs text-ink-3">Starts a new branch. The old one stays.</span>
        <Button size="small" tone="quiet" onClick={cancel}>
          Cancel
        </Button>
        <Button size="small" tone="primary" type="submit" disabled={!canSend}>
          Send again
        </Button>
      </div>
    </form>
  );
}
