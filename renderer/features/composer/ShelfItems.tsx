/** The shelf beside the question: from it, and onto it. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Library } from 'lucide-react';
import { toast } from 'sonner';
import type { DocumentInfo } from '../../../electron/contract/documents';
import { selectOnShelf } from '../../state/slices/shelf';
import { useActions, useApp } from '../../state/useApp';
import { IconButton } from '../../ui/Button';
import { MenuItem } from '../../ui/Menu';

export function ShelfButton() {
  const { shelf } = useActions();
  return (
    <IconButton
      label={t`Attach from the shelf`}
      icon={<Library />}
      onClick={shelf.show}
      data-testid="attach-from-shelf"
      className="-ms-2"
    />
  );
}

/** In the menu of a document. Nothing for one that is on the shelf already. */
export function KeepOnShelf({ info }: { info: DocumentInfo }) {
  const there = useApp(selectOnShelf(info.id));
  const { shelf } = useActions();

  async function keep(): Promise<void> {
    if (await shelf.keep(info)) toast.success(t`On the shelf`, { description: info.name });
    // the shelf says why it was refused
    else shelf.show();
  }

  if (there) return null;
  return (
    <MenuItem icon={<Library />} onSelect={() => void keep()}>
      <Trans>Keep on the shelf</Trans>
    </MenuItem>
  );
}
