import { Ban, Check, ChevronsDown, CircleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import type { FitGrade } from '../../../../electron/contract/hub';
import { cx } from '../../../ui/cx';
import type { KnownVerdict } from './verdict';
import { gradeText } from './verdictText';

/** The color is on the sign alone: as text on these grounds it would be too pale. */
const looks: Record<FitGrade, { icon: ReactNode; color: string }> = {
  full: { icon: <Check />, color: 'text-good' },
  partial: { icon: <ChevronsDown />, color: 'text-ink-2' },
  reduced: { icon: <CircleAlert />, color: 'text-warn' },
  none: { icon: <Ban />, color: 'text-bad' },
};

/** One of the four grades, by shape, color and word; or in a whole sentence. */
export function GradeChip({ verdict, sentence }: { verdict: KnownVerdict; sentence?: string }) {
  const { icon, color } = looks[verdict.grade];
  return (
    <span
      data-testid="fit-grade"
      data-grade={verdict.grade}
      data-about={verdict.about || undefined}
      className={cx(
        'inline-flex gap-1 text-xs font-medium text-ink [&_svg]:mt-px [&_svg]:size-3.5',
        !sentence && 'whitespace-nowrap',
      )}
    >
      <span className={color} aria-hidden="true">
        {icon}
      </span>
      {sentence ?? gradeText(verdict)}
    </span>
  );
}
