/** Below the list: the trash, what is done with all chats, and what came of an import. */

import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Boxes, Download, Ellipsis, Info, Keyboard, Trash2, Upload } from 'lucide-react';
import { toast } from 'sonner';
import { foreignAppNames } from '../../../electron/contract/chatOperations';
import type { ImportReport } from '../../state/lib/chatTransfer';
import { selectTransfer } from '../../state/slices/chats';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { useFileInput } from '../../ui/Field';
import { Menu, MenuItem } from '../../ui/Menu';
import { Progress } from '../../ui/Progress';

export function SidebarFoot({ onExportAll }: { onExportAll: () => void }) {
  const { chats, ui } = useActions();
  const transfer = useApp(selectTransfer);
  const { input, ask } = useFileInput((files) => void take(files), {
    accept: '.json,.jsonl,.zip,application/json,application/zip',
    multiple: true,
    'aria-label': t`Files of chats to import`,
    'data-testid': 'import-file',
  });

  async function take(files: File[]): Promise<void> {
    if (files.length === 0) return;
    const { added, refused, report } = await chats.importFiles(files);
    const description = report && importText(report);
    const title = plural(added, { one: '# chat was imported', other: '# chats were imported' });
    const shown = description ? { description, duration: 30_000, descriptionClassName: 'toast-report' } : {};
    if (added > 0) toast.success(title, shown);
    else if (description) toast(t`No chat was imported`, shown);
    for (const reason of refused.slice(0, 3)) toast.error(reason, { duration: 12_000 });
  }

  if (transfer) {
    const label = transfer.kind === 'export' ? t`Exporting chats` : t`Importing chats`;
    return (
      <div className="flex items-center gap-2 border-t border-line px-3 py-1.5" data-testid="transfer">
        <Progress label={label} share={transfer.all === 0 ? 1 : transfer.done / transfer.all} />
        <Button tone="quiet" size="small" onClick={chats.cancelTransfer}>
          <Trans>Cancel</Trans>
        </Button>
      </div>
    );
  }
  return (
    <div className="flex items-center justify-between border-t border-line px-2 py-1.5">
      <Button tone="quiet" size="small" data-testid="sidebar-models" onClick={() => ui.showModels('discover')}>
        <Boxes className="size-3.5" aria-hidden="true" />
        <Trans>Models</Trans>
      </Button>
      <Button tone="quiet" size="small" data-testid="trash-open" onClick={() => void chats.openTrash()}>
        <Trash2 className="size-3.5" aria-hidden="true" />
        <Trans>Trash</Trans>
      </Button>
      {input}
      <Menu
        trigger={
          <button
            type="button"
            aria-label={t`All chats, and help`}
            data-testid="all-chats-menu"
            className="flex size-7 items-center justify-center rounded-md text-ink-3 hover:bg-hover hover:text-ink"
          >
            <Ellipsis className="size-4" aria-hidden="true" />
          </button>
        }
      >
        <MenuItem icon={<Download />} onSelect={onExportAll}>
          <Trans>Export all chats</Trans>
        </MenuItem>
        <MenuItem icon={<Upload />} onSelect={ask}>
          <span className="max-w-56 py-1">
            <Trans>Import chats</Trans>
            <span className="block text-xs text-ink-2">
              <Trans>Also from ChatGPT, Claude, Open WebUI, LM Studio and Jan</Trans>
            </span>
          </span>
        </MenuItem>
        <MenuItem icon={<Keyboard />} onSelect={() => ui.showDialog('shortcuts')}>
          <Trans>Keyboard shortcuts</Trans>
        </MenuItem>
        <MenuItem icon={<Info />} onSelect={() => ui.showDialog('about')}>
          <Trans>About Concertina</Trans>
        </MenuItem>
      </Menu>
    </div>
  );
}

/** What came of chats of other apps, in sentences; '': nothing is to be said. */
export function importText({ apps, messages, here, trashed, grown, damaged, empty, lost }: ImportReport): string {
  const names = apps.map((app) => foreignAppNames[app]).join(', ');
  const absent = [
    lost.pictures && plural(lost.pictures, { one: '# picture', other: '# pictures' }),
    lost.files && plural(lost.files, { one: '# file', other: '# files' }),
    lost.sounds && plural(lost.sounds, { one: '# recording', other: '# recordings' }),
    lost.tools && plural(lost.tools, { one: '# step of a tool', other: '# steps of tools' }),
    lost.others && plural(lost.others, { one: '# part of an unknown kind', other: '# parts of unknown kinds' }),
    damaged && plural(damaged, { one: '# damaged entry', other: '# damaged entries' }),
    empty && plural(empty, { one: '# chat without messages', other: '# chats without messages' }),
  ].filter(Boolean);
  const list = absent.join(', ');
  return [
    messages && plural(messages, { one: `# message from ${names}.`, other: `# messages from ${names}.` }),
    here &&
      plural(here, {
        one: '# chat was here already and was skipped.',
        other: '# chats were here already and were skipped.',
      }),
    trashed && plural(trashed, { one: '# of them is in the trash.', other: '# of them are in the trash.' }),
    grown &&
      plural(grown, {
        one: '# of them has new messages there, which were not brought over.',
        other: '# of them have new messages there, which were not brought over.',
      }),
    list && t`Not brought over: ${list}.`,
  ]
    .filter(Boolean)
    .join(' ');
}
