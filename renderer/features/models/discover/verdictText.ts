/** Words for whether a file fits. */
import type { FitGrade } from '../../../../electron/contract/hub';
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
