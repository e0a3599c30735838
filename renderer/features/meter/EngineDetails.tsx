import type { ReactNode } from 'react';
import type { Capabilities, EffectiveType, LoadedContext } from '../../../electron/contract/engine';
import { type Fallback, simdName } from '../../../electron/contract/fallbacks';
import { Button } from '../../ui/Button';
import { formatCount } from '../../ui/format';
import { centringText } from './centringText';
import { Fallbacks } from './Fallbacks';
import { kernelLines } from './kernelText';
import { attentionText, offloadText } from './placeText';

interface EngineDetailsProps {
  capabilities: Capabilities;
  context: LoadedContext | null;
  fallbacks: readonly Fallback[];
  onDiagnostics: () => void;
}

export function EngineDetails({ capabilities, context, fallbacks, onDiagnostics }: EngineDetailsProps) {
  return (
    <>
      <Fallbacks fallbacks={fallbacks} />
      <h2 className="font-serif text-base text-ink">Engine</h2>
      <dl className="mt-2 grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-xs tabular-nums">
        <Row name="Backend">{capabilities.backend}</Row>
        <Row name="Device">{capabilities.device}</Row>
        {capabilities.chipFamily && <Row name="Chip family">{capabilities.chipFamily}</Row>}
        <Row name="SIMD">{simdName(capabilities.simd)}</Row>
        {context && <ContextRows context={context} />}
        <Row name="Cores">{capabilities.physicalCores} physical</Row>
        <Row name="llama.cpp">{capabilities.upstream}</Row>
      </dl>
      <Button size="small" className="mt-4 w-full" onClick={onDiagnostics} data-testid="diagnostics-open">
        Diagnostics…
      </Button>
    </>
  );
}

function ContextRows({ context }: { context: LoadedContext }) {
  const { typeK, typeV } = context;
  const centring = centringText(context);
  return (
    <>
      <TypeRow name="K cache" type={typeK} />
      <TypeRow name="V cache" type={typeV} />
      {centring && <Row name="Centring">{centring}</Row>}
      <Row name="Layers on the GPU">
        <span data-testid="details-layers">{offloadText(context)}</span>
      </Row>
      {attentionText(context) && <Row name="Attention runs on">{attentionText(context)}</Row>}
      {kernelLines(context).map(({ name, text, why }) => (
        <Row key={name} name={name}>
          {text}
          <span className="block text-ink-3">{why}</span>
        </Row>
      ))}
      <Row name="Context">
        {formatCount(context.nCtx)} tokens
        {context.rope.kind !== 'model' && <span className="block text-warn">{stretchText(context.rope)}</span>}
      </Row>
      <Row name="Flash attention">{context.flashAttention ? 'on' : 'off'}</Row>
      <Row name="Threads">{context.threads}</Row>
      <Row name="Batch">{context.batch}</Row>
    </>
  );
}

function stretchText({ kind, factor }: LoadedContext['rope']): string {
  return `${kind === 'yarn' ? 'YaRN' : 'Linear RoPE'}, ${Number(factor.toFixed(2))} times the trained length`;
}

function TypeRow({ name, type: { asked, effective, reason } }: { name: string; type: EffectiveType }) {
  if (asked === effective) return <Row name={name}>{effective}</Row>;
  return (
    <Row name={name}>
      {effective} (asked: {asked})<span className="block text-ink-3">{reason}</span>
    </Row>
  );
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="whitespace-nowrap text-ink-3">{name}</dt>
      <dd className="text-right text-ink [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
