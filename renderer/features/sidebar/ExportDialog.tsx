import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { type ReactNode, useState } from 'react';
import { toast } from 'sonner';
import type { ExportOptions } from '../../../electron/contract/chatOperations';
import type { ChatSummary } from '../../../electron/contract/chats';
import { useActions } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { Segmented } from '../../ui/Segmented';
import { fileName, saveFile } from '../../ui/saveFile';

const formats = [
  { value: 'markdown', label: 'Markdown' },
  { value: 'json', label: 'JSON' },
] as const;

function branchChoices() {
  return [
    { value: 'shown', label: t`The shown one` },
    { value: 'all', label: t({ message: 'All', context: 'branches of a chat' }) },
  ] as const;
}

function helpText(format: ExportOptions['format'], withDocuments: boolean): string {
  if (format === 'markdown') {
    return t`To be read: questions, answers, their figures, and the names of documents with what was used of them.`;
  }
  const complete = t`Complete, and can be imported again.`;
  if (withDocuments) return complete;
  return `${complete} ${t`Without those texts, a chat goes on at another computer once its files are attached there.`}`;
}

/** One chat, or several into one file. */
export function ExportDialog({ chosen, onClose }: { chosen: readonly ChatSummary[]; onClose: () => void }) {
  const { chats } = useActions();
  const one = chosen.length === 1 ? chosen[0] : undefined;
  const [format, setFormat] = useState<ExportOptions['format']>(one ? 'markdown' : 'json');
  const [branches, setBranches] = useState<ExportOptions['branches']>(one ? 'shown' : 'all');

  const [withDocuments, setWithDocuments] = useState(false);

  async function save(): Promise<void> {
    onClose();
    const exported = await chats.exportChats(
      chosen.map((chat) => chat.id),
      { format, branches },
      withDocuments,
    );
    if (!exported) return;
    const { parts, without } = exported;
    if (without.length > 0) toast.warning(withoutText(without), { duration: 12_000 });
    const name = one?.title ?? `Concertina chats ${new Date().toISOString().slice(0, 10)}`;
    if (format === 'json') saveFile(fileName(name, 'json'), parts, 'application/json');
    else saveFile(fileName(name, 'md'), parts, 'text/markdown');
  }

  return (
    <Dialog
      title={one ? t`Export the chat` : plural(chosen.length, { one: 'Export # chat', other: 'Export # chats' })}
      description={one?.title ?? t`Into one file.`}
      open
      onOpenChange={(open) => !open && onClose()}
      testId="export-dialog"
      className="w-[min(26rem,calc(100%-2rem))]"
    >
      <div className="grid min-h-0 gap-4 overflow-y-auto p-5">
        <Choice label={t`Format`}>
          <Segmented name="export-format" label={t`Format`} value={format} options={formats} onValue={setFormat} />
        </Choice>
        <Choice label={t`Branches`}>
          <Segmented
            name="export-branches"
            label={t`Branches`}
            value={branches}
            options={branchChoices()}
            onValue={setBranches}
          />
        </Choice>
        {format === 'json' && (
          <label className="flex items-center gap-2.5 text-sm text-ink">
            <input
              type="checkbox"
              data-testid="export-documents"
              checked={withDocuments}
              onChange={(event) => setWithDocuments(event.target.checked)}
              className="size-4 accent-accent"
            />
            <Trans>With the texts of attached documents</Trans>
          </label>
        )}
        <p className="text-xs leading-relaxed text-ink-3">{helpText(format, withDocuments)}</p>
        <div className="flex justify-end">
          <Button tone="primary" data-testid="export-save" onClick={() => void save()}>
            <Trans>Export</Trans>
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function withoutText(names: readonly string[]): string {
  const shown = names.slice(0, 3).join(', ');
  const more = names.length - 3;
  if (more <= 0) return t`Not in the file: the text of ${shown}, which is not stored any more or too long.`;
  return t`Not in the file: the text of ${shown} and ${more} more, which is not stored any more or too long.`;
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
