/** MCP servers: added by hand or from the JSON of other apps, started to see their tools, and what was always allowed of them. */
import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Pencil, Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ToolServer, ToolState } from '../../../electron/contract/tools/operations';
import { toolLimits } from '../../../electron/contract/tools/tools';
import { i18n } from '../../language';
import { selectHeadless } from '../../state/slices/engine';
import { selectToolState, selectToolsOpen } from '../../state/slices/tools';
import { useActions, useApp } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { Confirm, Dialog } from '../../ui/Dialog';
import { areaClass, useFileInput } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { ServerForm } from './ServerForm';

type Shown = { kind: 'list' } | { kind: 'form'; server: ToolServer | null } | { kind: 'import' };

export function ToolsView() {
  const open = useApp(selectToolsOpen);
  const state = useApp(selectToolState);
  const [shown, setShown] = useState<Shown>({ kind: 'list' });
  const { tools } = useActions();
  const list = () => setShown({ kind: 'list' });
  return (
    <Dialog
      title={t`Tool servers`}
      description={t`Programs and addresses that offer tools to a model (MCP). Each chat chooses its own of them.`}
      open={open && state !== null}
      onOpenChange={(next) => !next && tools.close()}
      onClosed={list}
      className="w-[min(44rem,calc(100%-2rem))]"
      testId="tools-view"
    >
      {state && (
        <div className="min-h-0 overflow-y-auto">
          {shown.kind === 'list' && <List state={state} onShow={setShown} />}
          {shown.kind === 'form' && <ServerForm server={shown.server} secretsIn={state.secretsIn} onDone={list} />}
          {shown.kind === 'import' && <Import onDone={list} />}
        </div>
      )}
    </Dialog>
  );
}

function List({ state, onShow }: { state: ToolState; onShow: (shown: Shown) => void }) {
  const headless = useApp(selectHeadless);
  return (
    <>
      <div className="grid gap-3 px-5 py-4">
        <p className="text-xs leading-relaxed text-ink-2">
          <Trans>
            A server runs with your rights and without a sandbox: what its tools do, they do as you. What it says of its
            tools is its own word. Add only what you trust.
          </Trans>
        </p>
        {headless && (
          <p className="text-xs text-ink-2">
            <Trans>
              In a browser only servers with an address can be used: programs are started by the desktop app alone.
            </Trans>
          </p>
        )}
        <ul className="grid grid-cols-1 gap-2 empty:hidden">
          {state.servers.map((server) => (
            <li key={server.id}>
              <Server server={server} onEdit={() => onShow({ kind: 'form', server })} />
            </li>
          ))}
        </ul>
        <div className="flex flex-wrap gap-2">
          <Button
            tone="primary"
            onClick={() => onShow({ kind: 'form', server: null })}
            data-testid="server-add"
            data-first-focus
          >
            <Trans>Add a server</Trans>
          </Button>
          <Button onClick={() => onShow({ kind: 'import' })} data-testid="server-import">
            <Trans>Import JSON</Trans>
          </Button>
        </div>
      </div>
      <Rounds rounds={state.rounds} />
    </>
  );
}

function Rounds({ rounds }: { rounds: number }) {
  const { tools } = useActions();
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5 border-t border-line px-5 py-4">
      <label htmlFor="tool-rounds" className="min-w-52 flex-1 text-sm text-ink">
        <Trans>Calls in a row</Trans>
        <span className="block text-xs text-ink-3">
          <Trans>Round by round, as many as one answer may make. Then it stops and can be continued.</Trans>
        </span>
      </label>
      <NumberField
        id="tool-rounds"
        value={rounds}
        min={1}
        max={toolLimits.mostRounds}
        integer
        className="w-20"
        onCommit={(value) => value !== null && void tools.setRounds(value)}
        data-testid="tool-rounds-setting"
      />
    </div>
  );
}

const states: Record<ToolServer['state'], MessageDescriptor> = {
  off: msg`not running`,
  starting: msg`starting`,
  ready: msg`running`,
  failed: msg`failed`,
};

function Server({ server, onEdit }: { server: ToolServer; onEdit: () => void }) {
  const [removing, setRemoving] = useState(false);
  const { tools } = useActions();
  const { id, name, state, place, error } = server;
  const runs = state === 'ready';
  return (
    <section
      aria-label={name}
      className="rounded-lg border border-line bg-sunken px-3.5 py-2.5"
      data-testid="server"
      data-state={state}
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <h3 className="min-w-0 truncate font-medium text-ink">{name}</h3>
        <span
          className={cx('text-xs', runs ? 'text-good' : state === 'failed' ? 'text-bad' : 'text-ink-3')}
          role="status"
        >
          {i18n._(states[state])}
        </span>
        <span className="ms-auto flex items-center gap-1">
          <Button
            size="small"
            disabled={state === 'starting'}
            onClick={() => void (runs ? tools.disconnect(id) : tools.connect(id))}
            data-testid={runs ? 'server-stop' : 'server-test'}
          >
            {runs ? t`Stop` : t`Test`}
          </Button>
          <IconButton
            label={t`Edit ${name}`}
            icon={<Pencil />}
            size="small"
            onClick={onEdit}
            data-testid="server-edit"
          />
          <IconButton
            label={t`Remove ${name}`}
            icon={<Trash2 />}
            size="small"
            onClick={() => setRemoving(true)}
            data-testid="server-remove"
          />
        </span>
      </div>
      <p dir="ltr" className="mt-0.5 truncate text-start font-mono text-xs text-ink-3">
        {place.kind === 'command' ? [place.command, ...place.args].join(' ') : place.url}
      </p>
      {error && (
        <Banner tone="bad" title={error.message} className="mt-2 whitespace-pre-wrap" testId="server-error">
          {error.hint}
        </Banner>
      )}
      <Told server={server} />
      <Confirm
        title={t`Remove ${name}?`}
        description={t`Chats keep what was called, and cannot call its tools any more.`}
        action={t`Remove`}
        open={removing}
        onOpenChange={setRemoving}
        onConfirm={() => void tools.remove(id)}
      />
    </section>
  );
}

/** What it said of itself since the app started, and what is allowed of it. */
function Told({ server: { id, tools: list, title, version, refused, allowed } }: { server: ToolServer }) {
  const { tools } = useActions();
  return (
    <>
      {list && (
        <p className="mt-1.5 text-xs text-ink-2" data-testid="server-tools" data-tools={list.length}>
          {[title, version].filter(Boolean).join(' ')}
          {title && ': '}
          {plural(list.length, { 0: 'no tools', one: '# tool', other: '# tools' })}
        </p>
      )}
      {refused.length > 0 && (
        <Notes title={plural(refused.length, { one: '# tool cannot be used', other: '# tools cannot be used' })}>
          {refused.map((why) => (
            <li key={why}>{why}</li>
          ))}
        </Notes>
      )}
      {allowed.length > 0 && (
        <Notes title={t`Called without asking`}>
          {allowed.map((tool) => (
            <li key={tool} className="flex items-center gap-2">
              <span className="min-w-0 truncate">{tool}</span>
              <Button size="small" tone="quiet" onClick={() => void tools.forget({ serverId: id, tool })}>
                <Trans>Ask again</Trans>
              </Button>
            </li>
          ))}
        </Notes>
      )}
    </>
  );
}

function Notes({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="mt-1.5 text-xs text-ink-2">
      <summary className="cursor-default text-ink-3">{title}</summary>
      <ul className="mt-1 grid grid-cols-1 gap-1 ps-4 [overflow-wrap:anywhere]">{children}</ul>
    </details>
  );
}

const example =
  '{"mcpServers": {"files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/me"]}}}';

/** The form that other apps keep their servers in. */
function Import({ onDone }: { onDone: () => void }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<{ title: string; hint: string } | null>(null);
  const { tools } = useActions();
  const { input, ask } = useFileInput((files) => void files[0]?.text().then(setText), {
    accept: '.json,application/json',
    'data-testid': 'import-file',
  });

  async function take(): Promise<void> {
    const outcome = await tools.import(text);
    if (!outcome.ok) return setProblem({ title: outcome.error.message, hint: outcome.error.hint });
    const { added, refused } = outcome.value;
    if (refused.length === 0) return onDone();
    setText('');
    setProblem({
      title: plural(added.length, { 0: 'None was added.', one: '# server was added.', other: '# servers were added.' }),
      hint: refused.map(({ name, why }) => `${name}: ${why}`).join('\n'),
    });
  }

  return (
    <div className="grid gap-3 px-5 py-4">
      <p className="text-xs text-ink-2">
        <Trans>
          Paste the part with mcpServers of another app’s settings, or choose its file. Nothing is started by that.
        </Trans>
      </p>
      <textarea
        dir="ltr"
        rows={9}
        spellCheck={false}
        aria-label={t`JSON with mcpServers`}
        placeholder={example}
        value={text}
        data-first-focus
        data-testid="import-text"
        onChange={(event) => setText(event.target.value)}
        className={cx(areaClass, 'font-mono text-xs')}
      />
      {problem && (
        <Banner tone="warn" title={problem.title} className="whitespace-pre-wrap" testId="import-problem">
          {problem.hint}
        </Banner>
      )}
      <div className="flex flex-wrap justify-end gap-2">
        {input}
        <Button className="me-auto" onClick={ask}>
          <Trans>Choose a file</Trans>
        </Button>
        <Button tone="quiet" onClick={onDone}>
          <Trans>Back</Trans>
        </Button>
        <Button tone="primary" disabled={text.trim() === ''} onClick={() => void take()} data-testid="import-take">
          <Trans>Import</Trans>
        </Button>
      </div>
    </div>
  );
}
