import { AlertDialog } from 'radix-ui';
import { Button } from './Button';

interface ConfirmProps {
  title: string;
  /** what cannot be undone */
  description: string;
  /** the words of the button that does it */
  action: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onConfirm: () => void;
}

/** A question before what cannot be undone. The focus stands on "Cancel". */
export function Confirm({ title, description, action, open, onOpenChange, onConfirm }: ConfirmProps) {
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="fixed inset-0 z-40 bg-black/35" />
        <AlertDialog.Content
          data-testid="confirm"
          className="pop fixed inset-4 z-50 m-auto h-fit max-h-[calc(100%-2rem)] w-[min(24rem,calc(100%-2rem))] overflow-y-auto rounded-xl border border-line bg-raised p-5 text-sm text-ink shadow-pop outline-none"
        >
          <AlertDialog.Title className="font-serif text-[1.06rem] break-words text-ink">{title}</AlertDialog.Title>
          <AlertDialog.Description className="mt-1.5 text-ink-2">{description}</AlertDialog.Description>
          <div className="mt-4 flex flex-wrap justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>Cancel</Button>
            </AlertDialog.Cancel>
            <AlertDialog.Action asChild>
              <Button tone="danger" className="border border-bad/40" data-testid="confirm-action" onClick={onConfirm}>
                {action}
              </Button>
            </AlertDialog.Action>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
