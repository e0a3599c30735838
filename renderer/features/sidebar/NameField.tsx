import { useState } from 'react';

interface NameFieldProps {
  label: string;
  name: string;
  maxLength: number;
  testId: string;
  /** the new name, null when the old one stays; `byKey`: the focus wants to go back to where it was */
  onDone: (name: string | null, byKey: boolean) => void;
}

/** In the place of a name in the list. Enter or leaving takes it, Escape does not. */
export function NameField({ label, name, maxLength, testId, onDone }: NameFieldProps) {
  const [typed, setTyped] = useState(name);

  function commit(byKey: boolean): void {
    const next = typed.trim();
    onDone(next === '' || next === name ? null : next, byKey);
  }

  return (
    <input
      dir="auto"
      aria-label={label}
      data-testid={testId}
      value={typed}
      maxLength={maxLength}
      // The person asked to rename: the field is what they want next.
      // biome-ignore lint/a11y/noAutofocus: see above
      autoFocus
      onFocus={(event) => event.target.select()}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={() => commit(false)}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
          // the button that takes the focus is not pressed by this key
          event.preventDefault();
          commit(true);
        }
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onDone(null, true);
      }}
      className="h-8 w-full rounded-md border border-accent bg-field px-2 text-sm outline-none"
    />
  );
}
