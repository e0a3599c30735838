import type { MessageDescriptor } from '@lingui/core';
import { msg, plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { TriangleAlert } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type {
  Capabilities,
  EffectiveType,
  EngineState,
  KernelUse,
  LoadedContext,
} from '../../../electron/contract/engine';
import { type Fallback, fallbacksOf, simdName } from '../../../electron/contract/fallbacks';
import { isBudget } from '../../../electron/contract/settings';
import { i18n } from '../../language';
import { countText } from '../../state/lib/partText';
import {
  selectCapabilities,
  selectConnection,
  selectEngineState,
  selectLoadedContext,
  selectResting,
} from '../../state/slices/engine';
import { selectActivePhase } from '../../state/slices/live';
import { useActions, useApp } from '../../state/useApp';
import { Button } from '../../ui/Button';
import { cx } from '../../ui/cx';
import { adapterText, formatBytes, formatContext, formatCount } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { isMixed, LayerBlocks } from '../../ui/pictures/LayerBlocks';
import { StripButton } from './StripButton';

/** Effective cache types and backend; amber when anything is not as it was asked for. */
export function EngineMeter() {
  const context = useApp(selectLoadedContext);
  const capabilities = useApp(selectCapabilities);
  const [open, setOpen] = useState(false);
  const { ui } = useActions();
  if (!capabilities) return null;
  const fallbacks = fallbacksOf(context, capabilities);
  const types = context ? typesLabel(context.typeK.effective, context.typeV.effective) : '';

  return (
    <Popover
      label={t`Engine`}
      align="end"
      className="w-96 max-w-[calc(100vw-1.25rem)] p-4"
      open={open}
      onOpenChange={setOpen}
      trigger={
        <StripButton
          className={cx(fallbacks.length > 0 && 'bg-warn-soft text-warn [&_b]:text-warn!')}
          data-testid="meter-engine"
          data-fallbacks={fallbacks.length}
        >
          {fallbacks.length > 0 && <TriangleAlert className="size-3.5" aria-hidden="true" />}
          {context && (
            <span className="sr-only">
              <Trans>Cache types</Trans>{' '}
            </span>
          )}
          {context && (
            <span data-testid="meter-types" data-type-k={context.typeK.effective} data-type-v={context.typeV.effective}>
              <b>{types}</b>
            </span>
          )}
          <span data-testid="meter-backend" data-backend={capabilities.backend} data-simd={capabilities.simd}>
            {context && isSpread(context) ? t`Workers` : capabilities.backend}
            <span className="max-md:hidden">
              {' '}
              {context?.gpuLayers ? offloadText(context) : simdName(capabilities.simd)}
            </span>
          </span>
          <span className="sr-only">
            {fallbacks.length > 0 && `, ${differencesText(fallbacks.length)}`}
            {'. '}
            <Trans>Show details</Trans>
          </span>
        </StripButton>
      }
    >
      <EngineDetails
        capabilities={capabilities}
        context={context}
        fallbacks={fallbacks}
        onDiagnostics={() => {
          setOpen(false);
          ui.setDiagnostics(true);
        }}
      />
    </Popover>
  );
}

function differencesText(count: number): string {
  return plural(count, { one: '# difference from the settings', other: '# differences from the settings' });
}

function typesLabel(k: string, v: string): string {
  return k === v ? k : `${k}/${v}`;
}

interface EngineDetailsProps {
  capabilities: Capabilities;
  context: LoadedContext | null;
  fallbacks: readonly Fallback[];
  onDiagnostics: () => void;
}

function EngineDetails({ capabilities, context, fallbacks, onDiagnostics }: EngineDetailsProps) {
  return (
    <>
      <Fallbacks fallbacks={fallbacks} />
      <h2 className="font-serif text-base text-ink">
        <Trans>Engine</Trans>
      </h2>
      <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-xs tabular-nums">
        <Row name={t`Backend`}>{capabilities.backend}</Row>
        <Row name={t`Device`}>{capabilities.device}</Row>
        {capabilities.chipFamily && <Row name={t`Chip family`}>{capabilities.chipFamily}</Row>}
        <Row name="SIMD">{simdName(capabilities.simd)}</Row>
        {context && <ContextRows context={context} />}
        <Row name={t`Cores`}>{t`${formatCount(capabilities.physicalCores)} physical`}</Row>
        <Row name="llama.cpp">{capabilities.upstream}</Row>
      </dl>
      <Button size="small" className="mt-4 w-full" onClick={onDiagnostics} data-testid="diagnostics-open">
        <Trans>Diagnostics…</Trans>
      </Button>
    </>
  );
}

function ContextRows({ context }: { context: LoadedContext }) {
  const { typeK, typeV, cacheLayers } = context;
  const centring = centeringText(context);
  return (
    <>
      <TypeRow name={t`K cache`} type={typeK} />
      <TypeRow name={t`V cache`} type={typeV} />
      {isMixed(cacheLayers) && (
        <div className="col-span-2 py-1">
          <LayerBlocks layers={cacheLayers} />
        </div>
      )}
      {centring && <Row name={t`Centering`}>{centring}</Row>}
      <Row name={isSpread(context) ? t`Layers on GPUs and workers` : t`Layers on the GPU`}>
        <span data-testid="details-layers">{offloadText(context)}</span>
      </Row>
      {attentionText(context) && <Row name={t`Attention runs on`}>{attentionText(context)}</Row>}
      {kernelLines(context).map(({ name, text, why }) => (
        <Row key={name} name={name}>
          {text}
          <span className="block text-ink-3">{why}</span>
        </Row>
      ))}
      {context.speculation.asked !== 'off' && (
        <Row name={t`Drafting`}>
          {draftingText(context)}
          {context.speculation.reason && <span className="block text-ink-3">{context.speculation.reason}</span>}
        </Row>
      )}
      {context.projector.file && (
        <Row name={t`Reads`}>
          {readsText(context.projector)}
          <span className="block text-ink-3">{t`by ${context.projector.file}`}</span>
        </Row>
      )}
      {context.adapters.length > 0 && (
        <Row name={t`LoRA adapters`}>
          {context.adapters.map(({ file, scale, bytes }) => (
            <span key={file} className="block" data-testid="details-adapter">
              {adapterText(file, scale)} <span className="text-ink-3">({formatBytes(bytes)})</span>
            </span>
          ))}
        </Row>
      )}
      <Row name={t`Context`}>
        {countText(context.nCtx, 'token')}
        {context.rope.kind !== 'model' && <span className="block text-warn">{stretchText(context.rope)}</span>}
      </Row>
      <Row name={t`Flash attention`}>{context.flashAttention ? t`on` : t`off`}</Row>
      {(context.recent.tokens > 0 || context.recent.reason) && (
        <Row name={t`Recent tokens at 8 bits`}>
          {formatCount(context.recent.tokens)}
          {context.recent.reason && <span className="block text-ink-3">{context.recent.reason}</span>}
        </Row>
      )}
      <Row name={t`Threads`}>{context.threads}</Row>
      <Row name={t`Batch`}>{context.batch}</Row>
    </>
  );
}

function readsText({ vision, audio }: LoadedContext['projector']): string {
  if (vision && audio) return t`images and sound`;
  if (vision) return t`images`;
  return audio ? t`sound` : '';
}

function draftingText({ speculation: { effective }, draft }: LoadedContext): string {
  const names: Record<string, string> = {
    off: t({ message: 'none', context: 'drafting' }),
    ngram: t`from the text`,
    options: t`as options of llama-server say`,
  };
  if (draft.typeK.effective === '') return names[effective] ?? effective;
  const { typeK, typeV } = draft;
  const reason = typeK.reason || typeV.reason;
  const by = draft.file === '' ? t`by layers of the model (MTP)` : t`by ${draft.file}`;
  const text = t`${by}, cache K ${typeK.effective}, V ${typeV.effective}`;
  return reason ? `${text}: ${reason}` : text;
}

function stretchText({ kind, factor }: LoadedContext['rope']): string {
  const times = new Intl.NumberFormat(i18n.locale, { maximumFractionDigits: 2 }).format(factor);
  return kind === 'yarn'
    ? t`YaRN, ${times} times the trained length`
    : t`Linear RoPE, ${times} times the trained length`;
}

function TypeRow({ name, type: { asked, effective, reason } }: { name: string; type: EffectiveType }) {
  if (asked === effective) return <Row name={name}>{effective}</Row>;
  return (
    <Row name={name}>
      <Trans>
        {effective} (asked: {asked})
      </Trans>
      <span className="block text-ink-3">{reason}</span>
    </Row>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="whitespace-nowrap text-ink-3">{name}</dt>
      <dd className="text-end text-ink [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}

// Whether the turbo caches are centered, K by one constant for all positions, and why not; empty without turbo caches.

export function centeringText({ cacheLayers, typeK, typeV, centring }: LoadedContext): string {
  const types = isBudget(typeK.effective) ? cacheLayers : [{ typeK: typeK.effective, typeV: typeV.effective }];
  const sides = [
    { name: 'K', turbo: types.some((of) => isTurbo(of.typeK)), on: centring.k, reason: centring.reasonK },
    { name: 'V', turbo: types.some((of) => isTurbo(of.typeV)), on: centring.v, reason: centring.reasonV },
  ].filter(({ turbo }) => turbo);
  const off = sides.filter((side) => !side.on);
  if (sides.length === 0) return '';
  const on = sides.find((side) => side.on)?.name ?? '';
  if (off.length === 0) {
    const state = sides.length === 2 ? t`on` : t`${on} on`;
    const constant = sides.some(({ name }) => name === 'K') && !centring.blocks && centring.reasonBlocks !== '';
    return constant ? t`${state}, K by one constant: ${centring.reasonBlocks}` : state;
  }
  const reasons = [...new Set(off.map(({ reason }) => reason))].join('; ');
  if (off.length === sides.length) return t`off: ${reasons}`;
  return t`${on} on, ${off[0]?.name ?? ''} off: ${reasons}`;
}

function isTurbo(type: string): boolean {
  return type.startsWith('turbo');
}

/** What is not as asked, why, and what to do. */
function Fallbacks({ fallbacks }: { fallbacks: readonly Fallback[] }) {
  if (fallbacks.length === 0) return null;
  return (
    <section className="mb-3 rounded-lg bg-warn-soft p-3 text-xs" data-testid="fallbacks">
      <h2 className="font-medium text-warn">
        <Trans>Fallbacks</Trans>
      </h2>
      <ul className="mt-1.5 grid gap-2.5">
        {fallbacks.map(({ id, what, why, advice }) => (
          <li key={`${id} ${what}`} data-testid="fallback" data-id={id} className="[overflow-wrap:anywhere]">
            <p className="font-medium text-ink">{what}</p>
            {why && <p className="text-ink-2">{why}</p>}
            {advice && (
              <p className="text-ink-2">
                <span className="text-warn" aria-hidden="true">
                  →{' '}
                </span>
                {advice}
              </p>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

// Which attention kernel runs at which depth of the context, and why.

interface KernelLine {
  name: string;
  text: string;
  why: string;
}

/** One line for each kernel; its depth only where the backend changes it with the depth. */
export function kernelLines({ kernels }: LoadedContext): KernelLine[] {
  const isOnly = ({ backend }: KernelUse) => kernels.filter((other) => other.backend === backend).length === 1;
  return kernels.map((use) => ({
    name: isOnly(use) ? t`${use.backend} attention` : t`${use.backend} attention from ${formatContext(use.from)}`,
    text: use.name,
    why: use.why,
  }));
}

// Where the layers lie and where their attention runs, in few words.

/** Other machines hold layers of the model. */
function isSpread({ attention }: LoadedContext): boolean {
  return attention.some(({ layerBackend }) => layerBackend === 'RPC');
}

/** "33/33" */
export function offloadText({ gpuLayers, layers }: LoadedContext): string {
  return `${gpuLayers}/${layers}`;
}

/** "Metal", or with the layers of each place where there are several; empty where the engine does not say. */
export function attentionText({ attention }: LoadedContext): string {
  if (attention.length === 1) return attention[0]?.backend ?? '';
  return attention
    .map(({ backend, window, layers }) =>
      window
        ? plural(layers, { one: `${backend} (# sliding-window layer)`, other: `${backend} (# sliding-window layers)` })
        : plural(layers, { one: `${backend} (# layer)`, other: `${backend} (# layers)` }),
    )
    .join(', ');
}

const words: Record<EngineState | 'saving' | 'restoring' | 'reading' | 'resting' | 'offline', MessageDescriptor> = {
  starting: msg({ message: 'Starting', context: 'state of the engine' }),
  unavailable: msg({ message: 'No engine', context: 'state of the engine' }),
  empty: msg({ message: 'No model', context: 'state of the engine' }),
  loading: msg({ message: 'Loading', context: 'state of the engine' }),
  ready: msg({ message: 'Ready', context: 'state of the engine' }),
  generating: msg({ message: 'Writing', context: 'state of the engine' }),
  failed: msg({ message: 'Failed', context: 'state of the engine' }),
  restarting: msg({ message: 'Restarting', context: 'state of the engine' }),
  saving: msg({ message: 'Saving', context: 'state of the engine' }),
  restoring: msg({ message: 'Restoring', context: 'state of the engine' }),
  reading: msg({ message: 'Reading', context: 'state of the engine' }),
  resting: msg({ message: 'Resting', context: 'state of the engine' }),
  offline: msg({ message: 'Offline', context: 'state of the engine' }),
};

const colors: Partial<Record<EngineState, string>> = {
  ready: 'bg-good',
  // no animation: it would be a frame 60 times a second for as long as an answer takes
  generating: 'bg-accent',
  failed: 'bg-bad',
  unavailable: 'bg-bad',
  restarting: 'bg-warn animate-pulse',
};

export function StateMeter() {
  const state = useApp(selectEngineState) ?? 'starting';
  const phase = useApp(selectActivePhase);
  const open = useApp(selectConnection).phase === 'open';
  // An answer begins with reading; its first figures come only after the first part has been read.
  const reading = phase === 'prefill' || (state === 'generating' && phase === null);
  const resting = useApp(selectResting);
  // what is not read again comes from the disk, after the chat before went there
  const moving = phase === 'saving' || phase === 'restoring' ? phase : null;
  const word = !open ? 'offline' : (moving ?? (reading ? 'reading' : resting ? 'resting' : state));
  return (
    <p role="status" data-testid="meter-state" data-state={state} className="flex items-center gap-2 px-2">
      <span
        aria-hidden="true"
        className={cx('size-1.5 rounded-full', open ? (colors[state] ?? 'bg-ink-3') : 'bg-bad')}
      />
      <span className="min-w-15 whitespace-nowrap max-lg:min-w-0">{i18n._(words[word])}</span>
    </p>
  );
}
