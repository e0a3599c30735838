/** What every column reads: a typed text, a chat up to its last question, or documents with a question. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { FileText, LoaderCircle, Paperclip, X } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { limits } from '../../../electron/contract/limits';
import type { CompareForm, DraftDocument } from '../../state/appState';
import { selectChat } from '../../state/lib/openChat';
import { partText } from '../../state/lib/partText';
import { selectCompareDocuments } from '../../state/slices/compare';
import { selectJob } from '../../state/slices/documents';
import { selectHeadless } from '../../state/slices/engine';
import { useActions, useApp } from '../../state/useApp';
import { Button, IconButton } from '../../ui/Button';
import { controlClass, SecretField, useFileInput } from '../../ui/Field';
import { formatPercent } from '../../ui/format';
import { Segmented } from '../../ui/Segmented';

const areaClass = `${controlClass} h-auto w-full resize-y py-2 leading-relaxed`;

export function PromptField({ form }: { form: CompareForm }) {
  const { compare } = useActions();
  const documents = useApp(selectCompareDocuments);
  const open = useApp(selectChat);
  const count = useRef(documents.length);

  // What is dropped onto the window is meant.
  useEffect(() => {
    if (documents.length > count.current) compare.edit({ kind: 'documents' });
    count.current = documents.length;
  }, [documents.length, compare]);

  function choose(kind: CompareForm['kind']): void {
    const chat = open && open.messages.length > 0 ? { chatId: open.id, leafId: null, title: open.title } : null;
    compare.edit({ kind, ...(kind === 'chat' && { chat: form.chat ?? chat }) });
  }

  return (
    <div className="grid gap-2.5">
      <div>
        <Segmented
          name="compare-prompt"
          label={t`Prompt`}
          value={form.kind}
          options={[
            { value: 'text', label: t`Custom text` },
            { value: 'documents', label: t`Documents and a question` },
            { value: 'chat', label: t`A chat` },
          ]}
          onValue={choose}
        />
      </div>
      {form.kind === 'text' && (
        <>
          <textarea
            dir="auto"
            aria-label={t`Prompt`}
            data-testid="compare-prompt"
            rows={4}
            className={areaClass}
            placeholder={t`Longer prompts give more reliable quality figures.`}
            value={form.text}
            onChange={(event) => compare.edit({ text: event.target.value })}
          />
          <label className="flex items-center gap-2 text-xs text-ink-2">
            <input
              type="checkbox"
              checked={form.asIs}
              onChange={(event) => compare.edit({ asIs: event.target.checked })}
              className="accent-accent"
            />
            <Trans>Raw: no chat template or system prompt</Trans>
          </label>
        </>
      )}
      {form.kind === 'documents' && (
        <>
          <Documents documents={documents} />
          <textarea
            dir="auto"
            aria-label={t`Question about the documents`}
            data-testid="compare-question"
            rows={2}
            className={areaClass}
            placeholder={t`A question about them`}
            value={form.question}
            onChange={(event) => compare.edit({ question: event.target.value })}
          />
        </>
      )}
      {form.kind === 'chat' && (
        <p className="text-sm text-ink-2" data-testid="compare-chat">
          {form.chat ? (
            <ChatPrompt title={form.chat.title} leafId={form.chat.leafId} />
          ) : (
            t`No chat with a question is open.`
          )}
        </p>
      )}
    </div>
  );
}

function ChatPrompt({ title, leafId }: { title: string; leafId: string | null }) {
  if (leafId === null) {
    return (
      <Trans>
        <span className={titleClass}>{title}</span>, up to its last question. Each column writes its own answer.
      </Trans>
    );
  }
  return (
    <Trans>
      <span className={titleClass}>{title}</span>, up to its last question before the chosen message. Each column writes
      its own answer.
    </Trans>
  );
}

const titleClass = 'font-medium text-ink';

/** The documents of the prompt, whole, in the order in which the model reads them. */
function Documents({ documents: list }: { documents: readonly DraftDocument[] }) {
  const headless = useApp(selectHeadless);
  const { documents } = useActions();
  const { input, ask } = useFileInput((files) => void documents.attachFiles(files), {
    multiple: true,
    'data-testid': 'compare-attach-input',
  });

  return (
    <div className="flex flex-wrap items-center gap-2">
      {list.map((document) => (
        <Item key={document.key} document={document} />
      ))}
      <Button
        size="small"
        data-testid="compare-attach"
        onClick={() => (headless ? ask() : void documents.attachFromDialog())}
      >
        <Paperclip className="size-3.5" aria-hidden="true" />
        <Trans>Add documents</Trans>
      </Button>
      {headless && input}
    </div>
  );
}

function Item({ document }: { document: DraftDocument }) {
  const { documents } = useActions();
  const job = useApp(selectJob(document.jobId));
  const { key, name, info, part, error } = document;
  const state = error ? 'failed' : info ? 'ready' : job?.state === 'locked' ? 'locked' : 'reading';
  return (
    <span
      data-testid="compare-document"
      data-state={state}
      className="flex max-w-full items-center gap-1.5 rounded-md border border-line bg-raised py-0.5 ps-2.5 text-xs text-ink-2"
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
      {state === 'reading' && (
        <span role="status">
          {job ? t`reading, ${formatPercent(job.progress)}` : t({ message: 'reading', context: 'a document' })}
        </span>
      )}
      {state === 'locked' && (
        <span className="grid gap-1 py-1">
          <span role="alert">{job?.error?.message}</span>
          <SecretField
            label={t`Password of ${name}`}
            placeholder={t`Password`}
            action={t`Open`}
            maxLength={limits.maxPassword}
            testId="compare-password"
            onSubmit={(password) => documents.unlock(key, password)}
          />
        </span>
      )}
      {error && <span className="text-bad">{error.message}</span>}
      {error && (
        <Button size="small" tone="quiet" onClick={() => void documents.tryAgain(key)}>
          <Trans>Try again</Trans>
        </Button>
      )}
      <IconButton label={t`Remove ${name}`} icon={<X />} size="small" onClick={() => documents.remove(key)} />
    </span>
  );
}
