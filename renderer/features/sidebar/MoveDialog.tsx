import { useState } from 'react';
import type { ChatSummary } from '../../../electron/contract/chats';
import { limits } from '../../../electron/contract/limits';
import { selectChatList } from '../../state/chats/selectors';
import { folderNames } from '../../state/lib/chatList';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { Dialog } from '../../ui/Dialog';
import { controlClass } from '../../ui/Field';

/** Into a folder that is there, a new one, or none. */
export function MoveDialog({ chat, onClose }: { chat: ChatSummary; onClose: () => void }) {
  const { chats } = useActions();
  const folders = folderNames(useApp(selectChatList) ?? []);
  const [typed, setTyped] = useState('');

  function move(folder: string | null): void {
    if (folder !== chat.folder) void chats.setFolder([chat.id], folder);
    onClose();
  }

  return (
    <Dialog
      title="Move to a folder"
      description={chat.title}
      open
      onOpenChange={(open) => !open && onClose()}
      testId="move-dialog"
      className="w-[min(24rem,calc(100%-2rem))]"
    >
      <div className="grid min-h-0 gap-3 overflow-y-auto p-5">
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (typed.trim() !== '') move(typed.trim());
          }}
        >
          <input
            aria-label="Name of a new folder"
            data-testid="new-folder-name"
            placeholder="New folder"
            value={typed}
            maxLength={limits.maxFolderName}
            onChange={(event) => setTyped(event.target.value)}
            className={cx(controlClass, 'min-w-0 flex-1')}
          />
          <Button type="submit" tone="primary" disabled={typed.trim() === ''}>
            Create
          </Button>
        </form>
        <div className="grid gap-1">
          {folders.map((name) => (
            <FolderButton key={name} current={name === chat.folder} onClick={() => move(name)}>
              {name}
            </FolderButton>
          ))}
          <FolderButton current={chat.folder === null} onClick={() => move(null)}>
            No folder
          </FolderButton>
        </div>
      </div>
    </Dialog>
  );
}

function FolderButton({ current, onClick, children }: { current: boolean; onClick: () => void; children: string }) {
  return (
    <Button tone="quiet" aria-current={current || undefined} onClick={onClick} className="w-full min-w-0 justify-start">
      <span className="truncate">{children}</span>
      {current && <span className="text-xs text-ink-3">it is here</span>}
    </Button>
  );
}
