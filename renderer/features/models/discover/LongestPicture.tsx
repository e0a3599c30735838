/**
 * The longest context that fits with each cache type, drawn as bellows: the same instrument, pulled further. Where all reach
 * the trained length, what each takes for it: the same instrument, folded smaller.
 */

import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { isVariant } from '../../../../electron/contract/fallbacks';
import type { ContextFit, FitMark } from '../../../../electron/contract/fit';
import { autoContext, type CacheChoice, type ContextSettings } from '../../../../electron/contract/settings';
import type { RequestedContext } from '../../../state/appState';
import { cx } from '../../../ui/cx';
import { formatBytes, formatCount, formatRatio } from '../../../ui/format';
import { Bellows } from '../../../ui/pictures/Bellows';

interface LongestPictureProps {
  fit: ContextFit;
  context: ContextSettings;
  /** a click on a bar; left out: the bars only show */
  onUse?: (asked: RequestedContext) => void;
}

export function LongestPicture({ fit, context, onUse }: LongestPictureProps) {
  const cut = context.rope === 'model' && fit.trained > 0;
  const nCtx = cut ? Math.min(context.nCtx, fit.trained) : context.nCtx;
  const picture = longestPicture(fit, nCtx);
  if (!picture) return null;
  const { measure, bars, tokens, asked } = picture;

  return (
    <figure data-testid="hub-longest" data-measure={measure} aria-labelledby="hub-longest-title">
      <figcaption id="hub-longest-title" className="text-sm font-semibold text-ink">
        {measure === 'length'
          ? t`Longest context that fits`
          : t`Cache and buffers for all ${formatCount(tokens)} tokens`}
      </figcaption>
      <div className="relative mt-2.5">
        <ul className="grid gap-1.5">
          {bars.map((bar) => (
            <Bar
              key={bar.type}
              bar={bar}
              measure={measure}
              onUse={onUse && (() => onUse({ nCtx: bar.nCtx || nCtx, typeK: bar.type, typeV: bar.type }))}
            />
          ))}
        </ul>
        {asked !== null && <AskedLine share={asked} />}
      </div>
      <p className="mt-2 text-xs text-ink-3">
        {measure === 'length' ? (
          <>
            {asked !== null && `${t`The line: the ${formatCount(nCtx)} tokens you ask for.`} `}
            {fit.trained > 0 && t`It was trained for ${formatCount(fit.trained)}.`}
          </>
        ) : (
          t`Every type reaches the length that it was trained for; the difference is the memory.`
        )}
      </p>
    </figure>
  );
}

function Bar({
  bar,
  measure,
  onUse,
}: {
  bar: LongestBar;
  measure: 'length' | 'memory';
  onUse?: (() => void) | undefined;
}) {
  const figure = measure === 'length' ? formatCount(bar.nCtx) : formatBytes(bar.bytes);
  const comparison = comparisonOf(bar, measure);
  return (
    <li>
      <button
        type="button"
        data-testid="hub-bar"
        data-type={bar.type}
        data-tokens={bar.nCtx}
        data-bytes={bar.bytes}
        disabled={bar.nCtx === 0 || !onUse}
        onClick={onUse}
        className="group grid w-full grid-cols-[3.75rem_minmax(0,1fr)] items-center rounded-md py-0.5 text-start transition-colors enabled:hover:bg-hover"
      >
        <span className={cx('ps-1 text-xs', bar.folded ? 'font-semibold text-ink' : 'text-ink-2')}>{bar.type}</span>
        <span className="sr-only">: </span>
        <span className="flex items-center gap-2 pe-32">
          <span
            className={cx('block shrink-0 transition-[width] duration-500', !bar.folded && 'bellows-muted')}
            style={{ width: `${Math.max(bar.share, 0.006) * 100}%` }}
          >
            <Bellows pleats={16} className="h-8 w-full" />
          </span>
          {/* on the ground of the card: the line of the asked length passes behind the figures */}
          <span className="relative z-1 -me-32 w-32 shrink-0 text-xs leading-tight tabular-nums">
            <span
              className={cx(
                'block w-fit bg-panel whitespace-nowrap',
                bar.folded ? 'font-semibold text-ink' : 'text-ink-2',
              )}
            >
              {bar.nCtx === 0 ? t`does not fit` : figure}
              {bar.nCtx > 0 && measure === 'length' && (
                <span className="sr-only">
                  {' '}
                  <Trans>tokens</Trans>
                </span>
              )}
            </span>
            {comparison && <span className="sr-only">, </span>}
            {comparison && <span className="block w-fit bg-panel whitespace-nowrap text-ink-3">{comparison}</span>}
            {onUse && (
              <span className="sr-only">
                {'. '}
                <Trans>Look at it with this type</Trans>
              </span>
            )}
          </span>
        </span>
      </button>
    </li>
  );
}

function comparisonOf({ type, times, instead, nCtx, whole }: LongestBar, measure: 'length' | 'memory'): string {
  if (instead !== '') return t`runs as ${instead}`;
  if (whole && measure === 'length') return t`the whole length`;
  if (type === 'f16' || times === null || nCtx === 0) return '';
  return measure === 'length' ? t`${formatRatio(times)} as long` : t`${formatRatio(times)} smaller`;
}

/** Over the room of the bars: behind their names, and before their figures. */
function AskedLine({ share }: { share: number }) {
  return (
    <span className="pointer-events-none absolute inset-y-0 start-15 end-32" aria-hidden="true">
      <span
        className="absolute inset-y-0 border-s border-dashed border-ink-2 transition-[inset-inline-start] duration-300"
        style={{ insetInlineStart: `${share * 100}%` }}
      />
    </span>
  );
}

// The picture of what the cache types are worth here: the longest context that fits with each of them.

interface LongestBar {
  type: CacheChoice;
  /** tokens; 0: not even the shortest context fits */
  nCtx: number;
  /** of the cache and its buffers at that length; 0 where nothing fits */
  bytes: number;
  /** 0..1 of the picture's width */
  share: number;
  /** times f16, or f16 times this where `measure` is memory; null: there is nothing to compare with */
  times: number | null;
  /** as what it would run instead; empty where it runs as itself */
  instead: string;
  folded: boolean;
  /** all that the model was trained for: more memory would make it no longer */
  whole: boolean;
}

interface LongestFigures {
  /**
   * `length`: the longer the more fits. `memory`: every type reaches the trained length, so what each takes for it is shown,
   * and shorter is better.
   */
  measure: 'length' | 'memory';
  bars: LongestBar[];
  /** tokens that every bar stands for in `memory`; 0 in `length` */
  tokens: number;
  /** 0..1: where the asked length stands; null: it is not shown */
  asked: number | null;
}

/** the engine makes contexts of whole steps */
const cellStep = 256;
const shown = ['f16', 'q8_0', 'turbo4', 'turbo3'] as const;

/** `nCtx`: the asked length in tokens; with Auto none is asked for. Null: the engine told nothing of these types. */
export function longestPicture({ marks, estimate, trained }: ContextFit, nCtx: number): LongestFigures | null {
  const found = shown.flatMap((type) => {
    const mark = marks.find(({ typeK, typeV }) => typeK === type && typeV === type);
    return mark ? [mark] : [];
  });
  const [f16] = found;
  if (!f16 || found.length < shown.length) return null;
  const tokens = found.every((mark) => mark.nCtx === f16.nCtx) ? f16.nCtx : 0;
  const measure = tokens > 0 ? 'memory' : 'length';
  const measured = (mark: FitMark): number => (measure === 'memory' ? cacheBytes(mark, estimate.weights) : mark.nCtx);
  const longest = Math.max(...found.map(measured), measure === 'length' ? nCtx : 0, 1);
  const bars = found.map((mark): LongestBar => {
    const value = measured(mark);
    const ratio = measure === 'memory' ? measured(f16) / value : value / measured(f16);
    return {
      type: mark.typeK,
      nCtx: mark.nCtx,
      bytes: cacheBytes(mark, estimate.weights),
      share: value / longest,
      times: Number.isFinite(ratio) && ratio > 0 ? ratio : null,
      instead: insteadOf(mark),
      folded: mark.typeK.startsWith('turbo'),
      whole: trained > 0 && mark.nCtx > trained - cellStep,
    };
  });
  return { measure, bars, tokens, asked: measure === 'length' && nCtx !== autoContext ? nCtx / longest : null };
}

function cacheBytes({ nCtx, bytes }: FitMark, weights: number): number {
  return nCtx > 0 ? Math.max(0, bytes - weights) : 0;
}

function insteadOf({ typeK, typeV, effectiveK, effectiveV }: FitMark): string {
  const k = { asked: typeK, effective: effectiveK, reason: '' };
  const v = { asked: typeV, effective: effectiveV, reason: '' };
  const changed = [k, v].some((side) => side.effective !== side.asked && !isVariant(side));
  if (!changed) return '';
  return effectiveK === effectiveV ? effectiveK : `${effectiveK} / ${effectiveV}`;
}
