/** Words for whether a file fits. */
import type { MessageDescriptor } from '@lingui/core';
import { msg, t } from '@lingui/core/macro';
import type { FitGrade } from '../../../../electron/contract/hub';
import { paceText, tokensPerSecond } from '../../../../electron/contract/lib/forecast';
import type { MachineFacts } from '../../../../electron/contract/machine';
import { i18n } from '../../../language';
import { formatBytes } from '../../../ui/format';
import type { KnownVerdict } from './verdict';

/** In little room. */
export function gradeText({ grade, gpu }: Pick<KnownVerdict, 'grade' | 'gpu'>): string {
  const words: Record<FitGrade, string> = {
    full: gpu ? t`Fits on the GPU` : t`Fits`,
    partial: gpu ? t`Fits in part on the GPU` : t`Fits beside the GPU`,
    reduced: t`Fits with less`,
    none: t`Does not fit`,
  };
  return words[grade];
}

/** A whole sentence, with the figures. */
export function verdictText(verdict: KnownVerdict): string {
  const { grade, gpu } = verdict;
  const words: Record<FitGrade, string> = {
    full: gpu ? t`All of it fits on the GPU` : t`It fits`,
    partial: gpu
      ? t`A part of it fits on the GPU, the rest beside it: slower`
      : t`It fits beside the GPU, on the processor: slower`,
    reduced: t`Not with this context and these types, but with a shorter one or smaller ones`,
    none: t`It does not fit on this machine`,
  };
  return `${words[grade]}: ${figuresText(verdict)}`;
}

function figuresText({ about, needed, available, where }: KnownVerdict): string {
  const takes = formatBytes(needed);
  const free = formatBytes(available);
  if (about) {
    return available > 0
      ? t`about ${takes} needed, ${free} are free in ${where}.`
      : t`about ${takes} needed, nothing is free in ${where}.`;
  }
  return available > 0
    ? t`${takes} needed, ${free} are free in ${where}.`
    : t`${takes} needed, nothing is free in ${where}.`;
}

/** "At most about 4 words a second: slow"; null: nothing can be told. */
export function speedText({ reads }: Pick<KnownVerdict, 'reads'>, facts: MachineFacts | null): string | null {
  const rate = tokensPerSecond(reads.bytesPerToken, facts, reads.from);
  return rate === null ? null : t`At most ${paceText(rate)}`;
}

const meanings: readonly (readonly [pattern: RegExp, meaning: MessageDescriptor])[] = [
  [/^(UD-)?I?Q1|^TQ/, msg`under 2 bits for a weight: for models that fit no other way; answers suffer much.`],
  [/^(UD-)?I?Q2/, msg`2 to 3 bits for a weight: very small, and answers are clearly worse.`],
  [/^(UD-)?I?Q3/, msg`3 to 4 bits for a weight: small, and answers are noticeably worse.`],
  [
    /^Q4_K_M|^UD-Q4_K_XL/,
    msg`about 5 bits for a weight: less than a third of the original, and answers hardly change.`,
  ],
  [
    /^Q4_0|^Q4_1/,
    msg`4 to 5 bits for a weight in the oldest, simplest way: as small as Q4_K_M, answers a little worse.`,
  ],
  [/^MXFP4/, msg`about 4 bits for most weights: for models that were trained this way nothing is lost.`],
  [/^(UD-)?I?Q4/, msg`4 to 5 bits for a weight: small, and answers change little.`],
  [/^(UD-)?Q5/, msg`5 to 6 bits for a weight: larger than Q4_K_M, and a little closer to the original.`],
  [/^(UD-)?Q6/, msg`about 7 bits for a weight: answers are close to those of the original.`],
  [/^(UD-)?Q8/, msg`about 8 bits for a weight: half of the original, and its answers can hardly be told from it.`],
  [/^(BF|F)16$/, msg`16 bits for a weight, as most models are published: the largest usual file, nothing is lost.`],
  [/^F32$/, msg`32 bits for a weight: twice F16, and no better for chatting.`],
];

/** What the name of a quantization means, as the end of a sentence; null: not known here. */
export function quantMeaning(quant: string | null): string | null {
  const meaning = quant && meanings.find(([pattern]) => pattern.test(quant))?.[1];
  return meaning ? i18n._(meaning) : null;
}
