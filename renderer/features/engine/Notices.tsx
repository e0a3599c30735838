import { useShallow } from 'zustand/shallow';
import type { AppState } from '../../state/appState';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';

const noNotices: string[] = [];

function selectNotices(state: AppState): string[] {
  return state.engine.info?.notices.filter((notice) => !state.engine.closedNotices.includes(notice)) ?? noNotices;
}

/** What a person should know about this start. */
export function Notices() {
  const notices = useApp(useShallow(selectNotices));
  const { engine } = useActions();
  return notices.map((notice) => (
    <Banner
      key={notice}
      tone="info"
      title={notice}
      testId="notice"
      className="mx-4 my-2"
      onClose={() => engine.closeNotice(notice)}
    />
  ));
}
