import { type ReactNode, useState } from 'react';
import type { ExportOptions } from '../../../electron/shared/chatFile';
import type { ChatSummary } from '../../../electron/shared/chats';
import { useActions } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Segmented } from '../../ui/Segmented';
import { fileName, saveFile } from '../../ui/saveFile';

const formats = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'json', label: 'JSON' },
] as const;

const branchChoices = [
  { value: 'shown', label: 'The shown one' },
  { value: 'all', label: 'All' },
] as const;

const help: Record<ExportOptions['format'], string> = {
  markdown: 'To be read: questions, answers, their figures, and the names of documents with what was used of them.',
  json: 'Complete, and can be imported again. The texts of attached documents are not in it.',
};

/** One chat, or several into one file. */
export function ExportDialog({ chosen, onClose }: { chosen: readonly ChatSummary[]; onClose: () => void }) {
  const { chats } = useActions();
  const one = chosen.length === 1 ? chosen[0] : undefined;
  const [format, setFormat] = useState<ExportOptions['format']>(one ? 'markdown' : 'json');
  const [branches, setBranches] = useState<ExportOptions['branches']>(one ? 'shown' : 'all');

  async function save(): Promise<void> {
    onClose();
    const parts = await chats.exportChats(
      chosen.map((chat) => chat.id),
      { format, branches },
    );
    if (!parts) return;
    const name = one?.title ?? `Concertina chats ${new Date().toISOString().slice(0, 10)}`;
    if (format === 'json') saveFile(fileName(name, 'json'), parts, 'application/json');
    else saveFile(fileName(name, 'md'), parts, 'text/markdown');
  }

  return (
    <Dialog
      title={one ? 'Export the chat' : `Export ${chosen.length} chats`}
      description={one?.title ?? 'Into one file.'}
      open
      onOpenChange={(open) => !open && onClose()}
      testId="export-dialog"
      className="w-[min(26rem,calc(100%-2rem))]"
    >
      <div className="grid min-h-0 gap-4 overflow-y-auto p-5">
        <Choice label="Format">
          <Segmented name="export-format" label="Format" value={format} options={formats} onValue={setFormat} />
        </Choice>
        <Choice label="Branches">
          <Segmented
            name="export-branches"
            label="Branches"
            value={branches}
            options={branchChoices}
            onValue={setBranches}
          />
        </Choice>
        <p className="text-xs leading-relaxed text-ink-3">{help[format]}</p>
        <div className="flex justify-end">
          <Button tone="primary" data-testid="export-save" onClick={() => void save()}>
            Export
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function Choice({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <span className="text-sm font-medium text-ink" aria-hidden="true">
        {label}
      </span>
      {children}
    </div>
  );
}
