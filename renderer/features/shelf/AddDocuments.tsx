/** Files onto the shelf: the button, and how far each of them has been read. */
import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { FileText, LoaderCircle, LockKeyhole, Plus, TriangleAlert, X } from 'lucide-react';
import { limits } from '../../../electron/contract/limits';
import type { DraftDocument } from '../../state/appState';
import { selectJob } from '../../state/slices/documents';
import { selectHeadless } from '../../state/slices/engine';
import { selectArriving } from '../../state/slices/shelf';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { SecretField, useFileInput } from '../../ui/Field';
import { Progress } from '../../ui/Progress';

interface AddDocumentsProps {
  /** a folder whose chats begin with them too; null: none */
  folder: string | null;
  tone?: 'primary' | 'outline';
}

/** The native dialog where there is one; a browser sends what is chosen. */
export function AddDocuments({ folder, tone = 'outline' }: AddDocumentsProps) {
  const headless = useApp(selectHeadless);
  const { shelf } = useActions();
  const { input, ask } = useFileInput((files) => void shelf.addFiles(files, folder), {
    multiple: true,
    'data-testid': 'shelf-add-input',
  });
  return (
    <>
      <Button tone={tone} data-testid="shelf-add" onClick={() => (headless ? ask() : void shelf.addFromDialog(folder))}>
        <Plus className="size-4" aria-hidden="true" />
        <Trans>Add files</Trans>
      </Button>
      {headless && input}
    </>
  );
}

/** Files that are being read; each goes onto the shelf when it is. */
export function Arriving() {
  const cards = useApp(selectArriving);
  const jobs = useApp((state) => state.documents.jobs);
  const { documents } = useActions();
  if (cards.length === 0) return null;
  const later = new Set(jobs.flatMap(({ id, state }) => (state === 'waiting' ? id : [])));
  const waits = ({ error, jobId, sent }: DraftDocument) => !error && (jobId ? later.has(jobId) : sent === 0);
  const waiting = cards.filter(waits);
  return (
    <div className="grid grid-cols-1 gap-1 px-3 pt-3">
      <ul aria-label={t`Files on their way to the shelf`} className="grid grid-cols-1 gap-1 empty:hidden">
        {cards
          .filter((card) => !waits(card))
          .map((card) => (
            <ArrivingRow key={card.key} card={card} />
          ))}
      </ul>
      {waiting.length > 0 && (
        <p className="flex items-center gap-3 px-3 text-xs text-ink-3" data-testid="shelf-waiting">
          {plural(waiting.length, { one: '# file waits', other: '# files wait' })}
          <Button
            size="small"
            tone="quiet"
            onClick={() => {
              for (const { key } of waiting) documents.remove(key);
            }}
          >
            {plural(waiting.length, { one: 'Cancel it', other: 'Cancel them' })}
          </Button>
        </p>
      )}
    </div>
  );
}

function ArrivingRow({ card }: { card: DraftDocument }) {
  const { documents } = useActions();
  const job = useApp(selectJob(card.jobId));
  const { key, name, error, info, sent } = card;
  const locked = job?.state === 'locked';
  return (
    <li
      data-testid="shelf-arriving"
      data-state={error ? 'failed' : locked ? 'locked' : 'reading'}
      className="flex items-start gap-2.5 rounded-lg border border-line bg-sunken py-2 ps-3 pe-1 text-sm"
    >
      <span className="mt-0.5 [&_svg]:size-4">
        {error ? (
          <TriangleAlert className="text-bad" aria-hidden="true" />
        ) : locked ? (
          <LockKeyhole className="text-warn" aria-hidden="true" />
        ) : info ? (
          <FileText className="text-accent" aria-hidden="true" />
        ) : (
          <LoaderCircle className="animate-spin text-ink-3" aria-hidden="true" />
        )}
      </span>
      <div className="min-w-0 flex-1">
        <p dir="auto" className="truncate font-medium text-ink" title={name}>
          {name}
        </p>
        {error && (
          <div role="alert" className="text-xs break-words">
            <p className="text-bad">{error.message}</p>
            <p className="text-ink-2">{error.hint}</p>
            <Button size="small" className="mt-1.5" onClick={() => void documents.tryAgain(key)}>
              <Trans>Try again</Trans>
            </Button>
          </div>
        )}
        {locked && (
          <div className="grid max-w-96 gap-1 pt-0.5">
            <p role="alert" className="text-xs break-words text-ink-2">
              {job.error?.message}
            </p>
            <SecretField
              label={t`Password of ${name}`}
              placeholder={t`Password`}
              action={t`Open`}
              maxLength={limits.maxPassword}
              testId="shelf-password"
              onSubmit={(password) => documents.unlock(key, password)}
            />
          </div>
        )}
        {!error && !locked && !info && (
          <Progress label={t`Reading ${name}`} share={job?.state === 'reading' ? job.progress : sent} />
        )}
      </div>
      <IconButton
        label={error || locked || info ? t`Remove ${name}` : t`Cancel reading ${name}`}
        icon={<X />}
        size="small"
        className="-my-0.5"
        onClick={() => documents.remove(key)}
      />
    </li>
  );
}
