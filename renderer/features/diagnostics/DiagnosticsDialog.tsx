/** What the app says of itself: the text of a bug report, whose work is in it, and its versions. Nothing is sent from here. */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { type ReactNode, useEffect, useState } from 'react';
import { selectAppInfo, selectCapabilities } from '../../state/slices/engine';
import { selectDiagnosticsOpen, selectDialog, selectThirdPartyOpen } from '../../state/slices/ui';
import { selectNews } from '../../state/slices/updates';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { Dialog } from '../../ui/Dialog';
import { useCopy } from '../../ui/hooks';
import { Logo } from '../../ui/pictures/Bellows';

export function DiagnosticsDialog() {
  const open = useApp(selectDiagnosticsOpen);
  const { engine, ui } = useActions();
  const { copied, copy } = useCopy();
  return (
    <Dialog
      title={t`Diagnostics`}
      description={t`For a bug report. It holds no chats, no prompts, no file paths and no names; nothing is sent anywhere.`}
      open={open}
      onOpenChange={ui.setDiagnostics}
      className="max-w-[46rem]"
      testId="diagnostics"
    >
      <LoadedText
        load={engine.diagnostics}
        waiting={t`Collecting…`}
        failed={t`The report could not be made. Close this window for the reason.`}
        testId="diagnostics-text"
      >
        {(text) => (
          <div className="flex justify-between gap-2 border-t border-line px-5 py-3">
            <Button onClick={() => ui.setThirdParty(true)} data-testid="third-party-open">
              <Trans>Third-party notices…</Trans>
            </Button>
            <Button
              tone="primary"
              disabled={text === null}
              onClick={() => text !== null && copy(text)}
              data-testid="diagnostics-copy"
            >
              {copied ? t`Copied` : t`Copy`}
            </Button>
          </div>
        )}
      </LoadedText>
    </Dialog>
  );
}

// A long text of the services in a dialog: it scrolls, and keyboard and mouse can select it.

interface LoadedTextProps {
  /** null: it could not be had, which has been reported; must be the same function from render to render */
  load: () => Promise<string | null>;
  waiting: string;
  /** what stands there when it could not be had */
  failed: string;
  testId: string;
  /** below the text; null: it is not there yet */
  children?: (text: string | null) => ReactNode;
}

function LoadedText({ load, waiting, failed, testId, children }: LoadedTextProps) {
  /** undefined: still on its way */
  const [text, setText] = useState<string | null>();

  useEffect(() => {
    let shown = true;
    void load().then((next) => shown && setText(next));
    return () => {
      shown = false;
    };
  }, [load]);

  return (
    <>
      <pre
        data-testid={testId}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard has to reach what scrolls
        tabIndex={0}
        className="min-h-40 flex-1 overflow-auto px-5 py-3 font-mono text-xs leading-relaxed whitespace-pre-wrap text-ink-2 [overflow-wrap:anywhere]"
      >
        {text === undefined ? waiting : (text ?? failed)}
      </pre>
      {children?.(text ?? null)}
    </>
  );
}

// Whose work is in the app, and under which licenses.

export function ThirdPartyDialog() {
  const open = useApp(selectThirdPartyOpen);
  const { engine, ui } = useActions();
  return (
    <Dialog
      title={t`Third-party notices`}
      description={t`The software, fonts and data of others in this app, with their licenses.`}
      open={open}
      onOpenChange={ui.setThirdParty}
      className="max-w-[46rem]"
      testId="third-party"
    >
      <LoadedText
        load={engine.thirdPartyNotices}
        waiting={t`Loading…`}
        failed={t`The notices could not be read. Close this window for the reason.`}
        testId="third-party-text"
      />
    </Dialog>
  );
}

// About: the versions that a person is asked for, and the way to the licenses.

export function AboutDialog() {
  const open = useApp(selectDialog) === 'about';
  const info = useApp(selectAppInfo);
  const upstream = useApp(selectCapabilities)?.upstream;
  const { ui } = useActions();
  const versions = [
    ['Concertina', info?.version ?? ''],
    // "Electron 45.4.1, Chromium ..., Node ..."
    ...(info?.runtime ?? '').split(', ').map((part) => part.split(' ')),
    ['llama.cpp', upstream ? shortened(upstream) : t`known when the engine has started`],
  ];
  return (
    <Dialog
      title={t`About Concertina`}
      description={t`Chat with language models on this computer, over very long documents.`}
      open={open}
      onOpenChange={(next) => ui.showDialog(next ? 'about' : null)}
      className="max-w-[26rem]"
      testId="about"
    >
      <div className="flex min-h-0 gap-5 overflow-y-auto px-5 py-4">
        <Logo className="size-12 shrink-0" />
        <div className="min-w-0">
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 tabular-nums" data-testid="versions">
            {versions.map(([name, version]) => (
              <div key={name} className="contents">
                <dt className="text-ink-2">{name}</dt>
                <dd className="break-words text-ink">{version}</dd>
              </div>
            ))}
          </dl>
          <p className="mt-3 text-xs text-ink-2">
            <Trans>
              Concertina is free software under the MIT license. The work of others in it has licenses of its own.
            </Trans>
          </p>
        </div>
      </div>
      <div className="flex justify-end border-t border-line px-5 py-3">
        <Button onClick={() => ui.setThirdParty(true)}>
          <Trans>Third-party notices…</Trans>
        </Button>
      </div>
    </Dialog>
  );
}

// What is new in this version: after an update, once.

/** `renderText`: of Markdown */
export function WhatsNewDialog({ renderText }: { renderText: (markdown: string) => ReactNode }) {
  const news = useApp(selectNews);
  const { updates } = useActions();
  if (!news) return null;
  const { version, text } = news;
  return (
    <Dialog
      title={t`What is new in Concertina ${version}`}
      description={t`Your chats, documents and settings are as you left them.`}
      open
      onOpenChange={(open) => !open && void updates.seen()}
      className="max-w-[38rem]"
      testId="whats-new"
    >
      <div className="min-h-0 flex-1 overflow-y-auto px-5 py-3">{renderText(text)}</div>
      <div className="flex justify-end border-t border-line px-5 py-3">
        <Button tone="primary" onClick={() => void updates.seen()} data-testid="whats-new-close">
          <Trans>Close</Trans>
        </Button>
      </div>
    </Dialog>
  );
}

/** A commit by its first twelve digits. */
function shortened(version: string): string {
  return version.replace(/\b([0-9a-f]{12})[0-9a-f]{28}\b/, '$1');
}
