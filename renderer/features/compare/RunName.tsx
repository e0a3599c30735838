import { Pencil } from 'lucide-react';
import { useState } from 'react';
import type { CompareRun } from '../../../electron/contract/compare';
import { limits } from '../../../electron/contract/limits';
import { useActions } from '../../state/useApp';
import { controlClass } from '../../ui/Field';
import { IconButton } from '../../ui/IconButton';

/** Enter or leaving the field takes the name, Escape gives up. */
export function RunName({ run }: { run: CompareRun }) {
  const { compare } = useActions();
  const [typed, setTyped] = useState<string | null>(null);

  function commit(): void {
    const name = typed?.trim() ?? '';
    setTyped(null);
    if (name !== '' && name !== run.name) void compare.rename(run.id, name);
  }

  if (typed === null) {
    return (
      <span className="flex min-w-0 flex-1 basis-56 items-center gap-1">
        <h2 className="truncate font-serif text-[1.06rem] text-ink" title={run.name}>
          {run.name}
        </h2>
        <IconButton
          label="Rename"
          icon={<Pencil />}
          size="small"
          onClick={() => setTyped(run.name)}
          data-testid="compare-rename"
        />
      </span>
    );
  }
  return (
    <input
      aria-label="Name of the comparison"
      data-testid="compare-name"
      className={`${controlClass} w-72`}
      maxLength={limits.maxTitle}
      value={typed}
      // biome-ignore lint/a11y/noAutofocus: the pencil was pressed to write here
      autoFocus
      onChange={(event) => setTyped(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit();
        if (event.key !== 'Escape') return;
        event.preventDefault();
        setTyped(null);
      }}
    />
  );
}
