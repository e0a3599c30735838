import { Columns3, PanelLeftOpen, Settings2, SquarePen } from 'lucide-react';
import { ModelPicker } from '../features/models/ModelPicker';
import { selectCompareOpen } from '../state/compare/selectors';
import { selectChatTitle } from '../state/conversation/selectors';
import { selectSettingsOpen, selectSidebarOpen } from '../state/ui/selectors';
import { useActions, useApp } from '../state/useApp';
import { IconButton } from '../ui/IconButton';

export function Header() {
  const chatTitle = useApp(selectChatTitle);
  const sidebarOpen = useApp(selectSidebarOpen);
  const settingsOpen = useApp(selectSettingsOpen);
  const comparing = useApp(selectCompareOpen);
  const { compare, conversation, ui } = useActions();

  // the comparison has a heading of its own
  const title = comparing ? null : chatTitle;

  return (
    <header className="flex h-12 shrink-0 items-center gap-1 pr-2 pl-2">
      {!sidebarOpen && (
        <>
          <IconButton
            label="Show the chats"
            keys="Mod+B"
            side="bottom"
            icon={<PanelLeftOpen />}
            onClick={() => ui.setSidebar(true)}
            data-testid="sidebar-open"
          />
          <IconButton
            label="New chat"
            keys="Mod+N"
            side="bottom"
            icon={<SquarePen />}
            onClick={() => {
              compare.close();
              conversation.startNew();
              ui.focusComposer();
            }}
          />
        </>
      )}
      {title !== null && (
        <h1 dir="auto" className="min-w-0 flex-1 truncate px-2.5 text-left text-sm font-medium text-ink-2">
          {title}
        </h1>
      )}
      {title === null && <span className="flex-1" />}
      <ModelPicker />
      <IconButton
        label="Compare cache types"
        side="bottom"
        icon={<Columns3 />}
        aria-pressed={comparing}
        onClick={() => (comparing ? compare.close() : compare.show())}
        data-testid="compare-view-open"
      />
      <IconButton
        label="Settings"
        keys="Mod+,"
        side="bottom"
        icon={<Settings2 />}
        aria-pressed={settingsOpen}
        onClick={ui.toggleSettings}
        data-testid="settings-open"
      />
    </header>
  );
}
