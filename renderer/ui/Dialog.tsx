import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Folder, X } from 'lucide-react';
import { AlertDialog, Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef, useState } from 'react';
import { Button, IconButton } from './Button';
import { cx } from './cx';
import { controlClass } from './Field';

interface DialogProps {
  title: string;
  /** one sentence below the title */
  description: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
  /** before Escape closes it; true: something in it has used the key */
  onEscape?: () => boolean;
  /** it is gone, and the focus is back where it was before */
  onClosed?: () => void;
  className?: string;
  testId?: string;
}

/** Over the whole window, until it is closed. */
export function Dialog(props: DialogProps) {
  const { title, description, open, onOpenChange, children, onEscape, onClosed, className, testId } = props;
  /** where the focus was when it opened */
  const before = useRef<HTMLElement>(null);
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/35" />
        <Radix.Content
          data-testid={testId}
          // the first button is the one that closes, whose tooltip would open with it
          onOpenAutoFocus={(event) => {
            event.preventDefault();
            before.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
            if (!(event.currentTarget instanceof HTMLElement)) return;
            const first = event.currentTarget.querySelector('[data-first-focus]');
            (first instanceof HTMLElement ? first : event.currentTarget).focus();
          }}
          // the library gives it back to a button of its own alone, and there is none: commands and menus open these
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            before.current?.focus();
            onClosed?.();
          }}
          onEscapeKeyDown={(event) => onEscape?.() && event.preventDefault()}
          className={cx(
            'pop fixed inset-4 z-50 m-auto flex h-fit max-h-[calc(100%-2rem)] flex-col rounded-xl border border-line bg-raised text-sm text-ink shadow-pop outline-none',
            className,
          )}
        >
          <div className="flex items-start gap-3 border-b border-line px-5 py-3.5">
            <div className="min-w-0 flex-1">
              <Radix.Title className="font-serif text-[1.06rem] text-ink">{title}</Radix.Title>
              <Radix.Description className="mt-0.5 text-xs text-ink-2">{description}</Radix.Description>
            </div>
            <Radix.Close asChild>
              <IconButton label={t`Close`} keys="Esc" side="left" icon={<X />} />
            </Radix.Close>
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

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
              <Button>{t`Cancel`}</Button>
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

interface FolderDialogProps {
  title: string;
  /** one sentence below the title */
  description: string;
  names: readonly string[];
  /** where it is now; null: in no folder, which is offered, too. Without it a folder has to be chosen. */
  current?: string | null;
  /** letters of a name */
  maxLength: number;
  onChoose: (folder: string | null) => void;
  onClose: () => void;
  testId: string;
}

/** A folder of chats that is there, a new one, or none. */
export function FolderDialog(props: FolderDialogProps) {
  const { title, description, names, current, maxLength, onChoose, onClose, testId } = props;
  const [typed, setTyped] = useState('');

  function choose(folder: string | null): void {
    if (folder === '') return;
    onChoose(folder);
    onClose();
  }

  return (
    <Dialog
      title={title}
      description={description}
      open
      onOpenChange={(open) => !open && onClose()}
      className="w-[min(24rem,calc(100%-2rem))]"
      testId={testId}
    >
      <div className="grid min-h-0 gap-3 overflow-y-auto p-5">
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            choose(typed.trim());
          }}
        >
          <input
            dir="auto"
            data-first-focus
            aria-label={t`Name of a new folder`}
            data-testid="new-folder-name"
            placeholder={t`New folder`}
            value={typed}
            maxLength={maxLength}
            onChange={(event) => setTyped(event.target.value)}
            className={cx(controlClass, 'min-w-0 flex-1')}
          />
          <Button type="submit" tone="primary" disabled={typed.trim() === ''}>
            <Trans>Create</Trans>
          </Button>
        </form>
        <ul aria-label={t`Folders`} className="grid grid-cols-1 gap-1 empty:hidden">
          {names.map((name) => (
            <li key={name}>
              <FolderButton current={name === current} name={name} onClick={() => choose(name)} />
            </li>
          ))}
          {current !== undefined && (
            <li>
              <FolderButton current={current === null} name={t`No folder`} onClick={() => choose(null)} />
            </li>
          )}
        </ul>
      </div>
    </Dialog>
  );
}

function FolderButton({ current, name, onClick }: { current: boolean; name: string; onClick: () => void }) {
  return (
    <Button tone="quiet" aria-current={current || undefined} onClick={onClick} className="w-full min-w-0 justify-start">
      <Folder className="size-4 shrink-0 text-ink-3" aria-hidden="true" />
      <bdi className="truncate">{name}</bdi>
      {current && <span className="text-xs text-ink-3">{t`it is here`}</span>}
    </Button>
  );
}

interface ZoomImageProps {
  /** of its file */
  name: string;
  /** null: it is not here */
  src: string | null;
  /** of the small one */
  className?: string;
  testId?: string;
}

/** A small image, which a click shows over the whole window. */
export function ZoomImage({ name, src, className, testId }: ZoomImageProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-label={t`Show ${name}`}
        title={name}
        data-testid={testId}
        onClick={() => setOpen(true)}
        className={cx(
          'block shrink-0 overflow-hidden rounded-md border border-line bg-sunken transition-colors hover:border-accent/60',
          className,
        )}
      >
        {src && <img src={src} alt="" draggable={false} className="size-full object-cover" />}
      </button>
      <Dialog
        title={name}
        description={src ? t`As the model is given it.` : t`Its file is not stored any more.`}
        open={open}
        onOpenChange={setOpen}
        className="w-fit max-w-[calc(100%-2rem)]"
        testId="image-dialog"
      >
        {src && (
          <img src={src} alt={name} className="m-auto max-h-[calc(100vh-9rem)] min-h-0 max-w-full object-contain p-3" />
        )}
      </Dialog>
    </>
  );
}
