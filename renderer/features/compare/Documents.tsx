import { FileText, LoaderCircle, Paperclip, X } from 'lucide-react';
import { useRef } from 'react';
import { selectJob } from '../../state/documents/selectors';
import type { DraftDocument } from '../../state/documents/state';
import { selectHeadless } from '../../state/engine/selectors';
import { partText } from '../../state/lib/partText';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { formatPercent } from '../../ui/format';
import { IconButton } from '../../ui/IconButton';

/** The documents of the prompt, whole, in the order in which the model reads them. */
export function Documents({ documents: list }: { documents: readonly DraftDocument[] }) {
  const headless = useApp(selectHeadless);
  const { documents } = useActions();
  const input = useRef<HTMLInputElement>(null);

  return (
    <div className="flex flex-wrap items-center gap-2">
      {list.map((document) => (
        <Item key={document.key} document={document} />
      ))}
      <Button
        size="small"
        data-testid="compare-attach"
        onClick={() => (headless ? input.current?.click() : void documents.attachFromDialog())}
      >
        <Paperclip className="size-3.5" aria-hidden="true" />
        Add documents
      </Button>
      {headless && (
        <input
          ref={input}
          type="file"
          multiple
          hidden
          data-testid="compare-attach-input"
          onChange={(event) => {
            void documents.attachFiles([...(event.target.files ?? [])]);
            event.target.value = '';
          }}
        />
      )}
    </div>
  );
}

function Item({ document }: { document: DraftDocument }) {
  const { documents } = useActions();
  const job = useApp(selectJob(document.jobId));
  const { key, name, info, part, error } = document;
  const state = error ? 'failed' : info ? 'ready' : 'reading';
  return (
    <span
      data-testid="compare-document"
      data-state={state}
      className="flex max-w-full items-center gap-1.5 rounded-md border border-line bg-raised py-0.5 pl-2.5 text-xs text-ink-2"
    >
      {state === 'reading' ? (
        <LoaderCircle className="size-3.5 animate-spin" aria-hidden="true" />
      ) : (
        <FileText className="size-3.5 shrink-0 text-accent" aria-hidden="true" />
      )}
      <span className="truncate font-medium text-ink" title={name}>
        {name}
      </span>
      {info && <span className="shrink-0">{partText(part, info)}</span>}
      {state === 'reading' && <span role="status">reading{job ? `, ${formatPercent(job.progress)}` : ''}</span>}
      {error && <span className="text-bad">{error.message}</span>}
      {error && (
        <Button size="small" tone="quiet" onClick={() => void documents.tryAgain(key)}>
          Try again
        </Button>
      )}
      <IconButton label={`Remove ${name}`} icon={<X />} size="small" onClick={() => documents.remove(key)} />
    </span>
  );
}
