import { Ban, Check, ChevronsDown, CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { FitGrade } from '../../../../electron/shared/hub';
import { cx } from '../../../ui/cx';
import type { KnownVerdict } from './verdict';
import { gradeText } from './verdictText';

const looks: Record<FitGrade, { icon: ReactNode; text: string }> = {
  full: { icon: <Check />, text: 'text-good' },
  partial: { icon: <ChevronsDown />, text: 'text-ink-2' },
  reduced: { icon: <CircleAlert />, text: 'text-warn' },
  none: { icon: <Ban />, text: 'text-bad' },
};

/** One of the four grades, by shape, colour and word; or in a whole sentence. */
export function GradeChip({ verdict, sentence }: { verdict: KnownVerdict; sentence?: string }) {
  const { icon, text } = looks[verdict.grade];
  return (
    <span
      data-testid="fit-grade"
      data-grade={verdict.grade}
      data-about={verdict.about || undefined}
      className={cx(
        'inline-flex gap-1 text-xs font-medium [&_svg]:mt-px [&_svg]:size-3.5',
        !sentence && 'whitespace-nowrap',
        text,
      )}
    >
      <span aria-hidden="true">{icon}</span>
      {sentence ?? gradeText(verdict)}
    </span>
  );
}
