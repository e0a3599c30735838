import type { HubFile, HubModelPage } from '../../../../electron/contract/hub';
import type { ContextSettings } from '../../../../electron/contract/settings';
import { isUsable } from '../../../state/hub/firstFile';
import { useActions } from '../../../state/useApp';
import { cx } from '../../../ui/cx';
import { formatBytes } from '../../../ui/format';
import { GetButton } from './GetButton';
import { GradeChip } from './GradeChip';
import { useVerdict } from './useFits';
import type { Verdict } from './verdict';

interface FileRowProps {
  page: HubModelPage;
  file: HubFile;
  /** the one that the figures above are about */
  chosen: HubFile | null;
  context: ContextSettings | null;
  /** its quant alone does not tell it from the others */
  named: boolean;
}

const kinds = { model: '', projector: 'for pictures; no model by itself', other: 'no model by itself' } as const;

export function FileRow({ page, file, chosen, context, named }: FileRowProps) {
  const verdict = useVerdict(page, file, chosen, context);
  const { hub } = useActions();
  const usable = isUsable(file);
  const isChosen = chosen?.file === file.file;
  const notes = [
    file.parts.length > 1 && `${file.parts.length} parts`,
    file.missingParts > 0 && `${file.missingParts} parts are missing on the hub`,
    kinds[file.kind],
  ].filter(Boolean);

  return (
    <li
      data-testid="hub-file"
      data-file={file.file}
      className={cx(
        'flex items-center gap-3 pr-2.5 first:rounded-t-lg last:rounded-b-lg',
        isChosen && 'bg-accent-soft',
      )}
    >
      <button
        type="button"
        disabled={!usable}
        aria-pressed={isChosen}
        aria-label={`${file.title}: show what it takes`}
        onClick={() => hub.chooseFile(file.file)}
        className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 px-3 py-2 text-left tabular-nums focus-visible:-outline-offset-2"
      >
        <span className={cx('min-w-16 font-medium', usable ? 'text-ink' : 'text-ink-3')}>{file.quant ?? '–'}</span>
        <span className="text-xs text-ink-2">{formatBytes(file.bytes)}</span>
        {usable && <RowVerdict verdict={verdict} />}
        {(named || notes.length > 0) && (
          <span className="w-full truncate text-xs text-ink-3">
            {[...(named ? [file.title] : []), ...notes].join(' · ')}
          </span>
        )}
      </button>
      {usable && <GetButton page={page} file={file} main={isChosen} />}
    </li>
  );
}

function RowVerdict({ verdict }: { verdict: Verdict | null }) {
  if (!verdict) return null;
  if (!verdict.known) return <span className="text-xs text-ink-3">not known</span>;
  const free = verdict.available > 0 ? formatBytes(verdict.available) : 'nothing';
  return (
    <span className="inline-flex flex-wrap items-center gap-x-2">
      <GradeChip verdict={verdict} />
      <span className="text-xs text-ink-3">
        {verdict.about ? '≈ ' : ''}
        {formatBytes(verdict.needed)} of {free}
      </span>
    </span>
  );
}
