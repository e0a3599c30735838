/**
 * Whether what the KV cache holds can be kept when a context is made anew: the engine decides by it, the window says it
 * beforehand. Cells mean the same when types, centring, RoPE and the attention path agree; how many there are does not matter.
 */
import type { EffectiveContext } from './engine';
import type { ContextSettings } from './settings';

type AskedContext = Pick<ContextSettings, 'nCtx' | 'typeK' | 'typeV' | 'flashAttention' | 'rope'>;

/** trained: tokens; 0: unknown. used: tokens in the cache now. The same model and the same weights are taken for granted. */
export function keepsCache(loaded: EffectiveContext, asked: AskedContext, used: number, trained: number): boolean {
  return (
    used > 0 &&
    used < askedLength(asked, trained) &&
    sameType(loaded.typeK, asked.typeK) &&
    sameType(loaded.typeV, asked.typeV) &&
    sameAttention(loaded, asked) &&
    sameRope(loaded, asked, trained)
  );
}

/** What the context will hold: longer than trained only with a choice of RoPE. */
export function askedLength({ nCtx, rope }: Pick<ContextSettings, 'nCtx' | 'rope'>, trained: number): number {
  return rope === 'model' && trained > 0 ? Math.min(nCtx, trained) : nCtx;
}

/** Positions are scaled: the context is longer than the model was trained for, and a way was chosen. */
export function isStretched({ nCtx, rope }: Pick<ContextSettings, 'nCtx' | 'rope'>, trained: number): boolean {
  return rope !== 'model' && trained > 0 && nCtx > trained;
}

function sameType(loaded: EffectiveContext['typeK'], asked: string): boolean {
  return asked === loaded.asked || asked === loaded.effective;
}

function sameAttention(loaded: EffectiveContext, { flashAttention }: AskedContext): boolean {
  return loaded.flashAttention ? flashAttention !== 'off' : flashAttention === 'off';
}

/** The scale is that of the length, so a stretched context of another length is another one. */
function sameRope(loaded: EffectiveContext, asked: AskedContext, trained: number): boolean {
  if (!isStretched(asked, trained)) return loaded.rope.kind === 'model';
  return loaded.rope.kind === asked.rope && loaded.nCtx === roundedUp(asked.nCtx);
}

/** Upstream makes contexts of whole steps. */
function roundedUp(nCtx: number): number {
  return Math.ceil(nCtx / 256) * 256;
}
