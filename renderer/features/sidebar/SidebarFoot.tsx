/** Below the list: the trash, and what is done with all chats. */
import { Boxes, Download, Ellipsis, Trash2, Upload } from 'lucide-react';
import { useRef } from 'react';
import { toast } from 'sonner';
import { selectTransfer } from '../../state/chats/selectors';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Menu, MenuItem } from '../../ui/Menu';
import { Progress } from '../../ui/Progress';

export function SidebarFoot({ onExportAll }: { onExportAll: () => void }) {
  const { chats, ui } = useActions();
  const transfer = useApp(selectTransfer);
  const field = useRef<HTMLInputElement>(null);

  async function take(file: File | undefined): Promise<void> {
    if (!file) return;
    const { added, refused } = await chats.importChats(await file.text());
    if (added > 0) toast.success(added === 1 ? '1 chat was imported' : `${added} chats were imported`);
    for (const reason of refused.slice(0, 3)) toast.error(reason, { duration: 12_000 });
  }

  if (transfer) {
    const label = transfer.kind === 'export' ? 'Exporting chats' : 'Importing chats';
    return (
      <div className="flex items-center gap-2 border-t border-line px-3 py-1.5" data-testid="transfer">
        <Progress label={label} share={transfer.all === 0 ? 1 : transfer.done / transfer.all} />
        <Button tone="quiet" size="small" onClick={chats.cancelTransfer}>
          Cancel
        </Button>
      </div>
    );
  }
  return (
    <div className="flex items-center justify-between border-t border-line px-2 py-1.5">
      <Button tone="quiet" size="small" data-testid="sidebar-models" onClick={() => ui.showModels('discover')}>
        <Boxes className="size-3.5" aria-hidden="true" />
        Models
      </Button>
      <Button tone="quiet" size="small" data-testid="trash-open" onClick={() => void chats.openTrash()}>
        <Trash2 className="size-3.5" aria-hidden="true" />
        Trash
      </Button>
      <input
        ref={field}
        type="file"
        accept=".json,application/json"
        data-testid="import-file"
        aria-label="File of chats to import"
        className="hidden"
        onChange={(event) => {
          void take(event.target.files?.[0]);
          // the same file can be chosen again
          event.target.value = '';
        }}
      />
      <Menu
        trigger={
          <button
            type="button"
            aria-label="Actions for all chats"
            data-testid="all-chats-menu"
            className="flex size-7 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Ellipsis className="size-4" aria-hidden="true" />
          </button>
        }
      >
        <MenuItem icon={<Download />} onSelect={onExportAll}>
          Export all chats
        </MenuItem>
        <MenuItem icon={<Upload />} onSelect={() => field.current?.click()}>
          Import chats
        </MenuItem>
      </Menu>
    </div>
  );
}
