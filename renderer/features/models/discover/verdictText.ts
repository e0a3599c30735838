/** Words for whether a file fits. */
import type { FitGrade } from '../../../../electron/contract/hub';
import { paceText, tokensPerSecond } from '../../../../electron/contract/lib/forecast';
import type { MachineFacts } from '../../../../electron/contract/machine';
import { formatBytes } from '../../../ui/format';
import type { KnownVerdict } from './verdict';

/** In little room. */
export function gradeText({ grade, gpu }: Pick<KnownVerdict, 'grade' | 'gpu'>): string {
  const words: Record<FitGrade, string> = {
    full: gpu ? 'Fits on the GPU' : 'Fits',
    partial: gpu ? 'Fits in part on the GPU' : 'Fits beside the GPU',
    reduced: 'Fits with less',
    none: 'Does not fit',
  };
  return words[grade];
}

/** A whole sentence, with the figures. */
export function verdictText(verdict: KnownVerdict): string {
  const { grade, gpu, about, needed, available, where } = verdict;
  const free = available > 0 ? `${formatBytes(available)} are free` : 'nothing is free';
  const figures = `${about ? 'about ' : ''}${formatBytes(needed)} needed, ${free} in ${where}`;
  const words: Record<FitGrade, string> = {
    full: gpu ? 'All of it fits on the GPU' : 'It fits',
    partial: gpu
      ? 'A part of it fits on the GPU, the rest beside it: slower'
      : 'It fits beside the GPU, on the processor: slower',
    reduced: 'Not with this context and these types, but with a shorter one or smaller ones',
    none: 'It does not fit on this machine',
  };
  return `${words[grade]}: ${figures}.`;
}

/** "At most about 4 words a second: slow"; null: nothing can be told. */
export function speedText({ reads }: Pick<KnownVerdict, 'reads'>, facts: MachineFacts | null): string | null {
  const rate = tokensPerSecond(reads.bytesPerToken, facts, reads.from);
  return rate === null ? null : `At most ${paceText(rate)}`;
}

const meanings: readonly (readonly [pattern: RegExp, meaning: string])[] = [
  [/^(UD-)?I?Q1|^TQ/, 'under 2 bits for a weight: for models that fit no other way; answers suffer much.'],
  [/^(UD-)?I?Q2/, '2 to 3 bits for a weight: very small, and answers are clearly worse.'],
  [/^(UD-)?I?Q3/, '3 to 4 bits for a weight: small, and answers are noticeably worse.'],
  [/^Q4_K_M|^UD-Q4_K_XL/, 'about 5 bits for a weight: less than a third of the original, and answers hardly change.'],
  [/^Q4_0|^Q4_1/, '4 to 5 bits for a weight in the oldest, simplest way: as small as Q4_K_M, answers a little worse.'],
  [/^MXFP4/, 'about 4 bits for most weights: for models that were trained this way nothing is lost.'],
  [/^(UD-)?I?Q4/, '4 to 5 bits for a weight: small, and answers change little.'],
  [/^(UD-)?Q5/, '5 to 6 bits for a weight: larger than Q4_K_M, and a little closer to the original.'],
  [/^(UD-)?Q6/, 'about 7 bits for a weight: answers are close to those of the original.'],
  [/^(UD-)?Q8/, 'about 8 bits for a weight: half of the original, and its answers can hardly be told from it.'],
  [/^(BF|F)16$/, '16 bits for a weight, as most models are published: the largest usual file, nothing is lost.'],
  [/^F32$/, '32 bits for a weight: twice F16, and no better for chatting.'],
];

/** What the name of a quantization means, as the end of a sentence; null: not known here. */
export function quantMeaning(quant: string | null): string | null {
  return (quant && meanings.find(([pattern]) => pattern.test(quant))?.[1]) || null;
}
