import { TriangleAlert, X } from 'lucide-react';
import { selectJob } from '../../state/documents/selectors';
import type { DraftDocument } from '../../state/documents/state';
import { partText } from '../../state/lib/partText';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { formatCount } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';
import { CardMenu } from './CardMenu';
import { KindIcon } from './KindIcon';
import { ReadingProgress } from './ReadingProgress';

interface DocumentCardProps {
  document: DraftDocument;
  /** in the context, as it is attached; null: not counted */
  tokens: number | null;
  /** of the passages that a question may get; null: it is not searched for them */
  most: number | null;
  stale: boolean;
  /** the same document stands before it */
  twice: boolean;
}

/** A document beside the question: what it is, how far it has been read, or why it could not be. */
export function DocumentCard({ document, tokens, most, stale, twice }: DocumentCardProps) {
  const job = useApp(selectJob(document.jobId));
  const { documents } = useActions();
  const { key, info, error, name } = document;
  const state = info ? 'ready' : error ? 'failed' : (job?.state ?? 'sending');

  return (
    <li
      data-testid="document-card"
      data-state={state}
      data-tokens={tokens ?? undefined}
      data-part={document.part.kind}
      className={cx(
        'rise flex items-start gap-2.5 rounded-lg border bg-sunken py-2 pr-1 pl-2.5 text-xs',
        error ? 'border-bad/40' : 'border-line',
      )}
    >
      <KindIcon
        kind={info?.kind ?? null}
        className={cx('mt-0.5 size-4 shrink-0', error ? 'text-bad' : 'text-accent')}
      />
      <div className="min-w-0 flex-1">
        {info ? (
          <button
            type="button"
            title={info.name}
            onClick={() => documents.openAt(info.id)}
            className="block max-w-full truncate text-left font-medium text-ink hover:underline"
          >
            {info.name}
          </button>
        ) : (
          <p className="truncate font-medium text-ink" title={name}>
            {name}
          </p>
        )}
        {info && <Facts document={document} tokens={tokens} most={most} stale={stale} />}
        {info && <Warnings notices={info.notices} twice={twice} />}
        {!info && !error && <ReadingProgress name={name} sent={document.sent} job={job} />}
        {error && <Failure document={document} />}
      </div>
      {info && <CardMenu document={document} />}
      <IconButton
        label={info || error ? `Remove ${name}` : `Cancel reading ${name}`}
        icon={<X />}
        size="small"
        className="-my-1"
        onClick={() => documents.remove(key)}
      />
    </li>
  );
}

/** Passages differ from question to question: of those the most is told. */
function Facts({ document, tokens, most, stale }: Pick<DocumentCardProps, 'document' | 'tokens' | 'most' | 'stale'>) {
  const { info, part } = document;
  return (
    <p className="text-ink-3 tabular-nums">
      <span data-testid="card-part">{partText(part, info)}</span>
      {tokens !== null && most === null && (
        <span className={cx(stale && 'italic')} title="Tokens that it takes in the context">
          {' · '}
          {formatCount(tokens)} tokens
        </span>
      )}
      {most !== null && (
        <span title={tokens === null ? undefined : `${formatCount(tokens)} for the question as it is now`}>
          {' · up to '}
          {formatCount(most)} tokens
        </span>
      )}
    </p>
  );
}

function Warnings({ notices, twice }: { notices: readonly string[]; twice: boolean }) {
  const all = twice ? ['It is attached twice.', ...notices] : notices;
  const [first] = all;
  if (!first) return null;
  return (
    <p className="mt-0.5 flex gap-1 text-warn" title={all.join('\n')} data-testid="card-notice">
      <TriangleAlert className="mt-0.5 size-3 shrink-0" aria-hidden="true" />
      <span className="line-clamp-2">
        {first}
        {all.length > 1 && ` And ${all.length - 1} more: open it to see them.`}
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
        {origin.kind === 'dialog' ? 'Choose again' : 'Try again'}
      </Button>
    </div>
  );
}
