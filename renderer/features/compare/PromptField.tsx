/** What every column reads: a typed text, a chat up to its last question, or documents with a question. */
import { useEffect, useRef } from 'react';
import { selectCompareDocuments } from '../../state/compare/selectors';
import type { CompareForm } from '../../state/compare/state';
import { selectChat } from '../../state/conversation/selectors';
import { useActions, useApp } from '../../state/useApp';
import { controlClass } from '../../ui/Field';
import { Segmented } from '../../ui/Segmented';
import { Documents } from './Documents';

const kinds = [
  { value: 'text', label: 'Custom text' },
  { value: 'documents', label: 'Documents and a question' },
  { value: 'chat', label: 'A chat' },
] as const;

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
        <Segmented name="compare-prompt" label="Prompt" value={form.kind} options={kinds} onValue={choose} />
      </div>
      {form.kind === 'text' && (
        <>
          <textarea
            dir="auto"
            aria-label="Prompt"
            data-testid="compare-prompt"
            rows={4}
            className={areaClass}
            placeholder="Longer prompts give more reliable quality figures."
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
            Raw: no chat template or system prompt
          </label>
        </>
      )}
      {form.kind === 'documents' && (
        <>
          <Documents documents={documents} />
          <textarea
            dir="auto"
            aria-label="Question about the documents"
            data-testid="compare-question"
            rows={2}
            className={areaClass}
            placeholder="A question about them"
            value={form.question}
            onChange={(event) => compare.edit({ question: event.target.value })}
          />
        </>
      )}
      {form.kind === 'chat' && (
        <p className="text-sm text-ink-2" data-testid="compare-chat">
          {form.chat ? (
            <>
              <span className="font-medium text-ink">{form.chat.title}</span>, up to its last question
              {form.chat.leafId !== null && ' before the chosen message'}. Its answer is written anew in each column.
            </>
          ) : (
            'No chat with a question is open.'
          )}
        </p>
      )}
    </div>
  );
}
