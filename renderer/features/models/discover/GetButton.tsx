/** Download, how far it is, or chat: what can be done with a file of the hub now. */
import { Download as DownloadIcon, MessageSquare } from 'lucide-react';
import type { HubFile, HubModelPage } from '../../../../electron/contract/hub';
import { selectDownloadOf, selectIsStarting } from '../../../state/downloads/selectors';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { formatPercent } from '../../../ui/format';
import { stateWord } from '../downloads/downloadText';
import { useChatWith } from '../useChatWith';

interface GetButtonProps {
  page: HubModelPage;
  file: HubFile;
  /** the file that the figures are about */
  main: boolean;
}

export function GetButton({ page, file, main }: GetButtonProps) {
  const download = useApp(selectDownloadOf(page.repo, file.file));
  const starting = useApp(selectIsStarting(page.repo, file.file));
  const { downloads, ui } = useActions();
  const chatWith = useChatWith();
  const modelId = download?.state === 'done' ? download.modelId : file.modelId;

  if (modelId !== null) {
    return (
      <Button size="small" onClick={() => chatWith(modelId)} aria-label={`Chat with ${file.title}`}>
        <MessageSquare className="size-3.5" aria-hidden="true" />
        Chat
      </Button>
    );
  }
  if (download && download.state !== 'done') {
    const share = download.bytes > 0 ? download.done / download.bytes : 0;
    return (
      <Button
        size="small"
        tone="quiet"
        className="tabular-nums"
        aria-label={`${file.title}: ${stateWord(download.state)}, ${formatPercent(share)}. Show the downloads`}
        onClick={() => ui.showModels('downloads')}
      >
        {stateWord(download.state)} {formatPercent(share)}
      </Button>
    );
  }
  return (
    <Button
      size="small"
      tone={main ? 'primary' : 'outline'}
      disabled={starting}
      data-testid="hub-download"
      aria-label={`Download ${file.title}`}
      onClick={() => void downloads.start({ repo: page.repo, revision: page.revision, file: file.file })}
    >
      <DownloadIcon className="size-3.5" aria-hidden="true" />
      {starting ? 'Starting' : 'Download'}
    </Button>
  );
}
