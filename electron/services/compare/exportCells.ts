/** The figures of a column, each with its name and unit: what both tables show. */
import type { CompareColumn } from '../../contract/compare';

export type Cell = string | number | null;

/** `of`: exact, in the unit of the name; `short`: as a person reads it, bytes as MiB and shares in per cent (`shortName`). */
export interface Figure {
  name: string;
  of(column: CompareColumn): Cell;
  short(value: number): string;
}

const whole = (value: number) => String(Math.round(value));
const rate = (value: number) => value.toPrecision(value >= 1000 ? 4 : 3);
const mebibytes = (value: number) => (value / 1024 ** 2).toFixed(value < 100 * 1024 ** 2 ? 2 : 0);
const small = (value: number) => (value === 0 ? '0' : value.toPrecision(3));
const percent = (value: number) => (100 * value).toFixed(1);

function figure(name: string, short: Figure['short'], of: Figure['of']): Figure {
  return { name, short, of };
}

/** Names carry the unit. */
export const figures: readonly Figure[] = [
  figure('context', whole, ({ context }) => context?.nCtx ?? null),
  figure('KV bytes', mebibytes, ({ memory }) => memory && memory.kvK + memory.kvV),
  figure('KV K bytes', mebibytes, ({ memory }) => memory?.kvK ?? null),
  figure('KV V bytes', mebibytes, ({ memory }) => memory?.kvV ?? null),
  figure(
    'memory bytes',
    mebibytes,
    ({ memory }) => memory && memory.weights + memory.kvK + memory.kvV + memory.compute,
  ),
  figure('TTFT ms', whole, ({ answer }) => answer?.stats?.ttftMs ?? null),
  figure('prompt tok/s', rate, ({ answer }) => answer?.stats?.promptTokensPerSecond ?? null),
  figure('decode tok/s', rate, ({ answer }) => answer?.stats?.tokensPerSecond ?? null),
  figure('rounds tok/s', rate, ({ speed }) => speed?.median ?? null),
  figure('rounds', whole, ({ speed }) => speed?.rounds.length ?? null),
  figure('tokens of a round', whole, ({ speed }) => speed?.tokens ?? null),
  figure('speed ratio', small, ({ speed }) => speed?.ratio?.median ?? null),
  figure('answer tokens', whole, ({ answer }) => answer?.stats?.answerTokens ?? null),
  figure('same tokens first', whole, ({ agreement }) => agreement?.prefix ?? null),
  figure('same tokens share', percent, ({ agreement }) => agreement?.share ?? null),
  figure('mean KLD', small, ({ quality }) => quality?.meanKld ?? null),
  figure('KLD error', small, ({ quality }) => quality?.meanKldError ?? null),
  figure('99.9% KLD', small, ({ quality }) => quality?.kld999 ?? null),
  figure('same top share', percent, ({ quality }) => quality?.sameTop ?? null),
  figure(
    'PPL',
    (value) => value.toPrecision(5),
    ({ quality }) => quality?.perplexity ?? null,
  ),
  figure('scored tokens', whole, ({ quality }) => quality?.tokens ?? null),
  figure('needles found', whole, ({ needles }) => needles?.found ?? null),
  figure('needles', whole, ({ needles }) => needles?.results.length ?? null),
  figure('needle tokens', whole, ({ needles }) => needles?.tokens ?? null),
  figure('longest context', whole, ({ longest }) => longest?.nCtx ?? null),
];

export function shortName({ name }: Figure): string {
  return name.replace('bytes', 'MiB').replace('share', '%');
}

/** As the configuration has it, with the length where the columns differ in it. */
export function nameOf({ configuration: { typeK, typeV, nCtx } }: CompareColumn, columns: readonly CompareColumn[]) {
  const types = typeK === typeV ? typeK : `${typeK}/${typeV}`;
  const alike = columns.every(({ configuration }) => configuration.nCtx === nCtx);
  return alike ? types : `${types} at ${nCtx}`;
}

/** As the engine made it, where that differs from what was asked. */
export function effectiveOf({ context }: CompareColumn): string {
  if (!context) return '';
  const { typeK, typeV } = context;
  return typeK.effective === typeV.effective ? typeK.effective : `${typeK.effective}/${typeV.effective}`;
}
