/** What an answer wrote before it called tools, and the calls: a person decides here, and reads what came back. */
import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { ChevronRight, Download, FileText, Wrench } from 'lucide-react';
import { type ReactNode, useEffect, useId, useState } from 'react';
import type { Message } from '../../../electron/contract/chats';
import type { CallAnswer } from '../../../electron/contract/tools/operations';
import {
  type CallState,
  type KeptResult,
  type ToolCall,
  type ToolRound,
  toolLimits,
} from '../../../electron/contract/tools/tools';
import { i18n } from '../../language';
import { selectInfo } from '../../state/slices/documents';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { areaClass } from '../../ui/Field';
import { formatCount, formatDecimal } from '../../ui/format';
import { saveFile } from '../../ui/saveFile';
import { AnswerText } from './markdown/AnswerText';
import { useRowState } from './rowState';
import { DocumentChip, SentImage } from './SentDocuments';
import { Thinking } from './Thinking';

interface ToolRoundsProps {
  message: Message;
  rounds: readonly ToolRound[];
  /** passages of results are no longer in the prompt */
  gone: boolean;
}

export function ToolRounds({ message, rounds, gone }: ToolRoundsProps) {
  return (
    <div className="mb-3 grid gap-3" data-testid="tool-rounds" data-rounds={rounds.length}>
      {rounds.map(({ text, thinking, calls }, index) => (
        // rounds are added behind one another and stay
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <div key={index} className="grid grid-cols-1 gap-3">
          {thinking !== '' && <Thinking id={`${message.id} round ${index}`} text={thinking} />}
          {text.trim() !== '' && <AnswerText text={text} />}
          {calls.map((call) => (
            <CallCard
              key={call.id}
              call={call}
              messageId={message.id}
              live={message.stopReason === null && index === rounds.length - 1}
              gone={gone}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

const states: Record<CallState, MessageDescriptor> = {
  asking: msg`waits for you`,
  running: msg`running`,
  done: msg`done`,
  failed: msg`failed`,
  denied: msg`not allowed`,
  canceled: msg`canceled`,
};

interface CallCardProps {
  call: ToolCall;
  messageId: string;
  /** the answer is being written, so that it can still be decided about */
  live: boolean;
  gone: boolean;
}

function CallCard({ call, messageId, live, gone }: CallCardProps) {
  const { state, name, server, ms } = call;
  const { tools } = useActions();
  const asks = live && state === 'asking';
  return (
    <section
      aria-label={t`Call of ${name}`}
      data-testid="tool-call"
      data-state={state}
      data-tool={name}
      className={cx('min-w-0 rounded-lg border bg-raised text-sm', asks ? 'border-accent/60 shadow-xs' : 'border-line')}
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2">
        <Wrench className="size-3.5 shrink-0 text-ink-3" aria-hidden="true" />
        <h4 className="min-w-0 font-medium [overflow-wrap:anywhere] text-ink">{name}</h4>
        {server !== '' && (
          <span className="min-w-0 truncate text-xs text-ink-3">
            <Trans>of {server}</Trans>
          </span>
        )}
        <Hints hints={call.hints} />
        <span
          role="status"
          className={cx(
            'ms-auto text-xs tabular-nums',
            state === 'failed' ? 'text-bad' : asks ? 'font-medium text-accent' : 'text-ink-3',
          )}
        >
          {!live && (state === 'asking' || state === 'running') ? t`not decided` : i18n._(states[state])}
          {ms !== null && `, ${t`${formatDecimal(ms / 1000, 1)} s`}`}
        </span>
        {live && state === 'running' && (
          <Button
            size="small"
            tone="quiet"
            onClick={() => void tools.cancel(messageId, call.id)}
            data-testid="tool-cancel"
          >
            <Trans>Cancel</Trans>
          </Button>
        )}
      </div>
      {asks ? (
        <Decision call={call} messageId={messageId} />
      ) : (
        <Folded
          id={`${messageId} ${call.id} arguments`}
          label={call.edited ? t`Arguments, changed by you` : t`Arguments`}
        >
          {readable(call.arguments)}
        </Folded>
      )}
      {call.result !== '' && (
        <Folded id={`${messageId} ${call.id} result`} testId="tool-result" open label={resultLabel(call)}>
          {call.result}
        </Folded>
      )}
      {call.kept && <Kept kept={call.kept} gone={gone} />}
    </section>
  );
}

function resultLabel({ cutFrom, kept }: ToolCall): string {
  if (cutFrom === undefined) return t`Result`;
  if (kept?.some(({ part }) => part?.kind === 'passages'))
    return t`Result: ${formatCount(cutFrom)} characters, kept as a document. The model is told so, and given the passages that fit the question.`;
  return t`Result: its beginning, of ${formatCount(cutFrom)} characters. More has no room in the context.`;
}

/** Documents that the result became: each opens beside the chat, is shown, or can be saved. */
function Kept({ kept, gone }: { kept: readonly KeptResult[]; gone: boolean }) {
  return (
    <ul
      className="flex flex-wrap items-start gap-1.5 border-t border-line px-3 py-2"
      aria-label={t`Documents of this result`}
      data-testid="tool-kept"
    >
      {kept.map((one, index) => (
        // results never change
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <li key={index} className="min-w-0 max-w-full" data-kept={one.part?.kind ?? 'none'}>
          <KeptOne kept={one} gone={gone} />
        </li>
      ))}
    </ul>
  );
}

const keptClass =
  'flex max-w-full items-center gap-1.5 rounded-full border border-line bg-raised px-2.5 py-1 text-xs text-ink-2 transition-colors hover:border-accent/60 hover:text-ink';

function KeptOne({ kept: { documentId, name, part }, gone }: { kept: KeptResult; gone: boolean }) {
  const kind = useApp(selectInfo(documentId))?.kind;
  const { documents } = useActions();
  useEffect(() => void documents.learn(documentId), [documents, documentId]);
  if (part?.kind === 'image' || kind === 'image') {
    return (
      <figure>
        <SentImage documentId={documentId} name={name} />
        {part === null && <NotGiven />}
      </figure>
    );
  }
  if (part && part.kind !== 'sound')
    return <DocumentChip attachment={{ documentId, name, part }} released={gone && part.kind === 'passages'} />;
  const opens = part === null && kind !== undefined && kind !== 'sound' && kind !== 'file';
  return (
    <>
      <button
        type="button"
        data-testid={opens ? 'tool-show' : 'tool-save'}
        title={opens ? t`Show ${name}` : t`Save ${name}`}
        onClick={async () => {
          if (opens) return documents.openAt(documentId);
          const bytes = await documents.file(documentId);
          if (bytes) saveFile(name, [bytes], 'application/octet-stream');
        }}
        className={keptClass}
      >
        {opens ? (
          <FileText className="size-3.5 shrink-0" aria-hidden="true" />
        ) : (
          <Download className="size-3.5 shrink-0" aria-hidden="true" />
        )}
        <span className="truncate font-medium">{name}</span>
      </button>
      {part === null && <NotGiven />}
    </>
  );
}

function NotGiven() {
  return (
    <p className="mt-0.5 px-1 text-xs text-ink-3">
      <Trans>The model is not given it.</Trans>
    </p>
  );
}

/** As the server says them. */
function Hints({ hints: { readOnly, destructive, openWorld } }: Pick<ToolCall, 'hints'>) {
  const list = [
    ...(readOnly ? [{ text: t`reads only`, warns: false }] : []),
    ...(destructive && !readOnly ? [{ text: t`can destroy`, warns: true }] : []),
    ...(openWorld ? [{ text: t`reaches outside`, warns: true }] : []),
  ];
  return list.map(({ text, warns }) => (
    <span
      key={text}
      title={t`The server says so; nobody has checked it.`}
      className={cx('rounded-sm px-1.5 py-0.5 text-xs', warns ? 'bg-warn-soft text-warn' : 'bg-sunken text-ink-3')}
    >
      {text}
    </span>
  ));
}

function Decision({ call, messageId }: { call: ToolCall; messageId: string }) {
  const [typed, setTyped] = useRowState(`${messageId} ${call.id} typed`, readable(call.arguments));
  const [problem, setProblem] = useState<string | null>(null);
  const [sent, setSent] = useState(false);
  const { tools } = useActions();
  const id = useId();

  async function decide(decision: CallAnswer['decision']): Promise<void> {
    setSent(true);
    const changed = typed === readable(call.arguments) ? {} : { arguments: typed };
    const error = await tools.answer({ messageId, callId: call.id, decision, ...changed });
    setProblem(error && `${error.message} ${error.hint}`.trim());
    if (error) setSent(false);
  }

  const choices = [
    { decision: 'once', label: t`Allow once`, tone: 'primary' },
    { decision: 'chat', label: t`Allow in this chat`, tone: 'outline' },
    { decision: 'always', label: t`Always allow`, tone: 'outline' },
    { decision: 'deny', label: t`Do not allow`, tone: 'danger' },
  ] as const;

  return (
    <div className="grid gap-2 border-t border-line px-3 py-2.5">
      <label htmlFor={id} className="text-xs text-ink-3">
        <Trans>What it is called with. You can change it.</Trans>
      </label>
      <textarea
        id={id}
        dir="ltr"
        spellCheck={false}
        rows={Math.min(12, typed.split('\n').length)}
        maxLength={toolLimits.arguments}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        data-testid="tool-arguments"
        className={cx(areaClass, 'font-mono text-xs')}
      />
      {problem !== null && (
        <p role="alert" className="text-xs text-bad">
          {problem}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        {choices.map(({ decision, label, tone }) => (
          <Button
            key={decision}
            size="small"
            tone={tone}
            disabled={sent}
            onClick={() => void decide(decision)}
            data-testid={`tool-${decision}`}
          >
            {label}
          </Button>
        ))}
      </div>
    </div>
  );
}

interface FoldedProps {
  id: string;
  label: string;
  open?: boolean;
  testId?: string;
  children: string;
}

/** Text of a server or a model, as it is: nothing of it becomes markup. */
function Folded({ id, label, open: openFirst = false, testId, children }: FoldedProps): ReactNode {
  const [open, setOpen] = useRowState(id, openFirst);
  return (
    <div className="border-t border-line px-3 py-1.5">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="-ms-1 flex max-w-full items-center gap-1 rounded-md px-1 py-0.5 text-start text-xs text-ink-3 hover:text-ink"
      >
        <ChevronRight
          className={cx('size-3.5 shrink-0 transition-transform', open && 'rotate-90')}
          aria-hidden="true"
        />
        {label}
      </button>
      {open && (
        <pre
          dir="auto"
          data-testid={testId}
          className="mt-1 mb-1 max-h-72 overflow-auto rounded-md bg-sunken px-2.5 py-2 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap text-ink-2"
        >
          {children}
        </pre>
      )}
    </div>
  );
}

/** Arguments on lines of their own, where they are JSON. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text.trim() === '' ? '{}' : text), null, 2);
  } catch {
    return text;
  }
}
