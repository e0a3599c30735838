/**
 * The first screen's way to a real model: one that fits this computer, from the suggestions that come with the app. Nothing is
 * asked of the hub before the person asks for the model. Gone as soon as there is a model of the person's own.
 */

import { msg, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { Download as DownloadIcon, FolderOpen, Search } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { ErrorPayload } from '../../../electron/contract/errors';
import type { ContextFit } from '../../../electron/contract/fit';
import type { CatalogEntry, Download } from '../../../electron/contract/hub';
import { type FirstModel as Choice, firstModelOf, paceText } from '../../../electron/contract/lib/forecast';
import { i18n } from '../../language';
import { selectCanAsk, selectHeadless, selectMachineFraction, selectMachineProfile } from '../../state/slices/engine';
import { selectCatalog, selectDownloads, selectFirstRequest } from '../../state/slices/hub';
import { selectEmbeddedModel, selectHasOwnModel, selectIsEmbedded } from '../../state/slices/models';
import { selectModelsTab } from '../../state/slices/ui';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { formatBytes } from '../../ui/format';
import { Progress } from '../../ui/Progress';
import { aboutText } from './catalogText';
import { DownloadRow } from './downloads/DownloadRow';
import { useChatWith } from './useChatWith';

export function FirstModel() {
  const own = useApp(selectHasOwnModel);
  const embedded = useApp(selectIsEmbedded);
  const list = useApp(selectDownloads);
  const catalog = useApp(selectCatalog);
  const going = list?.find((one) => one.state !== 'done' && isFirst(one, catalog)) ?? null;
  useChatWhenDone(going);
  if (own || !embedded) return null;
  return (
    <section
      aria-label={t`Get a larger model`}
      data-testid="first-model"
      className="rise mt-5 rounded-xl border border-accent/40 bg-raised p-4 shadow-card short:mt-3 short:px-3.5 short:py-2.5"
    >
      {going ? <Going download={going} /> : <Offer />}
    </section>
  );
}

function isFirst({ repo }: Download, catalog: readonly CatalogEntry[] | null): boolean {
  return catalog?.some((entry) => entry.first && entry.repo === repo) ?? false;
}

/** One click leads from the download to a chat with the model: when it has arrived while this screen is open, it is loaded. */
function useChatWhenDone(going: Download | null): void {
  const list = useApp(selectDownloads);
  const chatWith = useChatWith();
  const looksElsewhere = useApp(selectModelsTab) !== null;
  const watched = useRef<string | null>(null);
  useEffect(() => {
    if (going) watched.current = going.id;
    const done = list?.find(({ id, state }) => id === watched.current && state === 'done');
    if (!done) return;
    watched.current = null;
    // among the models a message offers it
    if (done.modelId !== null && !looksElsewhere) chatWith(done.modelId);
  }, [going, list, looksElsewhere, chatWith]);
}

function Going({ download }: { download: Download }) {
  return (
    <>
      <ul aria-label={t`Downloads`} className="-mx-4 -my-2 short:-my-2.5">
        <DownloadRow download={download} />
      </ul>
      <p className="mt-2 text-xs text-ink-3">
        <Trans>When it is here, it is loaded and you can chat with it. Try the built-in model meanwhile.</Trans>
      </p>
    </>
  );
}

function Offer() {
  const choice = useChoice();
  const { asking, problem } = useApp(selectFirstRequest);
  const { hub } = useActions();

  if (typeof choice === 'string') {
    return (
      <Frame title={t`Get a real model`}>
        <p role="status">{i18n._(noChoice[choice])}</p>
      </Frame>
    );
  }
  const { entry } = choice;
  const action = asking ? (
    <Button onClick={hub.leaveFirst} data-testid="first-model-cancel">
      <Trans>Cancel</Trans>
    </Button>
  ) : (
    <Button tone="primary" onClick={() => void hub.takeFirst(entry)} data-testid="first-model-get">
      <DownloadIcon className="size-4" aria-hidden="true" />
      {problem ? t`Try again` : t`Download, about ${formatBytes(choice.bytes)}`}
    </Button>
  );
  return (
    <Frame title={t`Get a real model: ${entry.title}`} action={action}>
      <p data-testid="first-model-facts">{factsText(choice)}</p>
      {asking && <Progress label={t`Asking the hub for ${entry.title}`} share={null} />}
      {problem && (
        <p role="status" className="mt-1 text-warn" data-testid="first-model-problem">
          {kindWords(problem)}
        </p>
      )}
    </Frame>
  );
}

interface FrameProps {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}

function Frame({ title, action, children }: FrameProps) {
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-2.5">
      <div className="min-w-64 flex-1">
        <h2 className="font-medium text-ink">{title}</h2>
        <div className="mt-0.5 text-sm text-pretty text-ink-2 tabular-nums short:text-xs">{children}</div>
      </div>
      <div className="flex flex-col items-stretch gap-1">
        {action}
        <Ways />
      </div>
    </div>
  );
}

function Ways() {
  const headless = useApp(selectHeadless);
  const { models, ui } = useActions();
  const chatWith = useChatWith();

  /** A browser has no dialog that tells paths: there the list of models takes one. */
  async function addOwn(): Promise<void> {
    if (headless) return ui.setPicker(true);
    const result = await models.addFromDialog('files');
    const [added] = result?.added ?? [];
    if (added) chatWith(added.id);
    else if (result && result.refused.length > 0) ui.setPicker(true);
  }

  return (
    <div className="flex gap-1">
      <Button size="small" tone="quiet" onClick={() => ui.showModels('discover')} data-testid="first-model-others">
        <Search className="size-3.5" aria-hidden="true" />
        <Trans>Other models</Trans>
      </Button>
      <Button size="small" tone="quiet" onClick={() => void addOwn()} data-testid="first-model-file">
        <FolderOpen className="size-3.5" aria-hidden="true" />
        <Trans>I have a file</Trans>
      </Button>
    </div>
  );
}

const noChoice = {
  looking: msg`Looking which model fits this computer…`,
  unknown: msg`There are models for every size of computer. How much fits here could not be found out just now.`,
  none: msg`None of the suggested models fits into the memory that is free now. Other ones are smaller.`,
} as const;

/** What is measured and free decides; it is looked at once, when both are known. */
function useChoice(): Choice | keyof typeof noChoice {
  const catalog = useApp(selectCatalog);
  const profile = useApp(selectMachineProfile);
  const busy = useApp(selectMachineFraction) !== null;
  const able = useApp(selectCanAsk);
  const modelId = useApp(selectEmbeddedModel)?.id ?? null;
  const { hub, machine, settings } = useActions();
  const [fit, setFit] = useState<ContextFit | null | undefined>(undefined);

  useEffect(() => {
    void hub.readCatalog();
    void machine.refresh();
  }, [hub, machine]);

  useEffect(() => {
    if (!able || busy || modelId === null) return;
    let dropped = false;
    void settings.askModel(modelId, () => !dropped).then((answer) => !dropped && setFit(answer));
    return () => {
      dropped = true;
    };
  }, [able, busy, modelId, settings]);

  if (!catalog || profile === undefined || fit === undefined || busy) return 'looking';
  if (fit === null) return 'unknown';
  return firstModelOf(catalog, fit.budgets, profile?.facts ?? null) ?? 'none';
}

/** "A good first model for a laptop. Takes at least 2.28 GiB of memory, 9.1 GiB are free. Writes at most …" */
function factsText({ entry, bytes, available, rate }: Choice): string {
  const memory = t`Takes at least ${formatBytes(bytes)} of memory; ${formatBytes(available)} are free.`;
  const speed = rate === null ? '' : t`Writes at most ${paceText(rate)} (an estimate).`;
  return `${aboutText(entry.about)} ${memory} ${speed}`.trim();
}

function kindWords({ code, message, hint }: ErrorPayload): string {
  if (code !== 'network-failed') return `${message} ${hint}`.trim();
  return t`The hub that keeps the models cannot be reached right now. The built-in model works without it, and so does any model file that you have. ${message}`;
}
