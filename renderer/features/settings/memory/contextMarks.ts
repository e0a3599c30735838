/** The marks of the context slider: what fits now with each cache type, the trained maximum, and what the chat needs. */
import { t } from '@lingui/core/macro';
import type { ContextFit, FitMark } from '../../../../electron/contract/fit';
import { limits } from '../../../../electron/contract/limits';
import { typesText } from '../../../ui/format';

export interface ContextMark {
  id: 'chosen' | 'trained' | 'chat' | 'f16' | 'q8_0' | 'turbo4' | 'turbo3';
  /** on the scale, in little room */
  short: string;
  /** in the list below */
  label: string;
  tokens: number;
  /** what a click sets: whole steps of the engine, with room for an answer where it is about the chat */
  target: number;
}

export interface MarkFacts {
  fit: ContextFit | null;
  /** null: not known */
  trained: number | null;
  /** tokens of the open chat with its draft; null: not counted */
  chatTokens: number | null;
  /** longest answer that is asked for, in tokens; 0: no limit */
  maxTokens: number;
}

/** room for an answer where no limit is set */
const answerRoom = 1024;
const step = 256;
const knownTypes = ['f16', 'q8_0', 'turbo4', 'turbo3'] as const;

/** In the order of the list. Marks of the fit are missing until it is known, and where nothing fits. */
export function contextMarks({ fit, trained, chatTokens, maxTokens }: MarkFacts): ContextMark[] {
  const marks: ContextMark[] = [];
  if (chatTokens !== null && chatTokens > 0) {
    marks.push({
      ...{ id: 'chat', short: t`this chat`, label: t`This chat needs`, tokens: chatTokens },
      target: roomFor(chatTokens, maxTokens),
    });
  }
  const [own, ...others] = fit?.marks ?? [];
  const known = others.find((mark) => own && sameTypes(mark, own));
  if (own && !known) marks.push(ofFit('chosen', own));
  for (const mark of others) {
    if (isKnown(mark.typeK) && mark.typeK === mark.typeV) marks.push(ofFit(mark.typeK, mark));
  }
  if (trained) {
    marks.push({ id: 'trained', short: t`trained`, label: t`Trained for`, tokens: trained, target: trained });
  }
  return marks.filter(({ tokens }) => tokens > 0);
}

/** The longest context that fits with the chosen types; null: not known. */
export function longestOf(fit: ContextFit | null): number | null {
  return fit?.marks[0]?.nCtx ?? null;
}

/** The chat with room for an answer, in whole kilotokens: a chat grows, and each change of the length costs a reload. */
export function roomFor(chatTokens: number, maxTokens: number): number {
  const needed = chatTokens + (maxTokens > 0 ? maxTokens : answerRoom);
  return Math.max(limits.minContext, Math.ceil(needed / 1024) * 1024);
}

/** Marks of the fit at one length share a row: with a small model all types reach the trained maximum. */
export function legendOf(
  marks: readonly ContextMark[],
): { ids: ContextMark['id'][]; label: string; mark: ContextMark }[] {
  const rows: { ids: ContextMark['id'][]; label: string; mark: ContextMark }[] = [];
  for (const mark of marks) {
    const same = isFit(mark) && rows.find((row) => isFit(row.mark) && row.mark.tokens === mark.tokens);
    if (same) {
      same.ids.push(mark.id);
      same.label = hasEveryType(same.ids) ? t`Fits with every cache type` : `${same.label}, ${mark.short}`;
    } else {
      rows.push({ ids: [mark.id], label: mark.label, mark });
    }
  }
  return rows;
}

/** What marks at one place of the scale are called together. */
export function clusterText(marks: readonly ContextMark[]): string {
  const types = marks.filter(isFit);
  const others = marks.filter((mark) => !isFit(mark)).map(({ short }) => short);
  const all = hasEveryType(types.map(({ id }) => id));
  return [...(all ? [t`every type`] : types.map(({ short }) => short)), ...others].join(' · ');
}

/** Where f16 fits, all that is smaller does. */
function hasEveryType(ids: readonly ContextMark['id'][]): boolean {
  return knownTypes.every((type) => ids.includes(type));
}

export function isFit({ id }: Pick<ContextMark, 'id'>): boolean {
  return id !== 'trained' && id !== 'chat';
}

function ofFit(id: ContextMark['id'], { typeK, typeV, nCtx }: FitMark): ContextMark {
  const types = typesText(typeK, typeV);
  return {
    id,
    short: id === 'chosen' ? t`chosen` : types,
    label: id === 'chosen' ? t`Fits with ${types} (chosen)` : t`Fits with ${types}`,
    tokens: nCtx,
    target: floor(nCtx),
  };
}

function floor(tokens: number): number {
  return Math.floor(tokens / step) * step || tokens;
}

function sameTypes(a: FitMark, b: FitMark): boolean {
  return a.typeK === b.typeK && a.typeV === b.typeV;
}

function isKnown(type: string): type is 'f16' | 'q8_0' | 'turbo4' | 'turbo3' {
  return knownTypes.some((known) => known === type);
}
