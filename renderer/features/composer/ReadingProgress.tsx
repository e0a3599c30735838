import type { DocumentJob } from '../../../electron/contract/documents';
import { formatCount } from '../../ui/format';
import { Progress } from '../../ui/Progress';

interface ReadingProgressProps {
  name: string;
  /** share that has been handed over; null: all */
  sent: number | null;
  /** null: not known yet */
  job: DocumentJob | null;
}

export function ReadingProgress({ name, sent, job }: ReadingProgressProps) {
  const text = readingText(sent, job);
  return (
    <div className="pr-1">
      <p className="text-ink-3 tabular-nums">{text}</p>
      {job?.state === 'reading' && <Progress label={`Reading ${name}`} share={job.progress} />}
      {!job && sent !== null && <Progress label={`Sending ${name}`} share={sent} />}
    </div>
  );
}

function readingText(sent: number | null, job: DocumentJob | null): string {
  if (!job) return sent !== null && sent < 1 ? 'Sending' : 'Waiting';
  if (job.state !== 'reading') return 'Waiting for the one before';
  if (!job.pages) return 'Reading';
  return `Reading ${formatCount(job.pages.done)} of ${formatCount(job.pages.all)} pages`;
}
