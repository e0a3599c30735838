import type { Memory } from '../../../electron/contract/engine';
import { draftBytes } from '../../../electron/contract/lib/memory';
import { selectLoadedContext, selectMemory } from '../../state/slices/engine';
import { selectContextUsed, selectHoldsOtherChat } from '../../state/slices/live';
import { useApp } from '../../state/useApp';
import { Bellows } from '../../ui/Bellows';
import { cx } from '../../ui/cx';
import { formatBytes, formatCount } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { kvUsed, type MemoryPart, memoryParts, savedText } from './memoryParts';
import { partColors } from './plots';
import { StripButton } from './StripButton';

export function MemoryMeter() {
  const memory = useApp(selectMemory);
  if (!memory) return null;
  const kv = memory.kvK + memory.kvV;
  const parts = memoryParts(memory);

  return (
    <Popover
      label="Memory"
      align="end"
      className="w-80 p-4"
      trigger={
        <StripButton
          data-testid="meter-memory"
          data-weights={memory.weights}
          data-compute={memory.compute}
          data-process={memory.process}
          data-app={memory.app ?? ''}
          data-free={memory.free}
          data-total={memory.total}
        >
          <StackedBar parts={parts} className="w-16 max-md:hidden" />
          <span
            data-testid="meter-kv-bytes"
            data-bytes={kv}
            data-kv-k={memory.kvK}
            data-kv-v={memory.kvV}
            data-kv-f16={memory.kvF16}
          >
            KV <b>{formatBytes(kv)}</b>
          </span>
          <span className="text-accent max-lg:hidden">{savedText(memory)}</span>
          <span className="sr-only">, weights {formatBytes(memory.weights)}. Show all parts of the memory</span>
        </StripButton>
      }
    >
      <MemoryDetails memory={memory} parts={parts} />
    </Popover>
  );
}

function StackedBar({ parts, className }: { parts: readonly MemoryPart[]; className: string }) {
  const total = parts.reduce((sum, part) => sum + part.bytes, 0) || 1;
  return (
    <span className={cx('flex h-2 overflow-hidden rounded-xs bg-line-strong', className)} aria-hidden="true">
      {parts.map((part) => (
        <span
          key={part.id}
          style={{
            background: part.id === 'free' ? undefined : `var(${partColors[part.id]})`,
            width: `${(part.bytes / total) * 100}%`,
            minWidth: part.bytes > 0 && part.id !== 'free' ? 2 : 0,
          }}
        />
      ))}
    </span>
  );
}

function MemoryDetails({ memory, parts }: { memory: Memory; parts: readonly MemoryPart[] }) {
  const context = useApp(selectLoadedContext);
  const used = useApp(selectContextUsed);
  const other = useApp(selectHoldsOtherChat);
  const kv = memory.kvK + memory.kvV;
  const inUse = kvUsed(memory, used, context?.nCtx ?? 0);
  return (
    <>
      <h2 className="font-serif text-base text-ink">The folded cache</h2>
      <FoldedCache kv={kv} f16={memory.kvF16} saved={savedText(memory)} />
      <p className="mt-2 text-xs text-ink-3">
        K {context?.typeK.effective} <Exact bytes={memory.kvK} />, V {context?.typeV.effective}{' '}
        <Exact bytes={memory.kvV} />
        <br />
        in use <span className="text-ink-2">{formatBytes(inUse)}</span>, the share of {formatCount(used)} of{' '}
        {formatCount(context?.nCtx ?? 0)} cells{other && ', which hold another chat'}
        {draftBytes(memory.draft) > 0 && (
          <span className="block" data-testid="meter-draft" data-bytes={draftBytes(memory.draft)}>
            draft: <span className="whitespace-nowrap">weights {formatBytes(memory.draft.weights)},</span>{' '}
            <span className="whitespace-nowrap">cache {formatBytes(memory.draft.kv)},</span>{' '}
            <span className="whitespace-nowrap">buffers {formatBytes(memory.draft.compute)}</span>
          </span>
        )}
      </p>
      <h2 className="mt-4 font-serif text-base text-ink">This computer, {formatBytes(memory.total)}</h2>
      <StackedBar parts={parts} className="mt-2 h-2.5 w-full" />
      <dl className="mt-3 grid gap-1 text-xs tabular-nums">
        {parts.map((part) => (
          <div key={part.id} className="flex items-center gap-2">
            <span
              className="size-2 rounded-xs"
              style={{ background: `var(${partColors[part.id]})` }}
              aria-hidden="true"
            />
            <dt className="flex-1 text-ink-2">{part.label}</dt>
            <dd className="text-ink" title={`${formatCount(part.bytes)} bytes`}>
              {formatBytes(part.bytes)}
            </dd>
          </div>
        ))}
        <div className="mt-1 flex gap-2 border-t border-line pt-2">
          <dt className="flex-1 text-ink-2">Engine process (incl. mapped files)</dt>
          <dd className="text-ink" title={`${formatCount(memory.process)} bytes`}>
            {formatBytes(memory.process)}
          </dd>
        </div>
      </dl>
    </>
  );
}

/** The same pleats, pulled and folded. */
function FoldedCache({ kv, f16, saved }: { kv: number; f16: number; saved: string }) {
  const widest = Math.max(kv, f16, 1);
  return (
    <div className="mt-2 grid gap-1.5 text-xs tabular-nums">
      <div className="flex items-center justify-between">
        <span className="text-ink-2">now {formatBytes(kv)}</span>
        <span className="text-accent">{saved}</span>
      </div>
      <div style={{ width: `${(kv / widest) * 100}%` }}>
        <Bellows pleats={16} className="h-4 w-full" />
      </div>
      <div style={{ width: `${(f16 / widest) * 100}%` }}>
        <Bellows pleats={16} className="bellows-muted h-4 w-full" />
      </div>
      <span className="text-ink-3">at f16 it would be {formatBytes(f16)}</span>
    </div>
  );
}

function Exact({ bytes }: { bytes: number }) {
  return <span className="text-ink-2 tabular-nums">{formatCount(bytes)} bytes</span>;
}
