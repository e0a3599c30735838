/** What a folder of chats has of the shelf: in its row, and in its menu. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { FileText, SquarePen } from 'lucide-react';
import { selectFolderDocuments } from '../../state/slices/shelf';
import { useActions, useApp } from '../../state/useApp';
import { MenuItem } from '../../ui/Menu';

export function FolderDocumentCount({ name }: { name: string }) {
  const count = useApp(selectFolderDocuments(name)).length;
  if (count === 0) return null;
  return (
    <span
      data-testid="folder-document-count"
      className="flex shrink-0 items-center gap-0.5 text-xs font-normal text-ink-3 tabular-nums"
      title={t`Documents that new chats in it begin with`}
    >
      <FileText className="size-3" aria-hidden="true" />
      <span aria-hidden="true">{count}</span>
      <span className="sr-only">{plural(count, { one: '# document', other: '# documents' })}</span>
    </span>
  );
}

export function FolderDocumentItems({ name }: { name: string }) {
  const { compare, shelf, ui } = useActions();
  return (
    <>
      <MenuItem
        icon={<SquarePen />}
        onSelect={() => {
          compare.close();
          void shelf.newChatIn(name).then(ui.focusComposer);
        }}
      >
        <Trans>New chat in this folder</Trans>
      </MenuItem>
      <MenuItem icon={<FileText />} onSelect={() => shelf.showFolder(name)}>
        <Trans>Documents of this folder</Trans>
      </MenuItem>
    </>
  );
}
