import { ChevronRight, Folder, FolderX, Pencil } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { limits } from '../../../electron/contract/limits';
import { selectShutFolders } from '../../state/chats/selectors';
import { useActions, useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { MenuItem } from '../../ui/Menu';
import { useDropPlace } from './dragged';
import { NameField } from './NameField';
import { RowMenu } from './RowMenu';

interface FolderSectionProps {
  name: string;
  count: number;
  /** it was renamed by keyboard: a folder of another name is another one, and the focus follows it */
  takesFocus: boolean;
  /** null: the name is as it was */
  onRenamed: (name: string | null) => void;
  children: ReactNode;
}

/** A folder and, while it is open, its chats. A chat that is dropped on it moves into it. */
export function FolderSection({ name, count, takesFocus, onRenamed, children }: FolderSectionProps) {
  const shut = useApp(selectShutFolders).includes(name);
  const { chats } = useActions();
  const [renaming, setRenaming] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const { over, listeners } = useDropPlace((chatId) => void chats.setFolder([chatId], name));
  useEffect(() => {
    if (takesFocus && !renaming) button.current?.focus();
  }, [takesFocus, renaming]);
  function finish(next: string | null, byKey: boolean): void {
    setRenaming(false);
    onRenamed(byKey ? next?.trim() || name : null);
    if (next !== null) void chats.renameFolder(name, next);
  }

  return (
    <section
      aria-label={`Folder ${name}`}
      data-testid="folder"
      {...listeners}
      className={cx('rounded-md', over && 'bg-accent-soft')}
    >
      {renaming ? (
        <NameField
          label="Name of the folder"
          name={name}
          maxLength={limits.maxFolderName}
          testId="folder-name-field"
          onDone={finish}
        />
      ) : (
        <h2 className="group relative flex h-8 items-center rounded-md hover:bg-hover">
          <button
            ref={button}
            type="button"
            aria-expanded={!shut}
            title={name}
            onClick={() => chats.toggleFolder(name)}
            onDoubleClick={() => setRenaming(true)}
            onKeyDown={(event) => {
              if (event.key === 'F2') setRenaming(true);
            }}
            className="flex h-full min-w-0 flex-1 items-center gap-1.5 rounded-md pr-8 pl-1.5 text-left text-sm font-medium text-ink-2"
          >
            <ChevronRight
              className={cx('size-3.5 shrink-0 text-ink-3 transition-transform', !shut && 'rotate-90')}
              aria-hidden="true"
            />
            <Folder className="size-4 shrink-0 text-ink-3" aria-hidden="true" />
            <span className="truncate">{name}</span>
            <span className="text-xs font-normal text-ink-3 tabular-nums">
              {count}
              <span className="sr-only">{count === 1 ? ' chat' : ' chats'}</span>
            </span>
          </button>
          <RowMenu label={`Actions for the folder ${name}`}>
            <MenuItem icon={<Pencil />} onSelect={() => setRenaming(true)}>
              Rename
            </MenuItem>
            <MenuItem icon={<FolderX />} onSelect={() => void chats.removeFolder(name)}>
              Delete the folder, keep its chats
            </MenuItem>
          </RowMenu>
        </h2>
      )}
      {!shut && <div className="pl-3.5">{children}</div>}
    </section>
  );
}
