/** Every key of the window, made from the list that they are made from. */
import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { type CommandGroup, commands, otherKeys } from '../../../electron/contract/lib/commands';
import { i18n } from '../../language';
import { selectDialog } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Dialog } from '../../ui/Dialog';
import { Kbd } from '../../ui/Tooltip';

const groups: Record<CommandGroup, MessageDescriptor> = { Chats: msg`Chats`, Window: msg`Window`, Help: msg`Help` };

export function ShortcutSheet() {
  const open = useApp(selectDialog) === 'shortcuts';
  const { ui } = useActions();
  return (
    <Dialog
      title={t`Keyboard shortcuts`}
      description={t`All parts of the window can be reached with Tab; Enter and Space press what has the focus.`}
      open={open}
      onOpenChange={(next) => ui.showDialog(next ? 'shortcuts' : null)}
      className="max-w-[42rem]"
      testId="shortcuts"
    >
      <div
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to reach what scrolls
        tabIndex={0}
        className="grid min-h-0 gap-x-10 gap-y-5 overflow-y-auto px-5 py-4 sm:grid-cols-2"
      >
        {Object.entries(groups).map(([group, title]) => (
          <Keys
            key={group}
            title={i18n._(title)}
            rows={commands.flatMap(({ group: own, label, keys }) => (own === group && keys ? { label, keys } : []))}
          />
        ))}
        <Keys title={t`Where the focus is`} rows={otherKeys} />
      </div>
    </Dialog>
  );
}

function Keys({ title, rows }: { title: string; rows: readonly { label: string; keys: string }[] }) {
  return (
    <section aria-label={title}>
      <h3 className="mb-1.5 font-medium text-ink">{title}</h3>
      <dl className="grid gap-1">
        {rows.map(({ label, keys }) => (
          <div key={keys} className="flex min-h-6 items-center justify-between gap-4">
            <dt className="text-ink-2">{label}</dt>
            <dd className="shrink-0 text-xs text-ink">
              <Kbd keys={keys} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
