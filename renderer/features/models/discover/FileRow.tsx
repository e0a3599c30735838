import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Download as DownloadIcon, MessageSquare } from 'lucide-react';
import type { HubFile, HubModelPage } from '../../../../electron/contract/hub';
import { i18n } from '../../../language';
import { selectMachineProfile } from '../../../state/slices/engine';
import { isUsable, selectDownloadOf, selectIsStarting } from '../../../state/slices/hub';
import { useActions, useApp } from '../../../state/useApp';
import { Button } from '../../../ui/Button';
import { cx } from '../../../ui/cx';
import { formatBytes, formatPercent } from '../../../ui/format';
import { stateWord } from '../downloads/downloadText';
import { useChatWith } from '../useChatWith';
import { GradeChip } from './GradeChip';
import type { Verdict } from './verdict';
import { speedText } from './verdictText';

interface FileRowProps {
  page: HubModelPage;
  file: HubFile;
  /** the one that the figures above are about */
  chosen: HubFile | null;
  verdict: Verdict | null;
  /** its quant alone does not tell it from the others */
  named: boolean;
  /** the one to take on this machine */
  recommended: boolean;
}

const kinds: Record<HubFile['kind'], MessageDescriptor | null> = {
  model: null,
  projector: msg`for images and sound; comes with the model`,
  other: msg`no model by itself`,
};

export function FileRow({ page, file, chosen, verdict, named, recommended }: FileRowProps) {
  const { hub } = useActions();
  const usable = isUsable(file);
  const isChosen = chosen?.file === file.file;
  const kind = kinds[file.kind];
  const notes = [
    file.parts.length > 1 && plural(file.parts.length, { one: '# part', other: '# parts' }),
    file.missingParts > 0 &&
      plural(file.missingParts, { one: '# part is missing on the hub', other: '# parts are missing on the hub' }),
    kind && i18n._(kind),
    file.projector && t`and ${formatBytes(file.projector.bytes)} for images and sound (its projector)`,
  ].filter(Boolean);

  return (
    <li
      data-testid="hub-file"
      data-file={file.file}
      className={cx(
        'flex items-center gap-3 pe-2.5 first:rounded-t-lg last:rounded-b-lg',
        isChosen && 'bg-accent-soft',
      )}
    >
      <button
        type="button"
        disabled={!usable}
        aria-pressed={isChosen}
        onClick={() => hub.chooseFile(file.file)}
        className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 px-3 py-2 text-start tabular-nums focus-visible:-outline-offset-2"
      >
        {!named && <span className="sr-only">{file.title}: </span>}
        <span className={cx('min-w-16 font-medium', usable ? 'text-ink' : 'text-ink-3')}>{file.quant ?? '–'}</span>
        <span className="text-xs text-ink-2">{formatBytes(file.bytes)}</span>
        {recommended && (
          <span
            data-testid="hub-recommended"
            className="rounded-full bg-accent px-2 text-[0.6875rem] leading-5 font-medium text-on-accent"
          >
            <Trans>Recommended</Trans>
          </span>
        )}
        {usable && <RowVerdict verdict={verdict} />}
        {(named || notes.length > 0) && (
          <span className="w-full truncate text-xs text-ink-3">
            {[...(named ? [file.title] : []), ...notes].join(' · ')}
          </span>
        )}
        <span className="sr-only">
          {'. '}
          <Trans>Show what it takes</Trans>
        </span>
      </button>
      {usable && <GetButton page={page} file={file} main={isChosen} />}
    </li>
  );
}

function RowVerdict({ verdict }: { verdict: Verdict | null }) {
  const facts = useApp(selectMachineProfile)?.facts ?? null;
  if (!verdict) return null;
  if (!verdict.known)
    return (
      <span className="text-xs text-ink-3">
        <Trans>not known</Trans>
      </span>
    );
  const needed = `${verdict.about ? '≈ ' : ''}${formatBytes(verdict.needed)}`;
  const speed = verdict.grade === 'none' ? null : speedText(verdict, facts);
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <GradeChip verdict={verdict} />
      <span className="text-xs text-ink-3">
        {verdict.available > 0 ? t`${needed} of ${formatBytes(verdict.available)}` : t`${needed} of nothing`}
      </span>
      {speed && (
        <span className="text-xs text-ink-3" data-testid="hub-speed">
          {speed}
        </span>
      )}
    </span>
  );
}

// Download, how far it is, or chat: what can be done with a file of the hub now.

interface GetButtonProps {
  page: HubModelPage;
  file: HubFile;
  /** the file that the figures are about */
  main: boolean;
}

function GetButton({ page, file, main }: GetButtonProps) {
  const download = useApp(selectDownloadOf(page.repo, file.file));
  const starting = useApp(selectIsStarting(page.repo, file.file));
  const { downloads, ui } = useActions();
  const chatWith = useChatWith();
  const modelId = download?.state === 'done' ? download.modelId : file.modelId;

  if (modelId !== null) {
    return (
      <Button size="small" onClick={() => chatWith(modelId)} aria-label={t`Chat with ${file.title}`}>
        <MessageSquare className="size-3.5" aria-hidden="true" />
        <Trans>Chat</Trans>
      </Button>
    );
  }
  if (download && download.state !== 'done') {
    const share = download.bytes > 0 ? download.done / download.bytes : 0;
    const now = `${stateWord(download.state)} ${formatPercent(share)}`;
    return (
      <Button
        size="small"
        tone="quiet"
        className="tabular-nums"
        aria-label={t`${now}: ${file.title}. Show the downloads`}
        onClick={() => ui.showModels('downloads')}
      >
        {now}
      </Button>
    );
  }
  return (
    <Button
      size="small"
      tone={main ? 'primary' : 'outline'}
      // one that is switched off would lose the focus to the next file, and Enter would download that
      aria-disabled={starting || undefined}
      className="aria-disabled:opacity-50"
      data-testid="hub-download"
      aria-label={starting ? t`Starting ${file.title}` : t`Download ${file.title}`}
      onClick={() => {
        if (!starting) void downloads.start({ repo: page.repo, revision: page.revision, file: file.file });
      }}
    >
      <DownloadIcon className="size-3.5" aria-hidden="true" />
      {starting ? t`Starting` : t`Download`}
    </Button>
  );
}
