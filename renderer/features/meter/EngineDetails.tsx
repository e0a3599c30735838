import type { ReactNode } from 'react';
import type { Capabilities, LoadedContext } from '../../../electron/shared/engine';
import { formatCount } from '../../ui/format';
import { centringText } from './centringText';
import { simdName } from './fallbacks';
import { kernelLines } from './kernelText';

interface EngineDetailsProps {
  capabilities: Capabilities;
  context: LoadedContext | null;
  fallbacks: readonly string[];
}

export function EngineDetails({ capabilities, context, fallbacks }: EngineDetailsProps) {
  return (
    <>
      {fallbacks.length > 0 && (
        <section className="mb-3 rounded-lg bg-warn-soft p-3 text-xs" data-testid="fallbacks">
          <h2 className="font-medium text-warn">Not as asked</h2>
          <ul className="mt-1 space-y-1 text-ink">
            {fallbacks.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
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
    </>
  );
}

function ContextRows({ context }: { context: LoadedContext }) {
  const { typeK, typeV } = context;
  const centring = centringText(context);
  return (
    <>
      <Row name="K cache">
        {typeK.effective === typeK.asked ? typeK.effective : `${typeK.effective} (asked: ${typeK.asked})`}
      </Row>
      <Row name="V cache">
        {typeV.effective === typeV.asked ? typeV.effective : `${typeV.effective} (asked: ${typeV.asked})`}
      </Row>
      {centring && <Row name="Centring">{centring}</Row>}
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
      <Row name="GPU layers">{context.gpuLayers}</Row>
      <Row name="Batch">{context.batch}</Row>
    </>
  );
}

function stretchText({ kind, factor }: LoadedContext['rope']): string {
  return `${kind === 'yarn' ? 'YaRN' : 'Linear RoPE'}, ${Number(factor.toFixed(2))} times the trained length`;
}

function Row({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="whitespace-nowrap text-ink-3">{name}</dt>
      <dd className="text-right text-ink [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
