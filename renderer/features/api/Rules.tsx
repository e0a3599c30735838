/** What requests may do: fields for a person, or the list of what the command line says. */
import { t } from '@lingui/core/macro';
import { useState } from 'react';
import type { ApiStatus } from '../../../electron/contract/api';
import { apiPorts, isOrigin, type LocalApiSettings, mostIdleMinutes } from '../../../electron/contract/lib/localApi';
import { useActions } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { controlClass, Field } from '../../ui/Field';
import { NumberField } from '../../ui/NumberField';
import { Segmented } from '../../ui/Segmented';

const slotOptions = ['1', '2', '3', '4'].map((value) => ({ value, label: value }));

function yesNo() {
  return [
    { value: 'yes', label: t`Yes` },
    { value: 'no', label: t`No` },
  ] as const;
}

export function RuleFields({ settings }: { settings: LocalApiSettings }) {
  const { settings: actions } = useActions();
  const change = (api: Partial<LocalApiSettings>) => void actions.update({ api });
  return (
    <div className="grid gap-4">
      <Field
        label={t`Port`}
        htmlFor="api-port"
        inline
        help={t`Of this computer alone: other machines cannot reach it.`}
      >
        <NumberField
          id="api-port"
          data-testid="api-port"
          integer
          min={apiPorts.least}
          max={apiPorts.most}
          value={settings.port}
          onCommit={(port) => port !== null && change({ port })}
        />
      </Field>
      <Line
        label={t`Answers at the same time`}
        help={t`Further requests wait. All share the one context, the chat of this window included. A change makes the context again; what was read is kept.`}
      >
        <Segmented
          name="api-slots"
          label={t`Answers at the same time`}
          value={String(settings.slots)}
          options={slotOptions}
          onValue={(slots) => change({ slots: Number(slots) })}
        />
      </Line>
      <Line
        label={t`Load the model that a request names`}
        help={t`One that is on this computer, in place of the model in use. With No the model in use answers, whatever the name.`}
      >
        <Segmented
          name="api-load"
          label={t`Load the model that a request names`}
          value={settings.loadOnRequest ? 'yes' : 'no'}
          options={yesNo()}
          onValue={(value) => change({ loadOnRequest: value === 'yes' })}
        />
      </Line>
      <Field
        label={t`Free the memory when unused`}
        htmlFor="api-idle"
        inline
        help={t`Minutes without a request or an answer; empty: never. The next request or question loads the model again.`}
      >
        <NumberField
          id="api-idle"
          data-testid="api-idle"
          placeholder={t`never`}
          nullable
          integer
          min={1}
          max={mostIdleMinutes}
          value={settings.idleMinutes}
          onCommit={(idleMinutes) => change({ idleMinutes })}
        />
      </Field>
      <Origins origins={settings.origins} onCommit={(origins) => change({ origins })} />
    </div>
  );
}

function Line({ label, help, children }: { label: string; help: string; children: React.ReactNode }) {
  return (
    <div className="grid gap-1.5">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1.5">
        <span className="text-sm font-medium text-ink">{label}</span>
        {children}
      </div>
      <p className="text-xs leading-relaxed text-ink-3">{help}</p>
    </div>
  );
}

/** Taken when the field is left or Enter is pressed, if each of them is one. */
function Origins({ origins, onCommit }: { origins: readonly string[]; onCommit: (origins: string[]) => void }) {
  const [typed, setTyped] = useState<string | null>(null);
  const wrong = typed === null ? undefined : originsIn(typed).find((one) => !isOrigin(one));

  function commit(): void {
    if (typed === null || wrong !== undefined) return;
    if (originsIn(typed).join() !== origins.join()) onCommit(originsIn(typed));
    setTyped(null);
  }

  return (
    <Field
      label={t`Web pages that may ask`}
      htmlFor="api-origins"
      help={
        wrong === undefined ? (
          t`Empty: none, only programs. Else their origins, as http://localhost:3000; localhost stands for every page of this computer, * for every page.`
        ) : (
          <span className="text-bad">{t`${wrong} is no origin. One looks like http://localhost:3000, without a path.`}</span>
        )
      }
    >
      <input
        id="api-origins"
        data-testid="api-origins"
        aria-describedby="api-origins-help"
        aria-invalid={wrong !== undefined || undefined}
        autoComplete="off"
        spellCheck={false}
        placeholder={t({ message: 'none', context: 'web pages' })}
        value={typed ?? origins.join(', ')}
        onChange={(event) => setTyped(event.target.value)}
        onBlur={commit}
        onKeyDown={(event) => event.key === 'Enter' && commit()}
        className={cx(controlClass, 'w-full')}
      />
    </Field>
  );
}

export function originsIn(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))];
}

export function RuleList({ rules }: Pick<ApiStatus, 'rules'>) {
  const lines = [
    [t`Answers at the same time`, String(rules.slots)],
    [t`Load the model that a request names`, rules.loadOnRequest ? t`yes` : t`no`],
    [t`Free the memory when unused`, rules.idleMinutes === null ? t`never` : t`after ${rules.idleMinutes} min`],
    [t`Web pages that may ask`, rules.origins.join(', ') || t({ message: 'none', context: 'web pages' })],
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5" data-testid="api-rules">
      {lines.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd className="[overflow-wrap:anywhere] text-ink">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
