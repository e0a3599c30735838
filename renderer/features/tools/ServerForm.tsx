/** One MCP server, to be added or changed. Values of variables and headers are written here and never shown again. */
import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Plus, X } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { ServerDraft, ToolServer, ToolState } from '../../../electron/contract/tools/operations';
import { useActions } from '../../state/useApp';
import { Banner } from '../../ui/Banner';
import { Button, IconButton } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { areaClass, controlClass } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { Segmented } from '../../ui/Segmented';

interface Secret {
  key: number;
  name: string;
  /** null: as it is kept */
  value: string | null;
}

interface FormProps {
  /** null: a new one */
  server: ToolServer | null;
  secretsIn: ToolState['secretsIn'];
  onDone: () => void;
}

export function ServerForm({ server, secretsIn, onDone }: FormProps) {
  const place = server?.place;
  const [name, setName] = useState(server?.name ?? '');
  const [kind, setKind] = useState<'command' | 'address'>(place?.kind ?? 'command');
  const [command, setCommand] = useState(place?.kind === 'command' ? place.command : '');
  const [args, setArgs] = useState(place?.kind === 'command' ? place.args.join('\n') : '');
  const [folder, setFolder] = useState(place?.kind === 'command' ? place.folder : '');
  const [url, setUrl] = useState(place?.kind === 'address' ? place.url : '');
  const [seconds, setSeconds] = useState(server?.timeoutSeconds ?? 60);
  const [secrets, setSecrets] = useState<Secret[]>(
    (server?.secretNames ?? []).map((one, key) => ({ key, name: one, value: null })),
  );
  const [problem, setProblem] = useState<ErrorPayload | null>(null);
  const { tools } = useActions();
  const complete = name.trim() !== '' && (kind === 'command' ? command.trim() !== '' : url.trim() !== '');

  async function save(): Promise<void> {
    const given = secrets.filter((one) => one.name.trim() !== '');
    const draft: ServerDraft = {
      name,
      place:
        kind === 'command'
          ? { kind, command, args: args.split('\n').filter((line) => line !== ''), folder }
          : { kind, url: url.trim() },
      secrets: Object.fromEntries(given.map((one) => [one.name.trim(), one.value])),
      timeoutSeconds: seconds,
    };
    const outcome = await tools.save(server?.id ?? null, draft);
    if (!outcome.ok) return setProblem(outcome.error);
    onDone();
    // what is wrong shows in the list
    void tools.connect(outcome.value.serverId);
  }

  return (
    <form
      className="grid gap-4 px-5 py-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (complete) void save();
      }}
    >
      <Row label={t`Name`}>
        {(id) => (
          <input
            id={id}
            dir="auto"
            value={name}
            maxLength={40}
            data-first-focus
            data-testid="server-name"
            onChange={(event) => setName(event.target.value)}
            className={cx(controlClass, 'w-full')}
          />
        )}
      </Row>
      <div>
        <Segmented
          name="server-kind"
          label={t`How it is reached`}
          value={kind}
          options={[
            { value: 'command', label: t`Program` },
            { value: 'address', label: t`Address (HTTP)` },
          ]}
          onValue={setKind}
        />
      </div>
      {kind === 'command' ? (
        <>
          <Row label={t`Command`} help={t`A program on this computer, with its whole path where it is not found.`}>
            {(id) => <Mono id={id} value={command} onValue={setCommand} testId="server-command" />}
          </Row>
          <Row label={t`Arguments`} help={t`One on each line.`}>
            {(id) => (
              <textarea
                id={id}
                dir="ltr"
                rows={3}
                spellCheck={false}
                value={args}
                data-testid="server-args"
                onChange={(event) => setArgs(event.target.value)}
                className={cx(areaClass, 'font-mono text-xs')}
              />
            )}
          </Row>
          <Row label={t`Working folder`} help={t`Empty: that of the app.`}>
            {(id) => <Mono id={id} value={folder} onValue={setFolder} testId="server-folder" />}
          </Row>
        </>
      ) : (
        <Row label={t`Address`} help={t`Of streamable HTTP, such as https://example.org/mcp.`}>
          {(id) => <Mono id={id} value={url} onValue={setUrl} testId="server-url" />}
        </Row>
      )}
      <Secrets kind={kind} secrets={secrets} secretsIn={secretsIn} onChange={setSecrets} />
      <Row label={t`Seconds to wait for an answer`}>
        {(id) => (
          <NumberField
            id={id}
            value={seconds}
            min={1}
            max={3600}
            integer
            live
            className="w-24"
            onCommit={(value) => setSeconds(value ?? 60)}
          />
        )}
      </Row>
      {problem && (
        <Banner tone="bad" title={problem.message} testId="server-problem">
          {problem.hint}
        </Banner>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2">
        {kind === 'command' && (
          <p className="me-auto min-w-48 flex-1 text-xs text-ink-3">
            <Trans>Before it runs for the first time, the system asks you.</Trans>
          </p>
        )}
        <Button tone="quiet" onClick={onDone}>
          <Trans>Cancel</Trans>
        </Button>
        <Button type="submit" tone="primary" disabled={!complete} data-testid="server-save">
          <Trans>Save and test</Trans>
        </Button>
      </div>
    </form>
  );
}

function Row({ label, help, children }: { label: string; help?: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="grid gap-1">
      <label htmlFor={id} className="text-sm font-medium text-ink">
        {label}
      </label>
      {children(id)}
      {help && <p className="text-xs text-ink-3">{help}</p>}
    </div>
  );
}

interface MonoProps {
  id: string;
  value: string;
  placeholder?: string;
  onValue: (value: string) => void;
  testId: string;
}

function Mono({ id, value, placeholder, onValue, testId }: MonoProps) {
  return (
    <input
      id={id}
      dir="ltr"
      spellCheck={false}
      autoComplete="off"
      value={value}
      placeholder={placeholder}
      data-testid={testId}
      onChange={(event) => onValue(event.target.value)}
      className={cx(controlClass, 'w-full font-mono text-xs')}
    />
  );
}

interface SecretsProps {
  kind: 'command' | 'address';
  secrets: readonly Secret[];
  secretsIn: ToolState['secretsIn'];
  onChange: (secrets: Secret[]) => void;
}

function Secrets({ kind, secrets, secretsIn, onChange }: SecretsProps) {
  const title = kind === 'command' ? t`Variables of the environment` : t`Headers`;
  const set = (key: number, change: Partial<Secret>) =>
    onChange(secrets.map((one) => (one.key === key ? { ...one, ...change } : one)));
  return (
    <fieldset className="grid grid-cols-1 gap-1.5">
      <legend className="mb-1 text-sm font-medium text-ink">{title}</legend>
      {secrets.map(({ key, name, value }) => (
        <div key={key} className="flex gap-2">
          <input
            dir="ltr"
            spellCheck={false}
            aria-label={t`Name`}
            value={name}
            onChange={(event) => set(key, { name: event.target.value })}
            className={cx(controlClass, 'w-2/5 min-w-0 font-mono text-xs')}
          />
          <input
            dir="ltr"
            type="password"
            autoComplete="off"
            aria-label={t`Value of ${name}`}
            value={value ?? ''}
            placeholder={value === null ? t`kept as it is` : ''}
            onChange={(event) => set(key, { value: event.target.value })}
            className={cx(controlClass, 'min-w-0 flex-1 font-mono text-xs')}
          />
          <IconButton
            label={t`Remove ${name}`}
            icon={<X />}
            onClick={() => onChange(secrets.filter((one) => one.key !== key))}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          onClick={() => onChange([...secrets, { key: Date.now(), name: '', value: '' }])}
          data-testid="server-secret-add"
        >
          <Plus className="size-3.5" aria-hidden="true" />
          <Trans>Add one</Trans>
        </Button>
      </div>
      <p className="text-xs text-ink-3" data-testid="secrets-in">
        {secretsIn === 'keyring'
          ? t`Values are kept encrypted by the keyring of the system, and go to this server alone.`
          : t`This system has no keyring for the app: values are kept readable in a file that only you can open (tools.json), and go to this server alone.`}
      </p>
    </fieldset>
  );
}
