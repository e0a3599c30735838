import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import {
  BookOpen,
  Ellipsis,
  ListChecks,
  LockKeyhole,
  Pencil,
  ScanSearch,
  TextCursorInput,
  TriangleAlert,
  WholeWord,
  X,
} from 'lucide-react';
import { useState } from 'react';
import type { DocumentJob } from '../../../electron/contract/documents';
import { attachmentLimits } from '../../../electron/contract/lib/attachments';
import { limits } from '../../../electron/contract/limits';
import type { DraftDocument } from '../../state/appState';
import { selectDraftOfOpenChat } from '../../state/lib/openChat';
import { chooseText, countText, partText, wordsText } from '../../state/lib/partText';
import { selectBudget, selectBudgetStale } from '../../state/slices/budget';
import { selectDraftDocuments, selectJob } from '../../state/slices/documents';
import { selectSettings } from '../../state/slices/settings';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { SecretField, WordsForm } from '../../ui/Field';
import { formatCount } from '../../ui/format';
import { Menu, MenuItem } from '../../ui/Menu';
import { Popover } from '../../ui/Popover';
import { Progress } from '../../ui/Progress';
import { KindIcon, MediaSign, ReadAsText, ScanChoice } from './MediaParts';
import { KeepOnShelf } from './ShelfItems';

/** The documents of the question, in the order in which the model reads them. */
export function DocumentCards() {
  const documents = useApp(selectDraftDocuments);
  const budget = useApp(selectBudget);
  const stale = useApp(selectBudgetStale);
  const lookedUp = useApp(selectSettings)?.documents.retrievalTokens ?? 0;
  if (documents.length === 0) return null;
  const counts = budget?.byDocument.filter(({ inBranch }) => !inBranch) ?? [];
  const searched = documents.filter(({ part }) => part.kind === 'passages').length;
  const ready = documents.filter(({ info }) => info !== null);

  return (
    <ul
      className="grid max-h-[30vh] grid-cols-[repeat(auto-fill,minmax(min(15rem,100%),1fr))] items-start gap-2 overflow-y-auto px-3 pt-3"
      aria-label={t`Documents of this question`}
      data-testid="draft-documents"
    >
      {documents.map((document) => {
        const count = counts[ready.indexOf(document)];
        const known = count?.documentId === document.info?.id;
        const twice = ready.find(({ info }) => info?.id === document.info?.id) !== document;
        return (
          <DocumentCard
            key={document.key}
            document={document}
            tokens={known && count ? count.tokens : null}
            words={(known && count?.words) || ''}
            most={document.part.kind === 'passages' ? Math.floor(lookedUp / searched) : null}
            stale={stale}
            twice={document.info !== null && twice}
          />
        );
      })}
    </ul>
  );
}

interface DocumentCardProps {
  document: DraftDocument;
  /** in the context, as it is attached; null: not counted */
  tokens: number | null;
  /** of the passages that a question may get; null: it is not searched for them */
  most: number | null;
  /** that it was searched for last; '': none, or it is not searched */
  words: string;
  stale: boolean;
  /** the same document stands before it */
  twice: boolean;
}

/** A document beside the question: what it is, how far it has been read, or why it could not be. */
function DocumentCard({ document, tokens, words, most, stale, twice }: DocumentCardProps) {
  const job = useApp(selectJob(document.jobId));
  const { documents } = useActions();
  const { key, info, error } = document;
  const name = info?.name ?? document.name;
  const state = info ? 'ready' : error ? 'failed' : (job?.state ?? 'sending');
  const [tried, setTried] = useState(false);
  const media = info?.kind === 'image' || info?.kind === 'sound';

  return (
    <li
      data-testid="document-card"
      data-state={state}
      data-tokens={tokens ?? undefined}
      data-part={document.part.kind}
      className={cx(
        'rise flex items-start gap-2.5 rounded-lg border bg-sunken py-2 pe-1 ps-2.5 text-xs',
        error ? 'border-bad/40' : 'border-line',
      )}
    >
      {state === 'locked' ? (
        <LockKeyhole className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden="true" />
      ) : info && media ? (
        <MediaSign info={info} />
      ) : (
        <KindIcon
          kind={info?.kind ?? null}
          className={cx('mt-0.5 size-4 shrink-0', error ? 'text-bad' : 'text-accent')}
        />
      )}
      <div className="min-w-0 flex-1">
        {info && !media ? (
          <button
            type="button"
            title={info.name}
            onClick={() => documents.openAt(info.id)}
            className="block max-w-full truncate text-start font-medium text-ink hover:underline"
          >
            {info.name}
          </button>
        ) : (
          <p className="truncate font-medium text-ink" title={name}>
            {name}
          </p>
        )}
        {info && <Facts document={document} tokens={tokens} most={most} stale={stale} />}
        {info && document.part.kind === 'passages' && <SearchWords document={document} words={words} stale={stale} />}
        {info && <ScanChoice document={document} info={info} counting={stale || tokens === null} />}
        {info && <Warnings notices={document.part.kind === 'image' ? [] : info.notices} twice={twice} />}
        {!info && !error && state !== 'locked' && <ReadingProgress name={name} sent={document.sent} job={job} />}
        {state === 'locked' && <Locked document={document} job={job} tried={tried} onTry={() => setTried(true)} />}
        {error && <Failure document={document} />}
      </div>
      {info && info.kind !== 'sound' && <CardMenu document={document} />}
      <IconButton
        label={info || error || state === 'locked' ? t`Remove ${name}` : t`Cancel reading ${name}`}
        icon={<X />}
        size="small"
        className="-my-1"
        onClick={() => documents.remove(key)}
      />
    </li>
  );
}

/** Passages differ from question to question: the most of them is shown. */
function Facts({ document, tokens, most, stale }: Pick<DocumentCardProps, 'document' | 'tokens' | 'most' | 'stale'>) {
  const { info, part } = document;
  return (
    <p className="text-ink-3 tabular-nums">
      <span data-testid="card-part">{partText(part, info)}</span>
      {tokens !== null && most === null && (
        <span className={cx(stale && 'italic')} title={t`Tokens that it takes in the context`}>
          {' · '}
          {countText(tokens, 'token')}
        </span>
      )}
      {most !== null && (
        <span title={tokens === null ? undefined : t`${formatCount(tokens)} for the question as it is now`}>
          {' · '}
          <Trans>up to {formatCount(most)} tokens</Trans>
        </span>
      )}
    </p>
  );
}

/** What is searched for with the question as it is now, and a way to say something else. */
function SearchWords({ document, words, stale }: Pick<DocumentCardProps, 'document' | 'words' | 'stale'>) {
  const [open, setOpen] = useState(false);
  const { documents } = useActions();
  const { key, name, part } = document;
  const chosen = part.kind === 'passages' ? part.words : undefined;
  const written = useApp(selectDraftOfOpenChat).text.trim() !== '';
  // what was counted last may be of the question that has been sent
  const shown = chosen ?? (written ? words : '');
  if (shown === '') return null;

  function choose(next: string | undefined): void {
    documents.setPart(key, { kind: 'passages', passages: [], words: next });
    setOpen(false);
  }

  return (
    <Popover
      label={t`Words to search ${name} for`}
      align="start"
      className="w-80 p-3"
      open={open}
      onOpenChange={setOpen}
      trigger={
        <button
          type="button"
          data-testid="card-words"
          title={t`Searches for: ${wordsText(shown)}. Click to change the words.`}
          className="line-clamp-2 text-start break-words text-ink-3 hover:text-ink"
        >
          {chosen === undefined ? t`Searches for:` : t`Your words:`}{' '}
          <span dir="auto" className={cx('text-ink-2', stale && chosen === undefined && 'italic')}>
            {wordsText(shown)}
          </span>
          <Pencil className="ms-1 inline size-3" aria-hidden="true" />
        </button>
      }
    >
      <WordsForm
        most={attachmentLimits.searchWords}
        words={shown}
        submit={t`Search for these`}
        note={t`For the next question only. Words in quotes are searched for as they stand.`}
        onSubmit={choose}
        onCancel={() => setOpen(false)}
      />
      {chosen !== undefined && (
        <button
          type="button"
          onClick={() => choose(undefined)}
          className="mt-2 text-xs font-medium text-accent hover:underline"
        >
          <Trans>Use the words of the question</Trans>
        </button>
      )}
    </Popover>
  );
}

function Warnings({ notices, twice }: { notices: readonly string[]; twice: boolean }) {
  const all = twice ? [t`It is attached twice.`, ...notices] : notices;
  const [first] = all;
  if (!first) return null;
  return (
    <p className="mt-0.5 flex gap-1 text-warn" title={all.join('\n')} data-testid="card-notice">
      <TriangleAlert className="mt-0.5 size-3 shrink-0" aria-hidden="true" />
      <span className="line-clamp-2">
        {first}
        {all.length > 1 && ` ${t`And ${all.length - 1} more: open it to see them.`}`}
      </span>
    </p>
  );
}

function Failure({ document }: { document: DraftDocument }) {
  const { documents } = useActions();
  const { error, origin, key } = document;
  return (
    <div role="alert">
      <p className="break-words text-bad">{error?.message}</p>
      {error?.hint && <p className="break-words text-ink-2">{error.hint}</p>}
      <Button size="small" className="mt-1.5 mb-0.5" onClick={() => void documents.tryAgain(key)}>
        {origin.kind === 'dialog' ? t`Choose again` : t`Try again`}
      </Button>
    </div>
  );
}

interface LockedProps {
  document: DraftDocument;
  job: DocumentJob | null;
  /** a password was typed here: the next one is typed in the same place */
  tried: boolean;
  onTry: () => void;
}

function Locked({ document: { key, name }, job, tried, onTry }: LockedProps) {
  const { documents, ui } = useActions();
  return (
    <div className="pe-1">
      <p role="alert" className={cx('mb-1 break-words', tried ? 'text-bad' : 'text-ink-2')} data-testid="card-locked">
        {job?.error?.message}
        {tried && ` ${job?.error?.hint}`}
      </p>
      <SecretField
        label={t`Password of ${name}`}
        placeholder={t`Password`}
        action={t`Open`}
        maxLength={limits.maxPassword}
        testId="card-password"
        autoFocus={tried}
        onSubmit={(password) => {
          onTry();
          // the form goes while the document is read
          ui.focusComposer();
          return documents.unlock(key, password);
        }}
      />
      <p className="mt-1 text-ink-3">
        <Trans>The password is not kept. The text is, like that of any document.</Trans>
      </p>
    </div>
  );
}

/** What can be done with a document that has been read. */
function CardMenu({ document }: { document: DraftDocument }) {
  const { documents } = useActions();
  const { key, info, part, origin } = document;
  if (!info) return null;

  return (
    <Menu
      trigger={
        <IconButton
          label={t`More about ${info.name}`}
          icon={<Ellipsis />}
          size="small"
          className="-my-1 -me-1.5"
          data-testid="card-menu"
        />
      }
    >
      {info.kind === 'image' ? (
        <ReadAsText document={document} />
      ) : (
        <MenuItem icon={<BookOpen />} onSelect={() => documents.openAt(info.id)}>
          <Trans>Show the text</Trans>
        </MenuItem>
      )}
      {info.sections > 1 && (
        <MenuItem icon={<ListChecks />} onSelect={() => documents.openParts(info.id)}>
          {chooseText(info)}
        </MenuItem>
      )}
      {info.kind !== 'image' && part.kind !== 'passages' && (
        <MenuItem icon={<ScanSearch />} onSelect={() => documents.setPart(key, { kind: 'passages', passages: [] })}>
          <Trans>Search it for each question</Trans>
        </MenuItem>
      )}
      {info.kind !== 'image' && part.kind !== 'whole' && (
        <MenuItem icon={<WholeWord />} onSelect={() => documents.setPart(key, { kind: 'whole' })}>
          <Trans>The whole document</Trans>
        </MenuItem>
      )}
      <KeepOnShelf info={info} />
      {origin.kind === 'text' && (
        <MenuItem icon={<TextCursorInput />} onSelect={() => documents.pasteAsText(key)}>
          <Trans>Paste as text</Trans>
        </MenuItem>
      )}
    </Menu>
  );
}

interface ReadingProgressProps {
  name: string;
  /** share that has been handed over; null: all */
  sent: number | null;
  /** null: not known yet */
  job: DocumentJob | null;
}

function ReadingProgress({ name, sent, job }: ReadingProgressProps) {
  const text = readingText(sent, job);
  return (
    <div className="pe-1">
      <p className="text-ink-3 tabular-nums">{text}</p>
      {job?.state === 'reading' && <Progress label={t`Reading ${name}`} share={job.progress} />}
      {!job && sent !== null && <Progress label={t`Sending ${name}`} share={sent} />}
    </div>
  );
}

function readingText(sent: number | null, job: DocumentJob | null): string {
  if (!job) return sent !== null && sent < 1 ? t`Sending` : t`Waiting`;
  if (job.state !== 'reading') return t`Waiting for the one before`;
  if (!job.pages) return t`Reading`;
  const { all, ocr } = job.pages;
  if (ocr !== undefined) {
    return all === 1 ? t`Reading it by OCR` : t`Reading page ${formatCount(ocr)} of ${formatCount(all)} by OCR`;
  }
  return t`Reading ${formatCount(job.pages.done)} of ${formatCount(all)} pages`;
}
