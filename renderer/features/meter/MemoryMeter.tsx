import { plural, t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import type { Memory } from '../../../electron/contract/engine';
import { draftBytes, projectorBytes } from '../../../electron/contract/lib/memory';
import { selectSearchModel } from '../../state/slices/documents';
import { selectKvBytes, selectLoadedContext, selectMemory } from '../../state/slices/engine';
import {
  selectChatTokensRead,
  selectContextSize,
  selectContextUsed,
  selectHoldsOtherChat,
} from '../../state/slices/live';
import { useApp } from '../../state/useApp';
import { cx } from '../../ui/cx';
import { formatBytes, formatContext, formatCount } from '../../ui/format';
import { Popover } from '../../ui/Popover';
import { Bellows } from '../../ui/pictures/Bellows';
import { kvUsed, type MemoryPart, memoryParts, savedText } from './memoryParts';
import { partColors } from './plots';
import { StripButton } from './StripButton';

/** What the model has read of the open chat, of the tokens that the cache holds. The bellows fill with them. */
export function ContextMeter() {
  const read = useApp(selectChatTokensRead);
  const size = useApp(selectContextSize);
  const kvBytes = useApp(selectKvBytes);
  const share = size > 0 ? (read ?? 0) / size : 0;
  const tight = share > 0.9;
  const title = contextTitle(read, size, kvBytes);

  return (
    <div
      data-testid="meter-context"
      data-used={read ?? ''}
      data-size={size}
      title={title}
      className="flex items-center gap-2 px-2 whitespace-nowrap"
    >
      <Bellows pleats={6} filled={share} className="h-2.5 w-12 max-md:hidden" />
      <span className={cx(tight && 'font-medium text-warn')}>
        {read === null ? (
          <Trans>not read yet</Trans>
        ) : (
          <Trans>
            <b className="font-medium text-ink">{formatCount(read)}</b> read
          </Trans>
        )}
        <span className="text-ink-3"> / {size > 0 ? formatContext(size) : '–'}</span>
      </span>
    </div>
  );
}

/** `read`: tokens; null: nothing of this chat is in the cache. */
function contextTitle(read: number | null, size: number, kvBytes: number): string {
  const all = formatCount(size);
  if (read === null) {
    return t`The model has not read this chat yet, or its cache was put aside for another one: the next question sees to it. The context holds ${all} tokens`;
  }
  const count = formatCount(read);
  if (kvBytes <= 0) return t`Context: ${count} of ${all} tokens of this chat are in the cache`;
  const bytes = formatBytes(kvBytes * Math.min(1, size > 0 ? read / size : 0));
  return t`Context: ${count} of ${all} tokens of this chat are in the cache, ${bytes} of ${formatBytes(kvBytes)}`;
}

export function MemoryMeter() {
  const memory = useApp(selectMemory);
  if (!memory) return null;
  const kv = memory.kvK + memory.kvV;
  const parts = memoryParts(memory);

  return (
    <Popover
      label={t`Memory`}
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
          <span className="sr-only">
            {`, ${t`weights ${formatBytes(memory.weights)}`}. ${t`Show all parts of the memory`}`}
          </span>
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

function PartBytes({ weights, cache, compute }: { weights: number; cache: number; compute: number }) {
  return (
    <Trans>
      <span className="whitespace-nowrap">weights {formatBytes(weights)},</span>{' '}
      <span className="whitespace-nowrap">cache {formatBytes(cache)},</span>{' '}
      <span className="whitespace-nowrap">buffers {formatBytes(compute)}</span>
    </Trans>
  );
}

function MemoryDetails({ memory, parts }: { memory: Memory; parts: readonly MemoryPart[] }) {
  const context = useApp(selectLoadedContext);
  const used = useApp(selectContextUsed);
  const other = useApp(selectHoldsOtherChat);
  const kv = memory.kvK + memory.kvV;
  const inUse = formatBytes(kvUsed(memory, used, context?.nCtx ?? 0));
  const filled = formatCount(used);
  const cells = formatCount(context?.nCtx ?? 0);
  return (
    <>
      <h2 className="font-serif text-base text-ink">
        <Trans>The folded cache</Trans>
      </h2>
      <FoldedCache kv={kv} f16={memory.kvF16} saved={savedText(memory)} />
      <p className="mt-2 text-xs text-ink-3">
        K {context?.typeK.effective} <Exact bytes={memory.kvK} />, V {context?.typeV.effective}{' '}
        <Exact bytes={memory.kvV} />
        <br />
        {other ? (
          <Trans>
            in use <span className="text-ink-2">{inUse}</span>, the share of {filled} of {cells} cells, which hold
            another chat
          </Trans>
        ) : (
          <Trans>
            in use <span className="text-ink-2">{inUse}</span>, the share of {filled} of {cells} cells
          </Trans>
        )}
        {draftBytes(memory.draft) > 0 && (
          <span className="block" data-testid="meter-draft" data-bytes={draftBytes(memory.draft)}>
            <Trans>
              draft: <PartBytes weights={memory.draft.weights} cache={memory.draft.kv} compute={memory.draft.compute} />
            </Trans>
          </span>
        )}
        {projectorBytes(memory.projector) > 0 && (
          <span className="block" data-testid="meter-projector" data-bytes={projectorBytes(memory.projector)}>
            <Trans>
              projector: <span className="whitespace-nowrap">weights {formatBytes(memory.projector.weights)},</span>{' '}
              <span className="whitespace-nowrap">buffers {formatBytes(memory.projector.compute)}</span>
            </Trans>
          </span>
        )}
        {memory.gpus.map(({ name, weights, context: cache, compute }) => (
          <span key={name} className="block" data-testid="meter-gpu" data-cache={cache}>
            <Trans>
              in {name}: <PartBytes weights={weights} cache={cache} compute={compute} />
            </Trans>
          </span>
        ))}
        {memory.workers.map(({ name, weights, context: cache, compute }) => (
          <span key={name} className="block" data-testid="meter-worker" data-cache={cache}>
            <Trans>
              at {name}: <PartBytes weights={weights} cache={cache} compute={compute} />
            </Trans>
          </span>
        ))}
      </p>
      <h2 className="mt-4 font-serif text-base text-ink">{t`This computer, ${formatBytes(memory.total)}`}</h2>
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
            <dd className="text-ink" title={bytesText(part.bytes)}>
              {formatBytes(part.bytes)}
            </dd>
          </div>
        ))}
        <div className="mt-1 flex gap-2 border-t border-line pt-2">
          <dt className="flex-1 text-ink-2">
            <Trans>Engine process (incl. mapped files)</Trans>
          </dt>
          <dd className="text-ink" title={bytesText(memory.process)}>
            {formatBytes(memory.process)}
          </dd>
        </div>
        <SearchModelPart />
      </dl>
    </>
  );
}

/** Of what "Window and app" holds: the process of the model that searches documents, while it runs. */
function SearchModelPart() {
  const model = useApp(selectSearchModel);
  const bytes = model?.bytes ?? model?.needs ?? null;
  if (!model?.running || bytes === null) return null;
  return (
    <div className="flex gap-2" data-testid="meter-search-model" data-bytes={bytes}>
      <dt className="flex-1 text-ink-2">
        <Trans>Search model, a part of the app</Trans>
      </dt>
      <dd className="text-ink">{formatBytes(bytes)}</dd>
    </div>
  );
}

/** The same pleats, pulled and folded. */
function FoldedCache({ kv, f16, saved }: { kv: number; f16: number; saved: string }) {
  const widest = Math.max(kv, f16, 1);
  return (
    <div className="mt-2 grid gap-1.5 text-xs tabular-nums">
      <div className="flex items-center justify-between">
        <span className="text-ink-2">{t`now ${formatBytes(kv)}`}</span>
        <span className="text-accent">{saved}</span>
      </div>
      <div style={{ width: `${(kv / widest) * 100}%` }}>
        <Bellows pleats={16} className="h-4 w-full" />
      </div>
      <div style={{ width: `${(f16 / widest) * 100}%` }}>
        <Bellows pleats={16} className="bellows-muted h-4 w-full" />
      </div>
      <span className="text-ink-3">{t`at f16 it would be ${formatBytes(f16)}`}</span>
    </div>
  );
}

function Exact({ bytes }: { bytes: number }) {
  return <span className="text-ink-2 tabular-nums">{bytesText(bytes)}</span>;
}

function bytesText(bytes: number): string {
  return plural(bytes, { one: '# byte', other: '# bytes' });
}
