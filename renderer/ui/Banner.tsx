import { t } from '@lingui/core/macro';
import { CircleAlert, Info, TriangleAlert, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from './Button';
import { cx } from './cx';

export type BannerTone = 'info' | 'warn' | 'bad';

interface BannerProps {
  tone: BannerTone;
  title: ReactNode;
  children?: ReactNode;
  actions?: ReactNode;
  onClose?: () => void;
  icon?: ReactNode;
  testId?: string;
  className?: string;
}

const tones: Record<BannerTone, { box: string; icon: ReactNode }> = {
  info: { box: 'border-line bg-sunken', icon: <Info className="text-ink-3" /> },
  warn: { box: 'border-warn/40 bg-warn-soft', icon: <TriangleAlert className="text-warn" /> },
  bad: { box: 'border-bad/40 bg-bad-soft', icon: <CircleAlert className="text-bad" /> },
};

/** Says what happened and what to do. Errors interrupt a screen reader, the rest waits for its turn. */
export function Banner({ tone, title, children, actions, onClose, icon, testId, className }: BannerProps) {
  return (
    <div
      role={tone === 'bad' ? 'alert' : 'status'}
      data-testid={testId}
      data-tone={tone}
      className={cx('flex items-start gap-3 rounded-lg border px-3.5 py-2.5 text-sm', tones[tone].box, className)}
    >
      <span className="mt-0.5 shrink-0 [&_svg]:size-4">{icon ?? tones[tone].icon}</span>
      <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-48 flex-1">
          <p className="font-medium break-words text-ink">{title}</p>
          {children && <div className="mt-0.5 break-words text-ink-2">{children}</div>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {onClose && (
        <IconButton label={t`Dismiss`} icon={<X />} size="small" onClick={onClose} className="-my-0.5 -me-1.5" />
      )}
    </div>
  );
}
