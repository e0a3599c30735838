import { t } from '@lingui/core/macro';
import { type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from './Button';
import { cx } from './cx';

interface FieldProps {
  label: string;
  /** what stands beside the label */
  tag?: ReactNode;
  htmlFor: string;
  /** one short sentence below */
  help?: ReactNode;
  /** what stands at the right end of the label's line */
  aside?: ReactNode;
  children: ReactNode;
  /** label and control on one line */
  inline?: boolean;
}

export function Field({ label, tag, htmlFor, help, aside, children, inline = false }: FieldProps) {
  return (
    <div className="grid gap-1.5">
      <div className={cx('flex items-center gap-3', inline ? 'justify-between' : 'flex-wrap justify-between')}>
        <span className="flex min-w-0 flex-wrap items-baseline gap-x-1.5">
          <label htmlFor={htmlFor} className="text-sm font-medium text-ink">
            {label}
          </label>
          {tag}
        </span>
        {inline ? children : aside}
      </div>
      {!inline && children}
      {help && (
        <p id={`${htmlFor}-help`} className="text-xs leading-relaxed text-ink-3">
          {help}
        </p>
      )}
    </div>
  );
}

export const controlClass =
  'h-8 rounded-md border border-line-strong bg-field px-2 text-sm text-ink tabular-nums transition-colors hover:border-ink-3/60 disabled:opacity-50 aria-invalid:border-bad';

/** Of a field of several lines. */
export const areaClass =
  'block w-full resize-y rounded-md border border-line-strong bg-field px-2.5 py-1.5 text-sm text-ink transition-colors hover:border-ink-3/60';

interface SecretFieldProps {
  /** accessible name of the field */
  label: string;
  placeholder: string;
  /** words of the button */
  action: string;
  maxLength: number;
  testId: string;
  autoFocus?: boolean;
  /** Never kept here: what was taken is cleared. @returns whether it was */
  onSubmit: (secret: string) => Promise<boolean>;
}

/** A password or a token, which is shown as dots and kept by nobody on this side. */
export function SecretField({ label, placeholder, action, maxLength, testId, autoFocus, onSubmit }: SecretFieldProps) {
  const [typed, setTyped] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (autoFocus) field.current?.focus();
  }, [autoFocus]);
  const submit = () => void onSubmit(typed).then((taken) => taken && setTyped(''));
  // no form: it may stand in one, such as that of the question
  return (
    <div className="flex gap-2">
      <input
        ref={field}
        type="password"
        autoComplete="off"
        spellCheck={false}
        maxLength={maxLength}
        aria-label={label}
        placeholder={placeholder}
        data-testid={testId}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          if (typed.trim() !== '') submit();
        }}
        className={cx(controlClass, 'min-w-0 flex-1')}
      />
      <Button disabled={typed.trim() === ''} onClick={submit} data-testid={`${testId}-submit`}>
        {action}
      </Button>
    </div>
  );
}

interface WordsFormProps {
  words: string;
  /** what its button says */
  submit: string;
  note: string;
  /** characters */
  most: number;
  busy?: boolean;
  onSubmit: (words: string) => void;
  onCancel: () => void;
}

/** The words of a search, to be changed. */
export function WordsForm({ words, submit, note, most, busy = false, onSubmit, onCancel }: WordsFormProps) {
  const [edited, setEdited] = useState(words);
  return (
    <form
      className="grid gap-1.5"
      onSubmit={(event) => {
        event.preventDefault();
        // in a pop-up too React hands it on to the form around the trigger
        event.stopPropagation();
        if (!busy && edited.trim() !== '') onSubmit(edited.trim());
      }}
    >
      <input
        type="text"
        dir="auto"
        aria-label={t`Words to search for`}
        data-testid="search-words"
        value={edited}
        // The person asked to edit: the field is what they want next.
        // biome-ignore lint/a11y/noAutofocus: see above
        autoFocus
        maxLength={most}
        placeholder={t`function "linear model"`}
        onChange={(event) => setEdited(event.target.value)}
        className={cx(controlClass, 'w-full')}
      />
      <p className="text-xs leading-relaxed text-ink-3">{note}</p>
      <div className="flex justify-end gap-2">
        <Button size="small" tone="quiet" onClick={onCancel}>
          {t`Cancel`}
        </Button>
        <Button size="small" tone="primary" type="submit" disabled={busy || edited.trim() === ''}>
          {submit}
        </Button>
      </div>
    </form>
  );
}

/** The browser's own dialog for files: `input` is rendered somewhere, `ask` opens it. */
export function useFileInput(
  onFiles: (files: File[]) => void,
  attributes: Omit<ComponentProps<'input'>, 'ref' | 'type' | 'onChange'> & { 'data-testid': string },
): { input: ReactNode; ask: () => void } {
  const field = useRef<HTMLInputElement>(null);
  const input = (
    <input
      {...attributes}
      ref={field}
      type="file"
      hidden
      onChange={(event) => {
        onFiles([...(event.target.files ?? [])]);
        // the same file can be chosen again
        event.target.value = '';
      }}
    />
  );
  return { input, ask: () => field.current?.click() };
}
