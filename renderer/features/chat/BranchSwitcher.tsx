import { t } from '@lingui/core/macro';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useActions } from '../../state/useApp';
import { IconButton } from '../../ui/Button';

interface BranchSwitcherProps {
  index: number;
  count: number;
  previousId: string | null;
  nextId: string | null;
}

export function BranchSwitcher({ index, count, previousId, nextId }: BranchSwitcherProps) {
  const { conversation } = useActions();
  if (count < 2) return null;
  return (
    <span className="inline-flex items-center text-xs text-ink-3 tabular-nums" data-testid="branch-switcher">
      <IconButton
        label={t`Previous version`}
        icon={<ChevronLeft />}
        size="small"
        disabled={previousId === null}
        onClick={() => previousId && void conversation.selectBranch(previousId)}
      />
      <span role="status" aria-label={t`Version ${index + 1} of ${count}`}>
        {index + 1}/{count}
      </span>
      <IconButton
        label={t`Next version`}
        icon={<ChevronRight />}
        size="small"
        disabled={nextId === null}
        onClick={() => nextId && void conversation.selectBranch(nextId)}
      />
    </span>
  );
}
